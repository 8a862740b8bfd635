import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { crashAtEachStep, runOf, sides } from '../../fixtures/kit/crash.ts'
import { chainWith } from '../../fixtures/kit/faults.ts'
import { member, openPayments, payFor } from '../../fixtures/kit/money.ts'
import { noTicks } from '../../fixtures/kit/time.ts'
import { type Marketplace, openMarketplace } from '../../fixtures/market/marketplace.ts'
import { toWallet, type Wallet } from '../../src/core/hex.ts'
import { usdc } from '../../src/core/money.ts'
import { DAY_MS, MINUTE_MS } from '../../src/core/time.ts'
import { allCrons } from '../app.ts'
import { defineCron } from '../crons/cron.ts'
import { type DueWork, runDueWork } from '../crons/due-work.ts'
import { everyMinute } from '../crons/schedule.ts'
import { auditBooks } from '../features/audit/audit.ts'
import { jobs } from '../features/jobs/rows.ts'
import { account } from '../features/ledger/legs.ts'
import { balanceOf, post } from '../features/ledger/post.ts'
import { accounts } from '../features/ledger/rows.ts'
import { housekeeping } from '../features/operator/housekeeping.ts'
import { autoRefund } from '../features/payments/auto-refund.ts'
import { answers, idempotency, type PaymentRow, payments } from '../features/payments/rows.ts'
import { inFlight } from '../features/payments/single-flight.ts'
import { openPayoutOf, openRefund } from '../features/payouts/payouts.ts'
import { payouts } from '../features/payouts/rows.ts'
import { applyPayoutStep } from '../features/payouts/steps.ts'
import { watchCallers, watchDays } from '../features/stats/routes.ts'
import { statsSnapshot } from '../features/stats/stats-snapshot.ts'
import { counters } from '../kernel/rows.ts'
import { commit } from '../store/draw.ts'
import type { Draft } from '../store/port.ts'

// @slow a crash at every step

let market: Marketplace
let purchase: string
/** Whether the chain answers. */
let isSilent = false

beforeAll(async () => {
  const chain = chainWith((real) => ({
    settle: async (authorization, signature) =>
      isSilent ? { ok: false, failure: 'unavailable', sent: true } : real.settle(authorization, signature),
  }))
  market = await openMarketplace({}, { chain, ticker: noTicks })
  purchase = `/v1/services/${await market.serviceId('qr_code')}/purchase`
})
afterAll(() => market.close())

const ctx = () => market.daemon.ctx
/** More than are removed in one transaction. */
const CALLERS = 600
const watchDay = (date: string) => ({
  id: date,
  trust_queries: 3,
  explorer_interactions: 4,
  distinct_callers: CALLERS,
  salt: 'aa',
  closed: false,
})
const onChain = (wallet: Wallet) => ctx().chain.balanceOf(wallet)

let watched = 0

/** Two days that are over and were not seen before, with who looked on them. */
async function watchTwoDays(): Promise<string[]> {
  const dates = [watched, watched + 1].map((day) => new Date(day * DAY_MS).toISOString().slice(0, 'yyyy-mm-dd'.length))
  watched += 2
  await commit(ctx(), async (t) => {
    for (const date of dates) {
      await t.table(watchDays).insertIfAbsent(watchDay(date))
      await Promise.all(
        Array.from({ length: CALLERS }, (_, caller) =>
          t.table(watchCallers).insertIfAbsent({ id: `${date}:${caller}`, date }),
        ),
      )
    }
  })
  return dates
}

