import { hash } from 'node:crypto'
import canonicalize from 'canonicalize'
import type { z } from 'zod'
import type { rulingsApi } from '../../../src/api/sections/admin-jobs.ts'
import type { Validation } from '../../../src/schema/compile.ts'
import { schemas } from '../../engines/schemas.ts'
import type { Context } from '../../kernel/context.ts'
import { everyRow } from '../../store/each-page.ts'
import type { ReadTx } from '../../store/port.ts'
import { type Deliverables, type JobRow, jobs } from '../jobs/rows.ts'
import { aboutJob, jobView, placeOf } from '../jobs/view.ts'
import { type LedgerRow, ledger } from '../ledger/rows.ts'
import { type ServiceRow, services } from '../listings/rows.ts'
import { type PaymentRow, payments } from '../payments/rows.ts'
import { attachmentView } from '../threads/files.ts'
import { messageView, threadView } from '../threads/messages.ts'
import { type MessageRow, messages, type ThreadFileRow, type ThreadRow, threadFiles, threads } from '../threads/rows.ts'

const PAGE_ROWS = 1_000
const OPERATOR = { who: 'operator' }

type Bundle = z.output<typeof rulingsApi.getJobBundle.reply.schema>
type Report = NonNullable<Bundle['schema_report']['input']>

/** All stored data of one job and its conversation, from one read. */
type Evidence = {
  readonly job: JobRow
  readonly about: Bundle['job']['about']
  readonly service: ServiceRow | undefined
  readonly thread: ThreadRow
  readonly said: readonly MessageRow[]
  readonly files: readonly ThreadFileRow[]
  readonly payment: PaymentRow | undefined
  readonly postings: readonly LedgerRow[]
}

/** Evidence for a ruling on a job, as one document; undefined if the job does not exist. */
export async function jobBundle(ctx: Context, id: string, now: number): Promise<Bundle | undefined> {
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

async function collect(t: ReadTx, id: string): Promise<Evidence | undefined> {
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
