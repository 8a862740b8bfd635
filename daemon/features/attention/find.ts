import type { z } from 'zod'
import type { AttentionItem } from '../../../src/api/sections/attention.ts'
import { formatAmount } from '../../../src/core/money.ts'
import { DAY_MS, MINUTE_MS } from '../../../src/core/time.ts'
import { jobDueEvents, workingJobStatuses } from '../../../src/model/job.ts'
import type { AttentionKind } from '../../../src/model/words.ts'
import type { Context } from '../../kernel/context.ts'
import { eachPage } from '../../store/each-page.ts'
import type { Collection, ReadTx, Row } from '../../store/port.ts'
import { deciderOf } from '../jobs/dispute-decision.ts'
import { type JobRow, jobs } from '../jobs/rows.ts'
import { isLate, nameOf, promisedAt } from '../jobs/view.ts'
import { services } from '../listings/rows.ts'
import { owingStates } from '../payments/reversed.ts'
import { type PaymentRow, payments } from '../payments/rows.ts'
import { FOUND } from '../payouts/advances.ts'
import { type PayoutRow, payouts } from '../payouts/rows.ts'
import { compliance } from '../sanctions/sanctions.ts'
import { plans, subscriptions, type UnservedPeriodRow, unservedPeriods } from '../subscriptions/rows.ts'
import { adjustmentOf } from '../subscriptions/unserved.ts'
import { messages, threads } from '../threads/rows.ts'
import { TEST_TYPE } from '../webhooks/health.ts'
import { endpointOf } from '../webhooks/queue.ts'
import { type DeliveryRow, deliveries } from '../webhooks/rows.ts'

export type Item = Omit<z.output<typeof AttentionItem>, 'kind'>
export type FoundItems = { readonly kind: AttentionKind; readonly items: readonly Item[]; readonly count: number }
type Reading = { readonly ctx: Context; readonly t: ReadTx; readonly now: number }

/** Maximum items listed per kind; the counts include the rest. */
export const MAX_OF_A_KIND = 25
/** Due work is normally done within minutes. Work that is overdue by more than this time is stuck. */
const PATIENCE_MS = 15 * MINUTE_MS
/** An inquiry without a reply for this long counts as unanswered. */
const ANSWER_MS = DAY_MS
/** Maximum rows per read: jobs of one status or due event, listings, or conversations. */
const MAX_DUE_ROWS = 200
/** Maximum subscriptions read, soonest renewal first. Past-due ones are retried within days, so they come early. */
const MAX_RENEWALS = 1_000
/** Maximum dead messages that are searched for test messages. Test messages beyond it are counted, too. */
const MAX_DEAD_ROWS = 2_000
const MAX_QUOTED_CHARS = 200
/** One cent in micro-USDC. If the unserved part of a period is worth less, it is not listed yet. */
const LEAST_UNSERVED = 10_000n

/** Members of an item that have no default. */
export type ItemWords = Pick<Item, 'id' | 'subject' | 'sentence' | 'fix'> & Partial<Item>

const usual = { grave: false, who: null, amount: null, since: null, due: null } as const

/** The items of the first `MAX_OF_A_KIND` rows; `count` is the number of all such rows (default: of these). */
export async function foundItems<R>(
  kind: AttentionKind,
  { rows, count = rows.length }: { readonly rows: readonly R[]; readonly count?: number },
  wordsOf: (row: R) => ItemWords | Promise<ItemWords>,
): Promise<FoundItems> {
  const items = await Promise.all(rows.slice(0, MAX_OF_A_KIND).map(wordsOf))
  return { kind, items: items.map((words) => ({ ...usual, ...words })), count }
}

type Slice<R extends Row> = { readonly of: Collection<R>; readonly index: string; readonly prefix?: readonly string[] }

async function some<R extends Row>(t: ReadTx, { of, index, prefix = [] }: Slice<R>) {
  const { rows } = await t.table(of).page(index, [...prefix], { limit: MAX_OF_A_KIND })
  return { rows, count: await t.table(of).count(index, [...prefix]) }
}

async function listingOf(t: ReadTx, { service_id }: JobRow): Promise<string> {
  return (await t.table(services).get(service_id))?.name ?? service_id
}

