import type { JobRow } from '../../src/model/job.ts'
import type { PartyRole, PartyRow } from '../../src/model/party.ts'
import type { SubscriptionRow } from '../../src/model/subscription.ts'
import type { ThreadRow } from '../../src/model/thread.ts'
import {
  jobParties,
  jobs,
  participants,
  subscriptionParties,
  subscriptions,
  threadParties,
  threads,
  uncountedJobs,
} from '../store/collections.ts'
import { offsetPage } from '../store/offset-page.ts'
import type { Collection, Draft, ReadTx, Scalar, Tx } from '../store/port.ts'

/**
 * Jobs, threads and subscriptions are written only through here: each write keeps the two party rows in step,
 * so that "mine, as buyer or provider, in this status" is one index and not a union of scans. A job that
 * has ended waits, with every later change of it, to be counted for its provider's reputation.
 */
type Subject = Pick<JobRow | ThreadRow | SubscriptionRow, 'id' | 'buyer_wallet' | 'provider_id' | 'status'>

export async function insertJob(t: Tx, draft: Draft<JobRow>): Promise<JobRow> {
  const job = await t.table(jobs).insert(draft)
  await insertParties(t, jobParties, { subject: job, at: job.created_at })
  await leaveToCount(t, job)
  return job
}

/** Replaces a job that this transaction holds. */
export async function putJob(t: Tx, draft: Draft<JobRow>): Promise<JobRow> {
  const job = await t.table(jobs).put(draft)
  await moveParties(t, jobParties, { subject: job, at: job.created_at })
  await leaveToCount(t, job)
  return job
}

async function leaveToCount(t: Tx, job: JobRow): Promise<void> {
  if (job.ended_at === null) return
  const at = Math.max(job.ended_at, job.timeline.at(-1)?.at ?? 0)
  await t.table(uncountedJobs).insertIfAbsent({ id: job.id, at })
}

export async function insertThread(t: Tx, draft: Draft<ThreadRow>): Promise<ThreadRow> {
  const thread = await t.table(threads).insert(draft)
  await insertParties(t, threadParties, { subject: thread, at: thread.updated_at })
  return thread
}

/** Replaces a thread that this transaction holds; the list of threads runs by its last change. */
export async function putThread(t: Tx, draft: Draft<ThreadRow>): Promise<ThreadRow> {
  const thread = await t.table(threads).put(draft)
  await moveParties(t, threadParties, { subject: thread, at: thread.updated_at })
  return thread
}

export async function insertSubscription(t: Tx, draft: Draft<SubscriptionRow>): Promise<SubscriptionRow> {
  const subscription = await t.table(subscriptions).insert(draft)
  await insertParties(t, subscriptionParties, { subject: subscription, at: subscription.created_at })
  return subscription
}

/** Replaces a subscription that this transaction holds. */
export async function putSubscription(t: Tx, draft: Draft<SubscriptionRow>): Promise<SubscriptionRow> {
  const subscription = await t.table(subscriptions).put(draft)
  await moveParties(t, subscriptionParties, { subject: subscription, at: subscription.created_at })
  return subscription
}

type Parties = Collection<PartyRow>
type Place = { readonly subject: Subject; readonly at: number }

async function insertParties(t: Tx, parties: Parties, { subject, at }: Place): Promise<void> {
  const provider = await t.table(participants).get(subject.provider_id)
  if (!provider) throw new Error(`${subject.id} has no provider`)
  const sides = [
    ['buyer', subject.buyer_wallet],
    ['provider', provider.wallet],
  ] as const
  for (const [role, wallet] of sides) {
    const id = keyOf(subject, role)
    await t.table(parties).insert({ id, wallet, role, subject_id: subject.id, status: subject.status, at })
  }
}

async function moveParties(t: Tx, parties: Parties, { subject, at }: Place): Promise<void> {
  for (const role of ['buyer', 'provider'] as const) {
    const id = keyOf(subject, role)
    const party = await t.table(parties).getForUpdate(id)
    if (!party) throw new Error(`${id} is no party`)
    if (party.status !== subject.status || party.at !== at) {
      await t.table(parties).put({ ...party, status: subject.status, at })
    }
  }
}

function keyOf(subject: Subject, role: PartyRole): string {
  return `${subject.id}:${role}`
}

export type OwnQuery = {
  readonly wallet: string
  readonly role: PartyRole | undefined
  readonly status: string | undefined
  readonly limit: number
  readonly offset: number
}

/** Ids of a wallet's own jobs, threads or subscriptions, newest first, with their number. */
export async function ownIds(
  t: ReadTx,
  parties: Parties,
  { wallet, role, status, limit, offset }: OwnQuery,
): Promise<{ ids: readonly string[]; total: number }> {
  const index = ['wallet', role && 'role', status && 'status'].filter(Boolean).join('_')
  const prefix: Scalar[] = [wallet, role, status].filter((value) => value !== undefined)
  const { rows, total } = await offsetPage(t.table(parties), { index, prefix, limit, offset })
  return { ids: rows.map((row) => row.subject_id), total }
}
