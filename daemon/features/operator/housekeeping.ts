import { DAY_MS, MINUTE_MS } from '../../../src/core/time.ts'
import { type CronRound, defineCron } from '../../crons/cron.ts'
import { runDueWork } from '../../crons/due-work.ts'
import { everyHour } from '../../crons/schedule.ts'
import { adminAnswers } from '../../endpoint/once.ts'
import { markRemoved } from '../../events/event-log.ts'
import { events } from '../../events/rows.ts'
import type { Context } from '../../kernel/context.ts'
import { counters } from '../../kernel/rows.ts'
import { isOwn } from '../../ports/chain/chain.ts'
import type { Collection, ReadTx, Row, Store, Tx } from '../../store/port.ts'
import { storage } from '../backup/storage.ts'
import { sweepFacilitated } from '../facilitator/sweep.ts'
import { jobs } from '../jobs/rows.ts'
import { areBooksKept } from '../ledger/forget.ts'
import { authorizationId } from '../payments/order.ts'
import { forgetBooks } from '../payments/reversed.ts'
import { answers, idempotency, payments } from '../payments/rows.ts'
import { gasDays, payouts } from '../payouts/rows.ts'
import { products, purchases } from '../products/rows.ts'
import { grantDays } from '../test-money/rows.ts'
import { threadFiles } from '../threads/rows.ts'
import { traces } from '../traces/rows.ts'
import { verificationWork } from '../verification/expiry.ts'
import { deliveries } from '../webhooks/rows.ts'

/** Maximum rows per transaction. */
const SWEEP_ROWS = 200
/** Number of removed rows after which the files are compacted. */
const SHRINK_AFTER_ROWS = 1_000

/** Id of the counter of rows removed by housekeeping. */
const SWEPT_COUNTER = 'swept'

type Kept<R extends Row> = {
  readonly collection: Collection<R>
  /** Time-ordered index, oldest first. */
  readonly index: string
  readonly timeOf: (row: R) => number
  readonly keepMs: number
  /** Whether to keep a row despite its age. */
  readonly stays?: (t: Tx, row: R, store: Store) => Promise<boolean>
  /** Called with each removed row, in the transaction that removes it. */
  readonly goes?: (t: Tx, row: R) => Promise<void>
}

type Place = { readonly store: Store; readonly before: number; readonly after: string | null }
type Removed = { readonly after: string | null; readonly count: number }

type Sweep = {
  readonly keepMs: number
  /**
   * Removes rows older than `before` from the next page.
   * @returns the number of rows removed and the next position, which is null at the end
   */
  readonly remove: (t: Tx, place: Place) => Promise<Removed>
}

function sweep<R extends Row>({ collection, index, timeOf, keepMs, stays, goes }: Kept<R>): Sweep {
  return {
    keepMs,
    async remove(t, { store, before, after }) {
      const table = t.table(collection)
      const page = await table.page(index, [], { limit: SWEEP_ROWS, ...(after === null ? {} : { after }) })
      const old = page.rows.filter((row) => timeOf(row) < before)
      let count = 0
      for (const row of old) {
        if (await stays?.(t, row, store)) continue
        count += 1
        await table.delete(String(row[collection.key]))
        await goes?.(t, row)
      }
      return { count, after: page.more && old.length === page.rows.length ? page.cursor : null }
    },
  }
}

const at = (row: { readonly at: number }): number => row.at

/** Rows with limited retention, in business time. */
const sweeps: readonly Sweep[] = [
  // Stored responses for retries (decisions §4). Payment and fingerprint stay.
  sweep({ collection: answers, index: 'at', timeOf: at, keepMs: DAY_MS }),
  sweep({ collection: adminAnswers, index: 'at', timeOf: at, keepMs: DAY_MS }),
  // Released payments, which moved no money, are removed entirely.
  sweep({
    collection: payments,
    index: 'released',
    timeOf: (row) => row.updated_at,
    keepMs: DAY_MS,
    stays: async (_, __, store) => areBooksKept(store),
    goes: forgetBooks,
  }),
  sweep({
    collection: idempotency,
    index: 'at',
    timeOf: at,
    keepMs: DAY_MS,
    // The idempotency key of an open payment stays, because it prevents a second purchase.
    stays: async (t, { payment_id }) => (await t.table(payments).get(payment_id))?.open === true,
  }),
  // Amounts given by the faucet, for the daily limit.
  sweep({ collection: grantDays, index: 'day', timeOf: ({ day }) => day * DAY_MS, keepMs: 2 * DAY_MS }),
  // Counts of gas actions, for the daily limit.
  sweep({ collection: gasDays, index: 'day', timeOf: ({ day }) => day * DAY_MS, keepMs: 2 * DAY_MS }),
  // The event log (decisions §10). The oldest events go first, so that the remaining numbers have no gaps.
  sweep({ collection: events, index: 'seq', timeOf: at, keepMs: 7 * DAY_MS, goes: markRemoved }),
  // Traces (decisions §11).
  sweep({ collection: traces, index: 'at', timeOf: at, keepMs: 90 * DAY_MS }),
  // Deliveries with their attempts, once they have ended (decisions §10).
  sweep({ collection: deliveries, index: 'ended', timeOf: at, keepMs: 30 * DAY_MS }),
]