describe.each(sides)('a crash %s each step', (side) => {
  test('of auto-refund: each payment and refund ends once', async () => {
    const price = usdc(BigInt((await market.call('POST', purchase)).body.accepts[0].maxAmountRequired))
    const steps = await crashAtEachStep(autoRefund, ctx(), {
      side,
      async arrange() {
        const [settling, reserved, owed] = [
          await market.buyer('1.00'),
          await market.buyer('1.00'),
          await market.buyer('1.00'),
        ]
        isSilent = true
        for (const buyer of [settling, reserved]) await payFor(market, buyer, { path: purchase, body: { data: 'x' } })
        isSilent = false
        await backToReserved(reserved.wallet)
        await owe(owed.wallet, 700_000n)
        const cleared = await market.buyer('1.00')
        await owe(cleared.wallet, 300_000n)
        await blockPayoutOf(cleared.wallet)
        const holder = await member(market, { balance: '1.00' })
        await strayHold(holder)
        return { settling, reserved, owed, cleared, holder }
      },
      async check({ settling, reserved, owed, cleared, holder }) {
        expect(await openPayments(market)).toEqual([])
        expect(await onChain(settling.wallet)).toBe(1_000_000n - price)
        expect(await onChain(reserved.wallet)).toBe(1_000_000n)
        expect(await onChain(owed.wallet)).toBe(1_700_000n)
        expect(await onChain(cleared.wallet)).toBe(1_300_000n)
        expect(await ctx().store.read((t) => balanceOf(t, account.balance(holder.id)))).toBe(1_000_000n)
        expect(await jobsOf(settling.wallet)).toBe(1)
        expect(await jobsOf(reserved.wallet)).toBe(0)
        expect(await left(['hold', 'rfd', 'out', 'blk'])).toBe(0)
      },
    })
    expect(steps).toBeGreaterThan(12)
  })

  test('of housekeeping: what is old goes, what is young or still needed stays', async () => {
    const steps = await crashAtEachStep(housekeeping, ctx(), {
      side,
      arrange: async () => arrangeOldRows(ctx().clock.now()),
      async check({ old, young, kept, payment }) {
        const present = await Promise.all([
          ctx()
            .store.table(answers)
            .getMany([...old, ...young]),
          ctx()
            .store.table(idempotency)
            .getMany([...old, ...young, kept]),
        ])
        expect(present.map((rows) => rows.map((row) => row.id).sort())).toEqual([[...young], [...young, kept].sort()])
        await close(payment)
      },
    })
    expect(steps).toBeGreaterThan(3)
  })

  test('of stats-snapshot: the days that are over are closed, with their counts and without their callers', async () => {
    const steps = await crashAtEachStep(statsSnapshot, ctx(), {
      side,
      arrange: watchTwoDays,
      async check(dates) {
        const closed = await ctx().store.table(watchDays).getMany(dates)
        expect(closed).toMatchObject(dates.map((date) => ({ ...watchDay(date), salt: null, closed: true })))
        for (const date of dates) expect(await ctx().store.table(watchCallers).count('date', [date])).toBe(0)
      },
    })
    expect(steps).toBe(7)
  })

  test('of a cron over due work: each item once', async () => {
    const cron = countingCron()
    const steps = await crashAtEachStep(cron, ctx(), {
      side,
      arrange: () => cron.arrange(7),
      async check(ids) {
        const rows = await ctx().store.table(counters).getMany(ids)
        expect(rows.map((row) => row.value)).toEqual(ids.map(() => 1))
      },
    })
    expect(steps).toBe(7)
  })
})

test.each(allCrons)('$name with nothing to do may crash anywhere', async (cron) => {
  const quiet = { side: 'after' as const, arrange: async () => undefined, check: async () => undefined }
  expect(await crashAtEachStep(cron, ctx(), quiet)).toBeLessThan(100)
})

test('the books are whole after all that', async () => {
  const audit = await auditBooks(ctx())
  expect(audit.checks.filter((check) => !check.ok)).toEqual([])
  expect(audit.transactions).toBeGreaterThan(50)
})