/** Shortens a message to one line. A JSON brief whose only member is `text` is shown without its JSON. */
function quoted(text: string): string {
  const said = text.slice(0, 2 * MAX_QUOTED_CHARS).replace(/^\{\s*"text": "|"\s*\}$/g, '')
  const line = said.replaceAll(/\s+/g, ' ').trim()
  return line.length > MAX_QUOTED_CHARS ? `${line.slice(0, MAX_QUOTED_CHARS)}…` : line
}

/** Undecided disputes (decisions §8). */
async function disputesOf({ t }: Reading): Promise<FoundItems> {
  const { rows, count } = await some(t, { of: jobs, index: 'status', prefix: ['disputed'] })
  const wordsOf = async (job: JobRow) => {
    const buyer = await nameOf(t, job.buyer_wallet)
    return {
      ...aboutJob(job),
      id: `dispute ${job.id}`,
      grave: true,
      who: `${buyer} / ${await nameOf(t, job.provider_id)}`,
      since: job.dispute?.opened_at ?? null,
      due: deciderOf(job.dispute)?.at ?? null,
      sentence: `${buyer} disputes "${await listingOf(t, job)}": "${quoted(job.dispute?.reason ?? '')}"`,
      fix: `souk admin jobs bundle ${job.id}`,
    }
  }
  return foundItems('dispute', { rows, count }, wordsOf)
}

function aboutJob({ id, amount }: JobRow): Pick<Item, 'subject' | 'amount'> {
  return { subject: { kind: 'job', id }, amount }
}

/** Jobs past their promised time or deadline. `isLate` decides this here and in every list of jobs. */
async function overdueOf({ t, now }: Reading): Promise<FoundItems> {
  const part = { limit: MAX_DUE_ROWS, order: 'asc' } as const
  const pages = await Promise.all(workingJobStatuses.map((status) => t.table(jobs).page('status', [status], part)))
  const late = pages.flatMap(({ rows }) => rows).filter((job) => isLate(job, now))
  const rows = late.toSorted((one, other) => promisedAt(one) - promisedAt(other))
  return foundItems('overdue', { rows }, async (job) => {
    const isHeld = job.escrow_status === 'held'
    return {
      ...aboutJob(job),
      id: `overdue ${job.id}`,
      grave: isHeld,
      who: await nameOf(t, job.provider_id),
      since: promisedAt(job),
      due: job.next_event_at,
      sentence: `"${await listingOf(t, job)}" for ${await nameOf(t, job.buyer_wallet)} is past its promised time.`,
      fix: isHeld ? `souk admin jobs emergency-withdraw ${job.id} --reason "..."` : `souk jobs view ${job.id}`,
    }
  })
}

/** Jobs whose next step is overdue, because the cron for that step failed or did not run. */
async function stuckOf({ t, now }: Reading): Promise<FoundItems> {
  const pages = jobDueEvents.map((event) => t.table(jobs).page('due', [event], { limit: MAX_DUE_ROWS }))
  const rows = (await Promise.all(pages)).flatMap((page) => page.rows)
  const late = rows.filter((job) => job.next_event_at !== null && job.next_event_at < now - PATIENCE_MS)
  return foundItems('stuck', { rows: late }, async (job) => ({
    ...aboutJob(job),
    id: `stuck ${job.id}`,
    grave: true,
    who: await nameOf(t, job.provider_id),
    since: job.next_event_at,
    sentence: `The next step of "${await listingOf(t, job)}" (${job.next_event}) is overdue.`,
    fix: 'souk crons run escrow-monitor',
  }))
}

/** Subscriptions whose renewal exceeded the balance. */
async function pastDueOf({ t }: Reading): Promise<FoundItems> {
  const { rows } = await t.table(subscriptions).page('due', ['renew'], { limit: MAX_RENEWALS })
  const unpaid = rows.filter(({ status }) => status === 'past_due')
  return foundItems('past_due', { rows: unpaid }, async (row) => ({
    id: `past_due ${row.id}`,
    subject: { kind: 'subscription', id: row.id },
    who: await nameOf(t, row.participant_id),
    amount: row.amount,
    since: row.past_due_since,
    due: row.next_event_at,
    sentence: `The balance does not cover the renewal of "${(await t.table(plans).get(row.plan_id))?.name ?? row.plan_id}".`,
    fix: `souk participants view ${row.participant_id}`,
  }))
}

