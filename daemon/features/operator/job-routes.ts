import type { rulingsApi } from '../../../src/api/sections/admin-jobs.ts'
import { AppError, invalidField, notFound } from '../../../src/core/error.ts'
import type { Hex } from '../../../src/core/hex.ts'
import { DEFAULT_PAGE } from '../../../src/core/limits.ts'
import { formatAmount } from '../../../src/core/money.ts'
import { compact } from '../../../src/core/record.ts'
import type { FreeHandler, FreeHandlers } from '../../endpoint/handler.ts'
import { audit, auditRead } from '../../events/admin-log.ts'
import type { Context } from '../../kernel/context.ts'
import { transition } from '../../kernel/machine.ts'
import { commit } from '../../store/draw.ts'
import { contractMirror } from '../escrow/contract.ts'
import { noteWithdrawn } from '../escrow/observe.ts'
import { sendRefunds } from '../jobs/acts.ts'
import { lockJob } from '../jobs/apply.ts'
import { jobMachine } from '../jobs/machine.ts'
import { type JobRow, jobs } from '../jobs/rows.ts'
import { ruleOn, withdrawInEmergency } from '../jobs/ruling.ts'
import { aboutJob, isLate, jobSummary, jobView, placeOf } from '../jobs/view.ts'
import { compliance } from '../sanctions/sanctions.ts'
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

/** Logs an operator's access to a job's contents before sending them. */
const getJobBundle: FreeHandler<typeof rulingsApi.getJobBundle> = async ({ params }, call) => {
  const { ctx, now } = call
  const bundle = await jobBundle(ctx, params.id, now)
  if (!bundle) throw notFound('The job')
  const detail = { messages: bundle.thread.messages?.length ?? 0, files: bundle.files.length }
  const subject = { kind: 'job', id: bundle.job.id }
  await commit(ctx, (t, draw) => auditRead(t, draw, { act: 'job.read', subject, detail, by: call }))
  return bundle
}

const resolveJob: FreeHandler<typeof rulingsApi.resolveJob> = async ({ params, body }, call) => {
  const { ctx, now } = call
  const { outcome, buyer_amount: toBuyer, reason } = body
  if ((outcome === 'split') !== (toBuyer !== undefined)) {
    throw invalidField('buyer_amount', outcome === 'split' ? 'required for a split' : 'only allowed for a split')
  }
  const job = await commit(ctx, async (t, draw) => {
    const locked = await lockJob(t, params.id)
    if (!locked) throw notFound('The job')
    if (toBuyer !== undefined && (toBuyer < 0n || toBuyer > locked.amount)) {
      throw invalidField('buyer_amount', `must be from 0 to ${formatAmount(locked.amount)} (the held amount)`)
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
  const paid = await paidByContract(ctx, params.id)
  const job = await commit(ctx, async (t, draw) => {
    const locked = await lockJob(t, params.id)
    if (!locked) throw notFound('The job')
    const isPaid = paid !== undefined
    // Whether the contract's mirror has already recorded the contract's payment.
    const isNoted = isPaid && locked.escrow_status !== 'held'
    if (isPaid && !isNoted) await noteWithdrawn(t, locked.id, paid.transaction)
    const withdrawn = isNoted ? locked : await withdrawInEmergency(t, draw, { job: locked, reason, at: now, isPaid })
    const detail = { amount: formatAmount(locked.amount), ...compact({ transaction: paid?.transaction }) }
    await audit(t, draw, { act: 'job.withdraw', subject: subjectOf(locked), reason, changed: true, detail, by: call })
    return withdrawn
  })
  sendRefunds(ctx, job)
  return jobView(placeOf(ctx), job)
}

const CHAIN_RETRY_SECONDS = 5

/**
 * Makes the escrow contract pay a job's buyer. Undefined for balance payments, sanctioned wallets and jobs without
 * money in the contract. The caller refunds these in the books.
 * @throws AppError 409 when the job is over, 503 when the payout failed or its outcome is unknown.
 */
async function paidByContract(ctx: Context, id: string): Promise<{ transaction?: Hex } | undefined> {
  const mirror = contractMirror.of(ctx)
  const job = mirror && (await ctx.store.table(jobs).get(id))
  if (job?.escrow_status !== 'held' || job.payment_method !== 'x402') return undefined
  transition(jobMachine, { event: 'withdraw', from: job.status, by: 'admin' })
  if (await compliance.of(ctx).isSanctioned(job.buyer_wallet)) return undefined
  const result = await mirror?.withdraw(id)
  if (result === undefined || result.ok) return result
  throw new AppError('unavailable', `The escrow contract did not pay the buyer: ${result.reason ?? result.failure}.`, {
    retryAfter: CHAIN_RETRY_SECONDS,
  })
}

function subjectOf(job: JobRow) {
  return { kind: 'job', id: job.id }
}

export const rulingRoutes: FreeHandlers<typeof rulingsApi> = { listAllJobs, getJobBundle, resolveJob, withdrawJob }
