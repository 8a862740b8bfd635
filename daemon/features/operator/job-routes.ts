import { hash } from 'node:crypto'
import canonicalize from 'canonicalize'
import type { z } from 'zod'
import type { rulingsApi } from '../../../src/api/sections/admin-jobs.ts'
import { AppError, existing, invalidField } from '../../../src/core/error.ts'
import type { Hex } from '../../../src/core/hex.ts'
import { formatAmount } from '../../../src/core/money.ts'
import { compact } from '../../../src/core/record.ts'
import type { Validation } from '../../../src/schema/compile.ts'
import type { FreeHandlers } from '../../endpoint/handler.ts'
import { schemas } from '../../engines/schemas.ts'
import { audit, auditRead } from '../../events/event-log.ts'
import type { Context } from '../../kernel/context.ts'
import { transition } from '../../kernel/machine.ts'
import { commit } from '../../store/draw.ts'
import { everyRow } from '../../store/each-page.ts'
import type { ReadTx } from '../../store/port.ts'
import { contractMirror } from '../escrow/contract.ts'
import { noteWithdrawn } from '../escrow/observe.ts'
import { sendRefunds } from '../jobs/acts.ts'
import { lockJob } from '../jobs/apply.ts'
import { refOf } from '../jobs/escrow.ts'
import { ruleOn, withdrawInEmergency } from '../jobs/escrow-monitor.ts'
import { jobMachine } from '../jobs/machine.ts'
import { type Deliverables, jobs } from '../jobs/rows.ts'
import { aboutJob, isLate, jobSummary, jobView, placeOf } from '../jobs/view.ts'
import { ledger } from '../ledger/rows.ts'
import { services } from '../listings/rows.ts'
import { type PaymentRow, payments } from '../payments/rows.ts'
import { compliance } from '../sanctions/sanctions.ts'
import { attachmentView } from '../threads/files.ts'
import { messageView, threadView } from '../threads/messages.ts'
import { messages, threadFiles, threads } from '../threads/rows.ts'
import { jobList } from './party-facts.ts'
import { partyPage } from './party-page.ts'

const PAGE_ROWS = 1_000
const OPERATOR = { who: 'operator' }

type Bundle = z.output<typeof rulingsApi.getJobBundle.reply.schema>
type Report = NonNullable<Bundle['schema_report']['input']>

/** All stored data of one job and its conversation, from one read. */
type Evidence = NonNullable<Awaited<ReturnType<typeof collect>>>

/** Evidence for a ruling on a job, as one document; undefined if the job does not exist. */
async function jobBundle(ctx: Context, id: string, now: number): Promise<Bundle | undefined> {
  const evidence = await ctx.store.read((t) => collect(t, id))
  if (!evidence) return undefined
  const { job, about, service, thread, said, files, payment, postings } = evidence
  const view = await jobView(placeOf(ctx), job)
  const { input = {}, deliverables = [] } = view
  return {
    generated_at: now,
    job: { ...view, about },
    schema_report: {
      input: service ? reportOf(await schemas.of(ctx).checkInput(service.input_schema, input, OPERATOR)) : null,
      deliverables: deliverables.length === 0 ? null : await deliveryReport(ctx, evidence, deliverables),
    },
    deliverable_hashes: deliverables.map(hashOf),
    thread: { ...threadView(thread, now), messages: said.map(messageView) },
    files: files.map((row) => attachmentView(row, ctx.baseUrl())),
    payment: payment ? paymentFacts(payment) : null,
    postings: postings.map(({ id: transaction_id, kind, at, lines }) => ({
      transaction_id,
      kind,
      at,
      lines: lines.map(({ account, delta }) => ({ account, amount: delta })),
    })),
  }
}

async function collect(t: ReadTx, id: string) {
  const job = await t.table(jobs).get(id)
  if (!job) return undefined
  const thread = await t.table(threads).get(job.thread_id)
  if (!thread) throw new Error(`${id} has no thread`)
  return {
    job,
    about: await aboutJob(t, job),
    service: await t.table(services).get(job.service_id),
    thread,
    said: await everyRow(t.table(messages), { index: 'thread', prefix: [thread.id], limit: PAGE_ROWS, order: 'asc' }),
    files: await everyRow(t.table(threadFiles), {
      index: 'thread',
      prefix: [thread.id],
      limit: PAGE_ROWS,
      order: 'asc',
    }),
    payment: await t.table(payments).get(job.payment_id),
    postings: await everyRow(t.table(ledger), { index: 'job', prefix: [id], limit: PAGE_ROWS, order: 'asc' }),
  }
}

