import { isDeepStrictEqual } from 'node:util'
import { dueWork } from '../../crons/due-work.ts'
import { commit } from '../../store/draw.ts'
import type { ReadTx, Tx } from '../../store/port.ts'
import { type JobRow, jobs, uncountedJobs } from '../jobs/rows.ts'
import { messages } from '../threads/rows.ts'
import { enterEvidence } from './enter-evidence.ts'
import { openFeedback } from './feedback.ts'
import { type Counted, countedJobs, standings } from './rows.ts'
import { factsOf, minus, NO_JOBS, plus, sumsOf } from './score.ts'
import { lockStanding, subjectsOf } from './standings.ts'

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