describe('auto-refund', () => {
  test('is skipped under the cutover only when nothing was due, and goes on while paused', async () => {
    await market.admin('PUT', '/dashboard/api/admin/features', { body: { checkout_v2: true } })
    expect(await runOf(autoRefund, ctx())).toEqual({ skip: 'checkout_v2' })
    const buyer = await market.buyer('1.00')
    await owe(buyer.wallet, 500_000n)
    await market.admin('POST', '/dashboard/api/admin/platform/pause')
    expect(await runOf(autoRefund, ctx())).toBeUndefined()
    expect(await onChain(buyer.wallet)).toBe(1_500_000n)
    await market.admin('POST', '/dashboard/api/admin/platform/unpause')
    await market.admin('PUT', '/dashboard/api/admin/features', { body: { checkout_v2: false } })
    expect(await runOf(autoRefund, ctx())).toBeUndefined()
  })

  test('gives a hold back that nobody works on, and leaves one alone that somebody does', async () => {
    const one = await member(market, { balance: '1.00' })
    const busy = Promise.withResolvers<void>()
    const id = await strayHold(one)
    inFlight.of(ctx()).set(id, { fingerprint: '', answer: busy.promise.then(() => undefined) })
    await runOf(autoRefund, ctx())
    expect((await openPayments(market)).map((payment) => payment.id)).toEqual([id])
    inFlight.of(ctx()).delete(id)
    busy.resolve()
    await runOf(autoRefund, ctx())
    expect(await openPayments(market)).toEqual([])
    expect(await ctx().store.read((t) => balanceOf(t, account.balance(one.id)))).toBe(1_000_000n)
  })
})

test('an item that fails holds no other up, and the run says that it failed', async () => {
  const cron = countingCron({ fails: (id) => id.endsWith(':3') })
  const ids = await cron.arrange(120)
  await expect(runOf(cron, ctx())).rejects.toThrow('1 of 120 items failed')
  const rows = await ctx().store.table(counters).getMany(ids)
  expect(rows.map((row) => row.value)).toEqual(ids.map((id) => (id.endsWith(':3') ? 0 : 1)))
})

let batches = 0

/** A cron that counts each of its items up from 0 to 1, one transaction each. */
function countingCron(options: { fails?: (id: string) => boolean } = {}) {
  let ids: string[] = []
  const work: DueWork = {
    name: 'counting',
    async due(of, _now, limit) {
      const rows = await of.store.table(counters).getMany(ids)
      return rows
        .filter((row) => row.value === 0)
        .map((row) => row.id)
        .slice(0, limit)
    },
    async run(of, id) {
      if (options.fails?.(id)) throw new Error('broken')
      await of.store.tx((t) => t.table(counters).increment(id, 'value', 1))
    },
    nextDue: async () => null,
  }
  const cron = defineCron({
    name: 'counting',
    schedule: everyMinute,
    deadlineMs: 60_000,
    inHealth: false,
    run: async (call) => {
      await runDueWork([work], call)
      return undefined
    },
  })
  return {
    ...cron,
    async arrange(count: number) {
      batches += 1
      ids = Array.from({ length: count }, (_, i) => `item:${batches}:${i}`)
      await ctx().store.tx(async (t) => {
        for (const id of ids) await t.table(counters).insert({ id, value: 0 })
      })
      return ids
    },
  }
}

async function jobsOf(wallet: Wallet): Promise<number> {
  return (await ctx().store.table(jobs).page('buyer', [wallet], { limit: 10 })).rows.length
}

async function left(kinds: readonly string[]): Promise<number> {
  const counts = await Promise.all(kinds.map((kind) => ctx().store.table(accounts).count('kind', [kind])))
  return counts.reduce((sum, count) => sum + count, 0)
}

/** As if the process had died before it sent anything. */
async function backToReserved(wallet: Wallet): Promise<void> {
  const payment = (await openPayments(market)).find((row) => row.payer === wallet)
  if (!payment) throw new Error('the payment is not open')
  await ctx().store.tx(async (t) => {
    await t.table(payments).getForUpdate(payment.id)
    await t.table(payments).put({ ...payment, state: 'reserved', outcome: null })
  })
}