function reportOf(checked: Validation): Report {
  return checked.ok ? { ok: true, details: [] } : { ok: false, details: [...checked.details] }
}

/** Checks a delivery against the schema stored at the purchase, or else against the listing's schema. */
async function deliveryReport(
  ctx: Context,
  { job, service }: Evidence,
  deliverables: readonly unknown[],
): Promise<Report | null> {
  const schema = job.deliverable_schema ?? service?.deliverable_schema
  return schema ? reportOf(await schemas.of(ctx).checkDeliverable(schema, { value: deliverables }, OPERATOR)) : null
}

function hashOf(item: Deliverables[number], index: number) {
  const bytes = Buffer.from(canonicalize(item) ?? 'null')
  return { index, bytes: bytes.length, sha256: hash('sha256', bytes) }
}

function paymentFacts(payment: PaymentRow): NonNullable<Bundle['payment']> {
  const { receipt_id, endpoint, method, state, price, payer, transaction, created_at } = payment
  return { receipt_id, endpoint, method, state, amount: price, payer, transaction, created_at }
}

export const rulingRoutes: FreeHandlers<typeof rulingsApi> = {
  listAllJobs: async ({ query }, { ctx, now }) => {
    const { rows, ...found } = await partyPage(ctx.store, jobList(ctx.store, now), { ...query, now })
    const shown = await ctx.store.read((t) =>
      Promise.all(
        rows.map(async (job) => ({ ...jobSummary(job), late: isLate(job, now), about: await aboutJob(t, job) })),
      ),
    )
    return { jobs: shown, ...found }
  },

  /** Logs an operator's access to a job's contents before sending them. */
  getJobBundle: async ({ params }, call) => {
    const { ctx, now } = call
    const bundle = existing(await jobBundle(ctx, params.id, now), 'The job')
    const detail = { messages: bundle.thread.messages?.length ?? 0, files: bundle.files.length }
    const subject = { kind: 'job', id: bundle.job.id }
    await commit(ctx, (t, draw) => auditRead(t, draw, { act: 'job.read', subject, detail, by: call }))
    return bundle
  },

  resolveJob: async ({ params, body }, call) => {
    const { ctx, now } = call
    const { outcome, buyer_amount: toBuyer, reason } = body
    if ((outcome === 'split') !== (toBuyer !== undefined)) {
      throw invalidField('buyer_amount', outcome === 'split' ? 'required for a split' : 'only allowed for a split')
    }
    const job = await commit(ctx, async (t, draw) => {
      const locked = existing(await lockJob(t, params.id), 'The job')
      if (toBuyer !== undefined && (toBuyer < 0n || toBuyer > locked.amount)) {
        throw invalidField('buyer_amount', `must be from 0 to ${formatAmount(locked.amount)} (the held amount)`)
      }
      const ruled = await ruleOn(t, draw, { job: locked, decision: { outcome, toBuyer, reason, by: 'admin', at: now } })
      const detail = { outcome, ...(toBuyer === undefined ? {} : { buyer_amount: formatAmount(toBuyer) }) }
      await audit(t, draw, { act: 'job.resolve', subject: refOf(locked), reason, changed: true, detail, by: call })
      return ruled
    })
    sendRefunds(ctx, job)
    return jobView(placeOf(ctx), job)
  },

  withdrawJob: async ({ params, body: { reason } }, call) => {
    const { ctx, now } = call
    const paid = await paidByContract(ctx, params.id)
    const job = await commit(ctx, async (t, draw) => {
      const locked = existing(await lockJob(t, params.id), 'The job')
      const isPaid = paid !== undefined
      // Whether the contract's mirror has already recorded the contract's payment.
      const isNoted = isPaid && locked.escrow_status !== 'held'
      if (isPaid && !isNoted) await noteWithdrawn(t, locked.id, paid.transaction)
      const withdrawn = isNoted ? locked : await withdrawInEmergency(t, draw, { job: locked, reason, at: now, isPaid })
      const detail = { amount: formatAmount(locked.amount), ...compact({ transaction: paid?.transaction }) }
      await audit(t, draw, { act: 'job.withdraw', subject: refOf(locked), reason, changed: true, detail, by: call })
      return withdrawn
    })
    sendRefunds(ctx, job)
    return jobView(placeOf(ctx), job)
  },
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
