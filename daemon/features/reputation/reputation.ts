import { isDeepStrictEqual } from 'node:util'
import { checksumAddress, type Wallet } from '../../../src/core/hex.ts'
import { MINUTE_MS } from '../../../src/core/time.ts'
import type { ServiceType } from '../../../src/model/service.ts'
import { defineCron } from '../../crons/cron.ts'
import { type DueWork, dueWork, earliestDue, runDueWork } from '../../crons/due-work.ts'
import { everyQuarterHour } from '../../crons/schedule.ts'
import { pageCache } from '../../endpoint/page-cache.ts'
import { type Digest, digestOf } from '../../kernel/canonical.ts'
import { commit } from '../../store/draw.ts'
import type { ReadTx, Tx } from '../../store/port.ts'
import { type JobRow, jobs, uncountedJobs } from '../jobs/rows.ts'
import { messages } from '../threads/rows.ts'
import { enterEvidence, evidenceWork, feedbackId } from './enter-evidence.ts'
import { openPublication, publishWork } from './publish.ts'
import { type Counted, countedJobs, documents, identityLinks, type Sums, standings } from './rows.ts'
import { factsOf, minus, NO_JOBS, plus, sumsOf } from './score.ts'
import { lockStanding, subjectsOf } from './standings.ts'

/** Primary ERC-8004 tags that souk writes: the score of a job, and its success. */
export const feedbackTags = ['starred', 'successRate'] as const

/** The value is `value / 10 ** decimals`, from 0 to 100. */
type TagValue = { readonly tag: (typeof feedbackTags)[number]; readonly value: number; readonly decimals: number }

const FULL = 100

function tagValues({ score, successful }: Sums): readonly [starred: TagValue, successRate: TagValue] {
  return [
    { tag: 'starred', value: score, decimals: 1 },
    { tag: 'successRate', value: successful * FULL, decimals: 0 },
  ]
}

type Feedback = {
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

type FeedbackSource = { readonly baseUrl: string; readonly chainId: number; readonly client: Wallet }

/**
 * Writes the feedback file of a job that now counts for reputation, and queues the file's tags for the chain. Does
 * nothing if the provider has no linked identity. The file never changes.
 */
async function openFeedback(t: Tx, { job, sums, at }: Counted, place: FeedbackSource): Promise<void> {
  const link = await t.table(identityLinks).get(job.provider_id)
  if (!link) return
  const { baseUrl, chainId, client } = place
  const { text, hash } = feedbackFile({
    agentRegistry: link.agent_registry,
    agentId: link.agent_id,
    chainId,
    client,
    serviceType: job.service_type,
    sums,
    createdAt: at,
  })
  const isNew = await t.table(documents).insertIfAbsent({ id: feedbackId(job.id), kind: 'feedback', text, hash, at })
  if (!isNew) return
  const uri = `${baseUrl}/v1/reputation/feedback/${job.id}.json`
  for (const { tag, value, decimals } of tagValues(sums)) {
    const said = { tag1: tag, tag2: job.service_type, value, value_decimals: decimals }
    const call = { kind: 'feedback', agent_id: link.agent_id, client, ...said, endpoint: '', uri, hash } as const
    await openPublication(t, { id: `feedback:${job.id}:${tag}`, subjectId: job.provider_id, call, at })
  }
}

/** Maximum messages searched for the provider's first reply. */
const MAX_LOOKED_AT = 1_000

/**
 * Counts jobs that ended or changed. One transaction counts a job and dequeues it, so each is counted once. The new
 * count of a changed job replaces its earlier contribution.
 */
export const countWork = dueWork({
  name: 'reputation.count',
  collection: uncountedJobs,
  index: 'due',
  dueAt: (row) => row.at,
  run(ctx, id, now) {
    const { chain } = ctx
    const place = { baseUrl: ctx.baseUrl(), chainId: chain.chainId, client: chain.reputationRegistry.client }
    return commit(ctx, async (t) => {
      if (!(await t.table(uncountedJobs).delete(id))) return
      const job = await t.table(jobs).get(id)
      const facts = job && factsOf(job, await firstWordAt(t, job))
      if (!facts) return
      const known = await t.table(countedJobs).getForUpdate(id)
      if (isDeepStrictEqual(known?.facts, facts)) return
      const counted = { job, facts, sums: sumsOf(facts), known, at: now }
      await addToStandings(t, counted)
      await enterEvidence(t, counted)
      if (!known) await openFeedback(t, counted, place)
    })
  },
})

async function addToStandings(t: Tx, { job, sums, known, at }: Counted): Promise<void> {
  const delta = known ? minus(sums, known.sums) : sums
  for (const subject of subjectsOf({ ...job, id: job.service_id })) {
    const row = await lockStanding(t, subject, NO_JOBS)
    await t.table(standings).put({ ...row, sums: plus(row.sums, delta), updated_at: at })
  }
}

/** Time of the provider's first message or report after the dispatch; null if there is none. */
async function firstWordAt(t: ReadTx, { thread_id, dispatched_at, created_at }: JobRow): Promise<number | null> {
  const since = dispatched_at ?? created_at
  const query = { limit: MAX_LOOKED_AT, order: 'asc' } as const
  const { rows } = await t.table(messages).page('thread', [thread_id], query)
  return rows.find((said) => said.author_role === 'provider' && said.created_at >= since)?.created_at ?? null
}

/** Each step produces work for the next one. */
const reputationWork: readonly DueWork[] = [countWork, evidenceWork, publishWork]

/** Counts jobs for reputation, writes evidence and publishes it (decisions §11). */
export const reputation = defineCron({
  name: 'reputation',
  schedule: everyQuarterHour,
  deadlineMs: 5 * MINUTE_MS,
  inHealth: true,
  async run(call) {
    try {
      await runDueWork(reputationWork, call)
    } finally {
      // Drops cached pages, because they show verdicts and the expiry of verdicts.
      pageCache.of(call.ctx).drop()
    }
    return undefined
  },
  nextDue: (ctx, from) => earliestDue(reputationWork, ctx, from),
})