/** Inquiries that the provider has not answered in time. */
async function inquiriesOf({ t, now }: Reading): Promise<FoundItems> {
  const part = { limit: MAX_DUE_ROWS, order: 'asc' } as const
  const { rows } = await t.table(threads).page('status', ['inquiry'], part)
  const old = rows.filter((thread) => thread.updated_at < now - ANSWER_MS)
  const last = await Promise.all(
    old.map(async (thread) => ({
      thread,
      message: (await t.table(messages).page('thread', [thread.id], { limit: 1 })).rows[0],
    })),
  )
  const open = last.filter(({ message }) => message?.author_role === 'buyer')
  return foundItems('inquiry', { rows: open }, async ({ thread, message }) => ({
    id: `inquiry ${thread.id}`,
    subject: { kind: 'thread', id: thread.id },
    who: await nameOf(t, thread.provider_id),
    since: message?.created_at ?? thread.updated_at,
    sentence: `${await nameOf(t, thread.buyer_wallet)} waits for a reply: "${quoted(message?.body ?? '')}"`,
    fix: `souk admin threads view ${thread.id}`,
  }))
}

/** Reverted payments: losses that earnings do not cover yet, and refunds still owed to payers. */
async function reversedOf({ t }: Reading): Promise<FoundItems> {
  const lost = await some(t, { of: payments, index: 'uncovered' })
  const owed = await Promise.all(
    owingStates.map((state) => some(t, { of: payments, index: 'withheld', prefix: [state] })),
  )
  const about = ({ receipt_id: id, payer, updated_at }: PaymentRow) =>
    ({ grave: true, subject: { kind: 'receipt', id }, who: payer, since: updated_at }) as const
  const items = [
    ...lost.rows.map((payment) => ({
      ...about(payment),
      id: `reversed ${payment.receipt_id}`,
      amount: payment.uncovered ?? null,
      sentence: 'The chain reverted a settled payment; earnings do not yet cover this amount.',
      fix: 'souk money audit',
    })),
    ...owed
      .flatMap(({ rows }) => rows)
      .map((payment) => ({
        ...about(payment),
        id: `owed ${payment.receipt_id}`,
        amount: payment.withheld ?? null,
        sentence: 'A refund is owed to a payer: it is paid from the next earnings.',
        fix: 'souk crons run auto-refund',
      })),
  ]
  const count = owed.reduce((sum, found) => sum + found.count, lost.count)
  return foundItems('reversed', { rows: items, count }, (words) => words)
}

/** Money that moved after the backup from which the store was restored. */
function foundSentence({ id, blocked, last_error: why }: PayoutRow): string {
  if (!blocked) return `A payout was made after the backup: ${why}.`
  return `A payment waits: it was ${why}. It is refunded unless you say who delivered: souk admin adjust SELLER AMOUNT --settles ${id}.`
}

/** Payouts without a key, and those on hold, which the next payout run releases unless their wallet is still listed. */
async function payoutsOf({ ctx, t }: Reading): Promise<FoundItems> {
  const stuck = await some(t, { of: payouts, index: 'status', prefix: ['needs_operator'] })
  const blocked = await some(t, { of: payouts, index: 'blocked' })
  const ahead = await some(t, { of: payouts, index: 'advanced' })
  return foundItems(
    'payout',
    { rows: [...stuck.rows, ...blocked.rows, ...ahead.rows], count: stuck.count + blocked.count + ahead.count },
    async (payout) => {
      const { id, kind, wallet, amount } = payout
      const isFound = payout.ref_kind === FOUND
      const isListed = payout.blocked && (await isSanctioned(ctx, wallet))
      const held = isListed ? 'is on hold: its wallet is on the sanctions list' : 'was on hold: its wallet was blocked'
      return {
        id: `payout ${id}`,
        grave: true,
        subject: { kind: 'payout', id },
        who: wallet,
        amount,
        since: payout.created_at,
        due: payout.next_attempt_at,
        sentence: isFound
          ? foundSentence(payout)
          : `A ${kind} ${payout.blocked ? held : `failed: ${payout.last_error ?? 'unknown error'}`}.`,
        fix: isListed || isFound ? `souk why ${id}` : 'souk crons run provider-settlement',
      }
    },
  )
}

/** Without a list that tells, nothing is paid. */
const isSanctioned = (ctx: Context, wallet: PayoutRow['wallet']) =>
  compliance
    .of(ctx)
    .isSanctioned(wallet)
    .catch(() => true)

