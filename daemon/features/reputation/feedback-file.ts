import { checksumAddress, type Wallet } from '../../../src/core/hex.ts'
import type { ServiceType } from '../../../src/model/service.ts'
import { type Digest, digestOf } from '../../kernel/canonical.ts'
import type { Sums } from './rows.ts'

/** Primary ERC-8004 tags that souk writes: the score of a job, and its success. */
export const feedbackTags = ['starred', 'successRate'] as const
export type FeedbackTag = (typeof feedbackTags)[number]

/** The value is `value / 10 ** decimals`, from 0 to 100. */
export type TagValue = { readonly tag: FeedbackTag; readonly value: number; readonly decimals: number }

const FULL = 100

export function tagValues({ score, successful }: Sums): readonly [starred: TagValue, successRate: TagValue] {
  return [
    { tag: 'starred', value: score, decimals: 1 },
    { tag: 'successRate', value: successful * FULL, decimals: 0 },
  ]
}

export type Feedback = {
  readonly agentRegistry: string
  /** Decimal. */
  readonly agentId: string
  readonly chainId: number
  /** Wallet that gives the feedback. */
  readonly client: Wallet
  readonly serviceType: ServiceType
  readonly sums: Sums
  /** Business time, epoch milliseconds. */
  readonly createdAt: number
}

/**
 * The ERC-8004 feedback file of a job. Says how the job ended, without any content. The second tag is under `also`,
 * because both chain calls refer to this file.
 */
export function feedbackFile(feedback: Feedback): Digest {
  const { agentRegistry, agentId, chainId, client, serviceType, sums, createdAt } = feedback
  const [first, ...others] = tagValues(sums).map(({ tag, value, decimals }) => ({
    tag1: tag,
    tag2: serviceType,
    value,
    valueDecimals: decimals,
  }))
  return digestOf({
    agentRegistry,
    agentId: numberOf(agentId),
    clientAddress: `eip155:${chainId}:${checksumAddress(client)}`,
    createdAt: new Date(createdAt).toISOString(),
    ...first,
    also: others,
  })
}

/** ERC-8004 requires a number. An id that JSON would round stays text. */
function numberOf(agentId: string): number | string {
  const number = Number(agentId)
  return Number.isSafeInteger(number) ? number : agentId
}
