import type { z } from 'zod'
import type { AttentionItem } from '../../../src/api/sections/attention.ts'
import { formatAmount } from '../../../src/core/money.ts'
import { MINUTE_MS } from '../../../src/core/time.ts'
import { jobDueEvents } from '../../../src/model/job.ts'
import type { AttentionKind } from '../../../src/model/words.ts'
import { participants } from '../../kernel/rows.ts'
import { eachPage } from '../../store/each-page.ts'
import type { Collection, ReadTx, Row } from '../../store/port.ts'
import { deciderOf } from '../jobs/dispute-decision.ts'
import { type JobRow, jobs } from '../jobs/rows.ts'
import { services } from '../listings/rows.ts'
import { owingStates } from '../payments/reversed.ts'
import { type PaymentRow, payments } from '../payments/rows.ts'
import { type PayoutRow, payouts } from '../payouts/rows.ts'
import { unservedPeriods } from '../subscriptions/rows.ts'
import { adjustmentOf } from '../subscriptions/unserved.ts'
import { TEST_TYPE } from '../webhooks/health.ts'
import { type DeliveryRow, deliveries } from '../webhooks/rows.ts'

export type Item = Omit<z.output<typeof AttentionItem>, 'kind'>
/** Some of the items, with their total count. */
export type FoundItems = { readonly kind: AttentionKind; readonly items: readonly Item[]; readonly count: number }
type Reading = { readonly t: ReadTx; readonly now: number }

/** Items listed of each kind; the counts include the rest. */
export const MAX_OF_A_KIND = 25
/** Due work is normally done within minutes; after this time it is overdue. */
const PATIENCE_MS = 15 * MINUTE_MS
/** Jobs of each due event, and listings, read at most. */
const MAX_DUE_ROWS = 200
/** Dead messages checked for tests; older ones count without a check. */
const MAX_DEAD_ROWS = 2_000

type Slice<R extends Row> = { readonly of: Collection<R>; readonly index: string; readonly prefix?: readonly string[] }

async function some<R extends Row>(t: ReadTx, { of, index, prefix = [] }: Slice<R>) {
  const { rows } = await t.table(of).page(index, [...prefix], { limit: MAX_OF_A_KIND })
  return { rows, count: await t.table(of).count(index, [...prefix]) }
}

async function nameOf(t: ReadTx, id: string): Promise<string> {
  return (await t.table(participants).get(id))?.name ?? id
}

async function listingOf(t: ReadTx, { service_id }: JobRow): Promise<string> {
  return (await t.table(services).get(service_id))?.name ?? service_id
}

/** Undecided disputes (decisions §8). */
export async function disputesOf({ t }: Reading): Promise<FoundItems> {
  const { rows, count } = await some(t, { of: jobs, index: 'status', prefix: ['disputed'] })
  const items = rows.map(async (job): Promise<Item> => {
    const decider = deciderOf(job.dispute)
    return {
      id: `dispute ${job.id}`,
      grave: true,
      subject: { kind: 'job', id: job.id },
      who: await nameOf(t, job.provider_id),
      amount: job.amount,
      since: job.dispute?.opened_at ?? null,
      due: decider?.at ?? null,
      sentence: `A buyer disputes "${await listingOf(t, job)}": ${decider?.at == null ? 'it waits for your decision' : 'without your decision the default applies'}.`,
      fix: `souk admin jobs bundle ${job.id}`,
    }
  })
  return { kind: 'dispute', items: await Promise.all(items), count }
}

/** Jobs whose next step is overdue: its cron is not running or fails. */
export async function overdueOf({ t, now }: Reading): Promise<FoundItems> {
  const pages = jobDueEvents.map((event) => t.table(jobs).page('due', [event], { limit: MAX_DUE_ROWS }))
  const rows = (await Promise.all(pages)).flatMap((page) => page.rows)
  const late = rows.filter((job) => job.next_event_at !== null && job.next_event_at < now - PATIENCE_MS)
  const items = late.slice(0, MAX_OF_A_KIND).map(
    async (job): Promise<Item> => ({
      id: `overdue ${job.id}`,
      grave: true,
      subject: { kind: 'job', id: job.id },
      who: await nameOf(t, job.provider_id),
      amount: job.amount,
      since: job.next_event_at,
      due: null,
      sentence: `The next step of a job, ${job.next_event}, is overdue.`,
      fix: 'souk crons run escrow-monitor',
    }),
  )
  return { kind: 'overdue', items: await Promise.all(items), count: late.length }
}