/** Paid periods that were not served and need a remedy (decisions §9). */
async function unservedOf({ t, now }: Reading): Promise<FoundItems> {
  const { rows: open, count } = await some(t, { of: unservedPeriods, index: 'open' })
  const rows = open.filter((row) => row.since === null || adjustmentOf(row, now) >= LEAST_UNSERVED)
  const wordsOf = async (row: UnservedPeriodRow) => {
    const amount = adjustmentOf(row, now)
    const settles = `--settles ${row.id} --reason "..."`
    return {
      id: `unserved ${row.id}`,
      subject: { kind: 'subscription', id: row.subscription_id },
      who: await nameOf(t, row.participant_id),
      amount,
      since: row.opened_at,
      sentence: 'A subscriber paid for a period in which the seller was suspended.',
      fix: `souk admin adjust ${row.participant_id} ${formatAmount(amount)} ${settles}`,
    }
  }
  return foundItems('unserved_period', { rows, count: count - open.length + rows.length }, wordsOf)
}

/** Dead webhook messages except test messages. For a failed test, `endpointsOf` reports the listing. */
async function deliveriesOf({ t }: Reading): Promise<FoundItems> {
  const part = { index: 'state', prefix: ['dead'], limit: MAX_DUE_ROWS }
  const dead: DeliveryRow[] = []
  let looked = 0
  for await (const page of eachPage(t.table(deliveries), part)) {
    dead.push(...page.filter(({ type }) => type !== TEST_TYPE))
    looked += page.length
    if (dead.length >= MAX_OF_A_KIND || looked >= MAX_DEAD_ROWS) break
  }
  const left = (await t.table(deliveries).count('state', ['dead'])) - looked
  const wordsOf = async (row: DeliveryRow) => {
    const { participant_id: participantId, service_id: serviceId } = row
    const isGone = (await endpointOf(t, { participantId, serviceId })) === undefined
    return {
      id: `delivery ${row.id}`,
      subject: { kind: 'delivery', id: row.id },
      who: await nameOf(t, row.participant_id),
      since: row.at,
      sentence: `Webhook message ${row.type} failed after ${row.tries} ${row.tries === 1 ? 'try' : 'tries'}: ${row.reason ?? 'no answer'}${isGone ? ', and there is no endpoint now' : ''}.`,
      fix: isGone ? `souk participants view ${participantId}` : `souk admin webhooks replay ${row.id}`,
    }
  }
  return foundItems('delivery', { rows: dead, count: dead.length + Math.max(left, 0) }, wordsOf)
}

/** Listings that are not sold because their endpoint fails. */
async function endpointsOf({ t }: Reading): Promise<FoundItems> {
  const { rows } = await t.table(services).page('status', ['active'], { limit: MAX_DUE_ROWS })
  const failing = rows.filter((one) => one.webhook_status === 'failing')
  return foundItems('endpoint', { rows: failing }, async (one) => {
    const { tries, since, why } = await failuresOf(t, one.id)
    const waiting = await t.table(jobs).count('service_open', [one.id])
    const wait = waiting === 0 ? '' : `; ${waiting} ${waiting === 1 ? 'job waits' : 'jobs wait'}`
    return {
      id: `endpoint ${one.id}`,
      subject: { kind: 'service', id: one.id },
      who: await nameOf(t, one.provider_id),
      since,
      sentence: `The endpoint of "${one.name}" failed ${tries} ${tries === 1 ? 'time' : 'times'} in a row: ${why}${wait}.`,
      fix: `souk admin webhooks list --filter "service:${one.id} status:dead,pending"`,
    }
  })
}

/** Consecutive failures of a listing's endpoint: number of attempts, start and reason. */
async function failuresOf(t: ReadTx, serviceId: string) {
  const { rows } = await t.table(deliveries).page('tried', [serviceId], { limit: MAX_OF_A_KIND })
  const taken = rows.findIndex((row) => row.attempts.at(-1)?.error === null)
  const failed = taken === -1 ? rows : rows.slice(0, taken)
  const tries = failed.reduce((sum, row) => sum + row.tries, 0)
  // Remove the full stop, because the error becomes part of a sentence.
  const why = failed[0]?.attempts.at(-1)?.error?.replace(/\.$/, '') ?? 'no answer'
  return { tries, since: failed.at(-1)?.at ?? null, why }
}

export const finders = [
  ...[reversedOf, disputesOf, overdueOf, stuckOf, payoutsOf],
  ...[unservedOf, pastDueOf, inquiriesOf, deliveriesOf, endpointsOf],
]