/** Removes rows past their retention and files without a record, and ends overdue verification attempts. */
export const housekeeping = defineCron({
  name: 'housekeeping',
  schedule: everyHour,
  deadlineMs: 10 * MINUTE_MS,
  inHealth: false,
  async run(round) {
    let count = 0
    for (const one of sweeps) count += await sweepAll(one, round)
    count += await sweepFacilitated(round.ctx, round.signal)
    count += await sweepChain(round.ctx)
    if (count >= SHRINK_AFTER_ROWS) await shrink(round.ctx, count)
    if (!round.signal.aborted) await sweepFiles(round.ctx)
    await runDueWork([verificationWork], round)
    return undefined
  },
  nextDue: verificationWork.nextDue,
})

/** Retention of final transactions, in machine time. Their effects stay on the chain and in the books. */
const CHAIN_TXS_MS = 30 * DAY_MS

/** Removes final transactions. @returns the number removed */
async function sweepChain({ chain, store, clock }: Context): Promise<number> {
  const before = clock.wall() - CHAIN_TXS_MS
  const due = await store.table(payouts).page('due', [], { limit: SWEEP_ROWS })
  const awaitsPayout = due.more || due.rows.some((row) => row.created_at < before)
  return chain.transactions.sweep(before, async (from, nonce) => {
    if (awaitsPayout && isOwn(chain, from)) return true
    const id = authorizationId({ chain }, { authorization: { from, nonce } })
    return (await store.table(payments).get(id))?.open === true
  })
}

/**
 * Compacts twice, because the store keeps the previous snapshot and its journal, which still hold the removed rows. The
 * number written between the two compactions makes their snapshots differ.
 */
async function shrink(ctx: Context, count: number): Promise<void> {
  await storage.of(ctx).shrink()
  await ctx.store.tx(async (t) => {
    const swept = await t.table(counters).getForUpdate(SWEPT_COUNTER)
    await t.table(counters).put({ id: SWEPT_COUNTER, value: (swept?.value ?? 0) + count })
  })
  await storage.of(ctx).shrink()
}

async function sweepAll(one: Sweep, { ctx, now, signal }: CronRound): Promise<number> {
  let after: string | null = null
  let removed = 0
  do {
    const from: string | null = after
    const done: Removed = await ctx.store.tx((t) =>
      one.remove(t, { store: ctx.store, before: now - one.keepMs, after: from }),
    )
    after = done.after
    removed += done.count
  } while (after !== null && !signal.aborted)
  return removed
}

/** Age at which a file without a record is removed. Uploads take much less time. */
const UNNAMED_FILE_MS = DAY_MS

/** Removes files without a record, which refusals or crashes left. */
async function sweepFiles({ blobs, store, clock }: Context): Promise<void> {
  await blobs.sweep({
    olderThanMs: clock.wall() - UNNAMED_FILE_MS,
    isReferenced: (sha256) => store.read((t) => isNamed(t, sha256)),
  })
}

async function isNamed(t: ReadTx, sha256: string): Promise<boolean> {
  const counts = [
    await t.table(products).count('file', [sha256]),
    await t.table(purchases).count('file', [sha256]),
    await t.table(threadFiles).count('file', [sha256]),
    await t.table(payments).count('file', [sha256]),
    await t.table(answers).count('file', [sha256]),
    await t.table(jobs).count('input_file', [sha256]),
    await t.table(jobs).count('deliverables_file', [sha256]),
    await t.table(events).count('file', [sha256]),
    await t.table(deliveries).count('file', [sha256]),
  ]
  return counts.some((count) => count > 0)
}