/** A refund that waits to be paid out, covered by money on the chain. */
async function owe(wallet: Wallet, amount: bigint): Promise<void> {
  const { chain, clock } = ctx()
  await chain.faucet?.({ wallet: chain.payTo, amount: usdc(amount), nowMs: clock.wall() })
  await commit(ctx(), async (t, draw) => {
    const ref = { kind: 'payment', id: 'test' }
    const legs = [{ from: account.ext, to: account.refund(wallet), amount: usdc(amount) }]
    await post(t, draw, { kind: 'refund', ref, legs, at: clock.now() })
    await openRefund(t, draw, { wallet, ref, at: clock.now() })
  })
}

/** As if the wallet had been sanctioned when its refund was due, and were clear since. */
async function blockPayoutOf(wallet: Wallet): Promise<void> {
  await commit(ctx(), async (t, draw) => {
    const open = await openPayoutOf(t, wallet)
    const row = await t.table(payouts).getForUpdate(open?.id ?? '')
    if (!row) throw new Error('no payout is open')
    await applyPayoutStep(t, draw, { row, step: { event: 'block', at: ctx().clock.now(), waitMs: 0 } })
  })
}

/** A reserved balance payment whose request is gone. */
async function strayHold({ id: participantId, wallet }: { id: string; wallet: Wallet }): Promise<string> {
  const amount = usdc(10_000n)
  const id = `balance:stray-${wallet}`
  const at = ctx().clock.now()
  await commit(ctx(), async (t, draw) => {
    const legs = [{ from: account.balance(participantId), to: account.hold(id), amount }]
    await post(t, draw, { kind: 'balance_hold', ref: { kind: 'payment', id }, legs, at })
    const draft = { ...paymentDraft(id, at), payer: wallet, participant_id: participantId, price: amount }
    await t.table(payments).insert({ ...draft, receipt_id: draw.id('receipt') })
  })
  return id
}

function paymentDraft(id: string, at: number): Draft<PaymentRow> {
  return {
    id,
    method: 'balance',
    state: 'reserved',
    open: true,
    payer: toWallet('0x0000000000000000000000000000000000000001'),
    participant_id: null,
    price: usdc(0n),
    settle: 'last',
    endpoint: 'purchaseService',
    input: { params: {}, query: {}, body: {} },
    fingerprint: '',
    idempotency: null,
    receipt_id: '',
    authorization: null,
    terms: null,
    outcome: null,
    transaction: null,
    created_at: at,
    updated_at: at,
  }
}

let scenes = 0

/** Rows on both sides of their age, more than one transaction removes; one key belongs to an open payment. */
async function arrangeOldRows(now: number) {
  scenes += 1
  const names = (word: string, count: number) =>
    Array.from({ length: count }, (_, i) => `${scenes}:${word}:${String(i).padStart(3, '0')}`)
  const [old, young, kept, payment] = [names('old', 210), names('young', 3), `${scenes}:kept`, `balance:kept-${scenes}`]
  const dayOld = now - DAY_MS
  await commit(ctx(), async (t, draw) => {
    for (const { ids, at } of [
      { ids: old, at: dayOld - MINUTE_MS },
      { ids: young, at: dayOld + MINUTE_MS },
    ]) {
      for (const id of ids) {
        await t.table(answers).insert({ id, status: 200, body: '{}', sealed: null, at })
        await t.table(idempotency).insert({ id, payment_id: 'gone', at })
      }
    }
    await t.table(idempotency).insert({ id: kept, payment_id: payment, at: dayOld - MINUTE_MS })
    await t.table(payments).insert({ ...paymentDraft(payment, now), receipt_id: draw.id('receipt') })
  })
  return { old, young, kept, payment }
}

async function close(paymentId: string): Promise<void> {
  await ctx().store.tx(async (t) => {
    const row = await t.table(payments).getForUpdate(paymentId)
    if (row) await t.table(payments).put({ ...row, state: 'released', open: false })
  })
}
