import type { RpcAnswer } from './endpoint.ts'
import { type Head, headIn } from './values.ts'

export type BlockTag = 'latest' | 'safe' | 'finalized'

/** Depth below the head that counts as safe and final at nodes without these tags. */
const DEPTHS: Readonly<Record<BlockTag, number>> = { latest: 0, safe: 150, finalized: 900 }
/** Errors for an unknown tag: -32602 invalid params, -39001 unknown block, -32000 in older nodes. */
const UNKNOWN_TAG_CODES: ReadonlySet<number> = new Set([-32_602, -39_001, -32_000])

export type Tags = {
  /** Block of a tag. If the node does not know the tag: a block number below `head`. Undefined for a bad answer. */
  read(tag: BlockTag, answer: RpcAnswer | undefined, head: Head): Head | number | undefined
}

/** Remembers which block tags the nodes know. For an unknown tag, uses a fixed distance to the newest block. */
export function openTags(): Tags {
  const told = new Set<BlockTag>()
  return {
    read(tag, answer, head) {
      if (answer?.ok && answer.result) {
        told.add(tag)
        return headIn(answer.result)
      }
      if (answer === undefined || told.has(tag) || !(answer.ok || UNKNOWN_TAG_CODES.has(answer.code))) return undefined
      return Math.max(0, head.number - DEPTHS[tag])
    },
  }
}
