import { z } from 'zod'
import { Micro, StoredWallet } from '../../../src/core/codecs.ts'
import {
  Dispute,
  escrowStatuses,
  jobDueEvents,
  jobStatuses,
  paymentMethods,
  Verification,
  workingJobStatuses,
} from '../../../src/model/job.ts'
import { KnownJson, KnownJsonObject, serviceTypes } from '../../../src/model/service.ts'
import { insertParties, moveParties } from '../../kernel/parties.ts'
import { partiesOf } from '../../kernel/rows.ts'
import { largeText, type TextOf } from '../../store/blobs.ts'
import {
  type AnyCollection,
  type Collection,
  type Draft,
  defineCollection,
  type Reader,
  type Row,
  stored,
  type Tx,
} from '../../store/port.ts'
import { type HeldJob, openDeal, updateDeal } from '../escrow/deal.ts'
/** A stored job: money in micro-USDC, times in epoch milliseconds of business time. */
export const JobRow = z.strictObject({
  ...stored,
  service_id: z.string(),
  service_name: z.string(),
  /** Service type at the time of purchase. It decides how a delivery is checked and verified. */
  service_type: z.enum(serviceTypes),
  /** Null if the delivery came with the purchase. */
  deliverable_schema: KnownJsonObject.nullable(),
  buyer_wallet: StoredWallet,
  buyer_id: z.string().nullable(),
  provider_id: z.string(),
  thread_id: z.string(),
  posting_id: z.string().nullable(),
  /** Subscription that covers the job. The buyer then pays nothing for this job, and reputation ignores it. */
  subscription_id: z.string().exactOptional(),
  receipt_id: z.string(),
  payment_id: z.string(),
  payment_method: z.enum(paymentMethods),
  transaction: z.string().nullable(),
  status: z.enum(jobStatuses),
  /** Empty if the input is large; `input_file` is then the SHA-256 of the file that contains it. */
  input: KnownJsonObject,
  input_file: z.string().exactOptional(),
  /** Empty if the deliverables are large; `deliverables_file` is then the SHA-256 of the file with them. */
  deliverables: z.array(KnownJson),
  deliverables_file: z.string().exactOptional(),
  /** True if an earlier version stored the deliverables in a row of the collection `deliverables`. */
  deliverables_apart: z.boolean(),
  notes: z.string(),
  amount: Micro,
  fee: Micro,
  provider_amount: Micro,
  escrow_status: z.enum(escrowStatuses),
  held_at: z.int().nullable(),
  /** True while the job has a next event; the escrow monitor reads only such jobs. */
  open: z.boolean(),
  next_event: z.enum(jobDueEvents).nullable(),
  next_event_at: z.int().nullable(),
  verification: Verification.nullable(),
  dispute: Dispute.nullable(),
  /** SHA-256 hex of an anonymous buyer's access token. */
  access_token_hash: z.string().nullable(),
  timeline: z.array(z.strictObject({ at: z.int(), event: z.string(), detail: z.string() })),
  created_at: z.int(),
  dispatched_at: z.int().nullable(),
  completed_at: z.int().nullable(),
  deadline_at: z.int().nullable(),
  /** Duration that the listing promised; null if the listing stated none. */
  estimate_ms: z.int().nullable(),
  ended_at: z.int().nullable(),
  ended_by: z.enum(['buyer', 'provider', 'admin', 'system']).nullable(),
})
export type JobRow = z.infer<typeof JobRow>

export const jobs = defineCollection('jobs', {
  schema: JobRow,
  indexes: [
    { name: 'buyer', fields: ['buyer_wallet', 'created_at'], order: 'desc' },
    { name: 'provider', fields: ['provider_id', 'created_at'], order: 'desc' },
    { name: 'status', fields: ['status', 'created_at'], order: 'desc' },
    { name: 'newest', fields: ['created_at'], order: 'desc' },
    { name: 'payment', fields: ['payment_id'] },
    { name: 'due', fields: ['next_event', 'next_event_at'], where: { field: 'open', equals: true } },
    { name: 'held', fields: ['created_at'], where: { field: 'escrow_status', equals: 'held' } },
    { name: 'provider_held', fields: ['provider_id'], where: { field: 'escrow_status', equals: 'held' } },
    { name: 'service_open', fields: ['service_id'], where: { field: 'ended_at', equals: null } },
    { name: 'input_file', fields: ['input_file'], where: { field: 'input_file', present: true } },
    { name: 'deliverables_file', fields: ['deliverables_file'], where: { field: 'deliverables_file', present: true } },
  ],
})

