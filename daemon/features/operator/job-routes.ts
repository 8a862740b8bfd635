import type { rulingsApi } from '../../../src/api/sections/admin-jobs.ts'
import { invalidField, notFound } from '../../../src/core/error.ts'
import { DEFAULT_PAGE } from '../../../src/core/limits.ts'
import { formatAmount } from '../../../src/core/money.ts'
import type { FreeHandler, FreeHandlers } from '../../endpoint/handler.ts'
import { audit } from '../../events/admin-log.ts'
import { commit } from '../../store/draw.ts'
import { sendRefunds } from '../jobs/acts.ts'
import { lockJob } from '../jobs/apply.ts'
import type { JobRow } from '../jobs/rows.ts'
import { ruleOn, withdrawInEmergency } from '../jobs/ruling.ts'
import { aboutJob, isLate, jobSummary, jobView, placeOf } from '../jobs/view.ts'
import { jobBundle } from './job-bundle.ts'
import { jobList } from './party-facts.ts'
import { partyPage } from './party-page.ts'

const listAllJobs: FreeHandler<typeof rulingsApi.listAllJobs> = async ({ query }, { ctx, now }) => {
  const { limit = DEFAULT_PAGE, offset = 0 } = query
  const { rows, ...found } = await partyPage(ctx.store, jobList(ctx.store, now), { ...query, limit, offset, now })
  const shown = await ctx.store.read((t) =>
    Promise.all(
      rows.map(async (job) => ({ ...jobSummary(job), late: isLate(job, now), about: await aboutJob(t, job) })),
    ),
  )
  return { jobs: shown, ...found, limit, offset }
}

/** What was wanted, said and made belongs to the parties: that the operator read it is written down before it goes out. */
const getJobBundle: FreeHandler<typeof rulingsApi.getJobBundle> = async ({ params }, call) => {
  const { ctx, now } = call
  const bundle = await jobBundle(ctx, params.id, now)
  if (!bundle) throw notFound('The job')
  const detail = { messages: bundle.thread.messages?.length ?? 0, files: bundle.files.length }
  const subject = { kind: 'job', id: bundle.job.id }
  await commit(ctx, (t, draw) => audit(t, draw, { act: 'job.read', subject, changed: false, detail, by: call }))
  return bundle
}

const resolveJob: FreeHandler<typeof rulingsApi.resolveJob> = async ({ params, body }, call) => {
  const { ctx, now } = call
  const { outcome, buyer_amount: toBuyer, reason } = body
  if ((outcome === 'split') !== (toBuyer !== undefined)) {
    throw invalidField('buyer_amount', outcome === 'split' ? 'is needed for a split' : 'is for a split only')
  }
  const job = await commit(ctx, async (t, draw) => {
    const locked = await lockJob(t, params.id)
    if (!locked) throw notFound('The job')
    if (toBuyer !== undefined && (toBuyer < 0n || toBuyer > locked.amount)) {
      throw invalidField('buyer_amount', `must be from 0 to ${formatAmount(locked.amount)}, what is held`)
    }
    const ruled = await ruleOn(t, draw, { job: locked, decision: { outcome, toBuyer, reason, by: 'admin', at: now } })
    const detail = { outcome, ...(toBuyer === undefined ? {} : { buyer_amount: formatAmount(toBuyer) }) }
    await audit(t, draw, { act: 'job.resolve', subject: subjectOf(locked), reason, changed: true, detail, by: call })
    return ruled
  })
  sendRefunds(ctx, job)
  return jobView(placeOf(ctx), job)
}

const withdrawJob: FreeHandler<typeof rulingsApi.withdrawJob> = async ({ params, body: { reason } }, call) => {
  const { ctx, now } = call
  const job = await commit(ctx, async (t, draw) => {
    const locked = await lockJob(t, params.id)
    if (!locked) throw notFound('The job')
    const withdrawn = await withdrawInEmergency(t, draw, { job: locked, reason, at: now })
    const detail = { amount: formatAmount(locked.amount) }
    await audit(t, draw, { act: 'job.withdraw', subject: subjectOf(locked), reason, changed: true, detail, by: call })
    return withdrawn
  })
  sendRefunds(ctx, job)
  return jobView(placeOf(ctx), job)
}

function subjectOf(job: JobRow) {
  return { kind: 'job', id: job.id }
}

export const rulingRoutes: FreeHandlers<typeof rulingsApi> = { listAllJobs, getJobBundle, resolveJob, withdrawJob }
