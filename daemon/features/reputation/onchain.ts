import type { Answer } from '../../../src/api/endpoint/define.ts'
import type { api } from '../../../src/api/index.ts'
import type { Context } from '../../kernel/context.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import { subjectHash } from './evidence.ts'
import { feedbackTags } from './feedback-file.ts'
import { identityLinks } from './rows.ts'

type Onchain = Answer<typeof api.getOnchainReputation>

/** Anchors of one answer. */
const MAX_ANCHORS = 20

/**
 * What the chain says of a participant now: summaries of the feedback that this marketplace gave, for each of its
 * tags over all and by service type, and the anchors of its verdicts.
 */
export async function readOnchain(ctx: Context, subject: ParticipantRow): Promise<Onchain> {
  const link = await ctx.store.table(identityLinks).get(subject.id)
  const anchors = await ctx.chain.verdictAnchors.latest(subjectHash(subject.id), MAX_ANCHORS)
  return {
    wallet: subject.wallet,
    agent_registry: link?.agent_registry ?? null,
    agent_id: link?.agent_id ?? null,
    summaries: link ? await summaries(ctx, BigInt(link.agent_id)) : feedbackTags.map(emptySummary),
    anchors: anchors.map(({ at, ...anchor }) => ({ ...anchor, anchored_at: at })),
  }
}

async function summaries({ chain }: Context, agentId: bigint): Promise<Onchain['summaries']> {
  const { reputationRegistry: feedback } = chain
  const { client } = feedback
  const found = []
  for (const tag1 of feedbackTags) {
    const types = await feedback.secondTags({ agentId, client, tag1 })
    for (const tag2 of ['', ...types]) {
      const summary = await feedback.getSummary({ agentId, clients: [client], tag1, tag2 })
      const { count, value, valueDecimals } = summary
      found.push({ tag1, tag2, count: Number(count), value: Number(value), value_decimals: valueDecimals })
    }
  }
  return found
}

function emptySummary(tag1: string): Onchain['summaries'][number] {
  return { tag1, tag2: '', count: 0, value: 0, value_decimals: 0 }
}