/** Large deliverables, as earlier versions stored them. */
export const deliverables = defineCollection('deliverables', {
  schema: z.strictObject({
    /** `id` is the id of the job. */
    ...stored,
    /** JSON text of the array of deliverables. */
    text: z.string(),
  }),
  indexes: [],
})

export const jobParties = partiesOf('job_parties')

/** A job that reputation must still count, or count again. */
export const uncountedJobs = defineCollection('uncounted_jobs', {
  schema: z.strictObject({
    /** `id` is the id of the job. */
    ...stored,
    /** Business time of the change. */
    at: z.int(),
  }),
  indexes: [{ name: 'due', fields: ['at'] }],
})

export async function insertJob(t: Tx, draft: Draft<JobRow>): Promise<JobRow> {
  const job = await t.table(jobs).insert(draft)
  await openDeal(t, heldOf(job))
  await insertParties(t, jobParties, { subject: job, at: job.created_at })
  await leaveToCount(t, job)
  return job
}

/** Replaces a job that this transaction has locked. */
export async function putJob(t: Tx, draft: Draft<JobRow>): Promise<JobRow> {
  const job = await t.table(jobs).put(draft)
  await updateDeal(t, heldOf(job))
  await moveParties(t, jobParties, { subject: job, at: job.created_at })
  await leaveToCount(t, job)
  return job
}

const endOf = { none: null, held: null, released: 'release', refunded: 'refund', split: 'resolve' } as const

/** What the escrow contract should do for a job. */
function heldOf(job: JobRow): HeldJob {
  const { id, status, deadline_at, created_at, dispute, escrow_status: escrow } = job
  const doneWith = status === 'disputed' ? 'markDisputed' : 'markDelivered'
  const isWorking = workingJobStatuses.some((one) => one === status)
  return {
    id,
    buyer: job.buyer_wallet,
    net: job.provider_amount,
    fee: job.fee,
    isHeld: escrow === 'held',
    created_at,
    wants_deadline: deadline_at,
    wants_closed: isWorking ? null : doneWith,
    wants_end: endOf[escrow],
    to_buyer: escrow === 'split' ? (dispute?.buyer_amount ?? null) : null,
  }
}

async function leaveToCount(t: Tx, job: JobRow): Promise<void> {
  if (job.ended_at === null) return
  const at = Math.max(job.ended_at, job.timeline.at(-1)?.at ?? 0)
  await t.table(uncountedJobs).insertIfAbsent({ id: job.id, at })
}

export type Deliverables = JobRow['deliverables']
export type KeptInput = Pick<JobRow, 'input' | 'input_file'>
export type KeptDeliverables = Pick<JobRow, 'deliverables' | 'deliverables_file' | 'deliverables_apart'>

export const NO_DELIVERABLES: KeptDeliverables = { deliverables: [], deliverables_apart: false }

/** Stores a text as a file, and gives its SHA-256. */
type KeepText = (text: string) => string | Promise<string>

/** Stored form of an input: in the row, or as a file if large. */
export async function keepInput(input: JobRow['input'], keep: KeepText): Promise<KeptInput> {
  const text = largeText(input)
  return text === undefined ? { input } : { input: {}, input_file: await keep(text) }
}

/** Stored form of deliverables. @param text - the items as JSON, if they are too large for the row */
export async function keepDeliverables(
  items: Deliverables,
  text: string | undefined,
  keep: KeepText,
): Promise<KeptDeliverables> {
  if (text === undefined) return { deliverables: items, deliverables_apart: false }
  return { ...NO_DELIVERABLES, deliverables_file: await keep(text) }
}

/** Where to read a job's rows and files. Inside a transaction: rows from its `t`, files from its `draw`. */
export type JobSource = {
  table<R extends Row>(collection: Collection<R>): Pick<Reader<R>, 'get'>
  readonly text: TextOf
}

export async function readInput({ text }: Pick<JobSource, 'text'>, { input, input_file }: KeptInput) {
  return input_file === undefined ? input : (JSON.parse(await text(input_file)) as JobRow['input']) // by keepInput
}

export async function readDeliverables({ table, text }: JobSource, job: JobRow): Promise<Deliverables> {
  if (job.deliverables_file !== undefined) return JSON.parse(await text(job.deliverables_file)) as Deliverables // by keepDeliverables
  if (!job.deliverables_apart) return job.deliverables
  const row = await table(deliverables).get(job.id)
  if (!row) throw new Error(`${job.id} has lost its deliverables`)
  return JSON.parse(row.text) as Deliverables // written by an earlier version
}

export const jobCollections: readonly AnyCollection[] = [jobs, deliverables, jobParties, uncountedJobs]
