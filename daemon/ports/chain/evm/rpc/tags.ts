import type { RpcAnswer } from './endpoint.ts'
import { type Head, headIn } from './values.ts'

export type BlockTag = 'latest' | 'safe' | 'finalized'

/** What counts as safe and as final at a node that does not know these words: blocks below the head. */
const DEPTHS: Readonly<Record<BlockTag, number>> = { latest: 0, safe: 150, finalized: 900 }
/**
 * What nodes answer where they do not know a tag: -32602 invalid params, -39001 unknown block, -32000 in older ones.
 * Any other fault says nothing about the chain.
 */
const UNKNOWN_TAG_CODES: ReadonlySet<number> = new Set([-32_602, -39_001, -32_000])

/** The blocks that a node calls safe and final. */
export type Tags = {
  /** The block of a tag by its answer; its number alone where the node does not know the tag; undefined where nothing is known now. */
  read(tag: BlockTag, answer: RpcAnswer | undefined, head: Head): Head | number | undefined
}

/** Remembers which tags were told: who knew one once and does not now is out of order, and depth is no substitute. */
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