/** Payments that the chain reverted and that are not covered yet, and what their payers are still owed. */
export async function reversedOf({ t }: Reading): Promise<FoundItems> {
  const lost = await some(t, { of: payments, index: 'uncovered' })
  const owed = await Promise.all(
    owingStates.map((state) => some(t, { of: payments, index: 'withheld', prefix: [state] })),
  )
  const itemOf = (payment: PaymentRow, said: Pick<Item, 'id' | 'amount' | 'sentence' | 'fix'>): Item => ({
    grave: true,
    subject: { kind: 'receipt', id: payment.receipt_id },
    who: payment.payer,
    since: payment.updated_at,
    due: null,
    ...said,
  })
  const items = [
    ...lost.rows.map((payment) =>
      itemOf(payment, {
        id: `reversed ${payment.receipt_id}`,
        amount: payment.uncovered ?? null,
        sentence: 'The chain reverted a settled payment, and earnings do not cover this part of it yet.',
        fix: 'souk money audit',
      }),
    ),
    ...owed
      .flatMap(({ rows }) => rows)
      .map((payment) =>
        itemOf(payment, {
          id: `owed ${payment.receipt_id}`,
          amount: payment.withheld ?? null,
          sentence: 'A refund to a payer is outstanding: it is paid from the next earnings.',
          fix: 'souk crons run auto-refund',
        }),
      ),
  ]
  const count = owed.reduce((sum, found) => sum + found.count, lost.count)
  return { kind: 'reversed', items: items.slice(0, MAX_OF_A_KIND), count }
}

/** Payouts that need the operator, and money of blocked wallets. */
export async function payoutsOf({ t }: Reading): Promise<FoundItems> {
  const stuck = await some(t, { of: payouts, index: 'status', prefix: ['needs_operator'] })
  const blocked = await some(t, { of: payouts, index: 'blocked' })
  const itemOf = (payout: PayoutRow, sentence: string): Item => ({
    id: `payout ${payout.id}`,
    grave: true,
    subject: { kind: 'payout', id: payout.id },
    who: payout.wallet,
    amount: payout.amount,
    since: payout.created_at,
    due: payout.next_attempt_at,
    sentence,
    fix: `souk admin payouts --status ${payout.status}`,
  })
  const items = [
    ...stuck.rows.map((one) => itemOf(one, `A ${one.kind} failed: ${one.last_error ?? 'unknown error'}.`)),
    ...blocked.rows.map((one) => itemOf(one, `A ${one.kind} is on hold: its wallet is blocked.`)),
  ]
  return { kind: 'payout', items: items.slice(0, MAX_OF_A_KIND), count: stuck.count + blocked.count }
}

/** Paid periods that were not served and need a remedy (decisions §9). */
export async function unservedOf({ t, now }: Reading): Promise<FoundItems> {
  const { rows, count } = await some(t, { of: unservedPeriods, index: 'open' })
  const items = rows.map(async (row): Promise<Item> => {
    const amount = adjustmentOf(row, now)
    const settles = `--settles ${row.id} --reason "..."`
    return {
      id: `unserved ${row.id}`,
      grave: false,
      subject: { kind: 'subscription', id: row.subscription_id },
      who: await nameOf(t, row.participant_id),
      amount,
      since: row.opened_at,
      due: null,
      sentence: 'A subscriber paid for a period in which the seller was suspended.',
      fix: `souk admin adjust ${row.participant_id} ${formatAmount(amount)} ${settles}`,
    }
  })
  return { kind: 'unserved_period', items: await Promise.all(items), count }
}

/** Dead messages, without tests; a failing endpoint is reported by its listing. */
export async function deliveriesOf({ t }: Reading): Promise<FoundItems> {
  const part = { index: 'state', prefix: ['dead'], limit: MAX_DUE_ROWS }
  const dead: DeliveryRow[] = []
  let looked = 0
  for await (const page of eachPage(t.table(deliveries), part)) {
    dead.push(...page.filter(({ type }) => type !== TEST_TYPE))
    looked += page.length
    if (dead.length >= MAX_OF_A_KIND || looked >= MAX_DEAD_ROWS) break
  }
  const left = (await t.table(deliveries).count('state', ['dead'])) - looked
  const rows = dead.slice(0, MAX_OF_A_KIND)
  const count = dead.length + Math.max(left, 0)
  const items = rows.map(
    async (row: DeliveryRow): Promise<Item> => ({
      id: `delivery ${row.id}`,
      grave: false,
      subject: { kind: 'delivery', id: row.id },
      who: await nameOf(t, row.participant_id),
      amount: null,
      since: row.at,
      due: null,
      sentence: `A ${row.type} failed after ${row.tries} ${row.tries === 1 ? 'try' : 'tries'}: ${row.reason ?? 'no answer'}.`,
      fix: `souk admin webhooks replay ${row.id}`,
    }),
  )
  return { kind: 'delivery', items: await Promise.all(items), count }
}

/** Listings that are not sold because their endpoint fails. */
export async function endpointsOf({ t }: Reading): Promise<FoundItems> {
  const { rows } = await t.table(services).page('status', ['active'], { limit: MAX_DUE_ROWS })
  const failing = rows.filter((one) => one.webhook_status === 'failing')
  const items = failing.slice(0, MAX_OF_A_KIND).map(
    async (one): Promise<Item> => ({
      id: `endpoint ${one.id}`,
      grave: false,
      subject: { kind: 'service', id: one.id },
      who: await nameOf(t, one.provider_id),
      amount: null,
      since: null,
      due: null,
      sentence: `The endpoint of "${one.name}" does not answer.`,
      fix: `souk services view ${one.id}`,
    }),
  )
  return { kind: 'endpoint', items: await Promise.all(items), count: failing.length }
}
