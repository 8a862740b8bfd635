import { CALL_HOURS } from '../../../src/api/sections/admin-figures.ts'
import { type Usdc, usdc, ZERO } from '../../../src/core/money.ts'
import { keptIn, tableOf } from '../../../src/core/record.ts'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../../src/core/time.ts'
import { type AccountKind, accountKind, accountKinds } from '../../../src/model/ledger.ts'
import { type Context, defineResource } from '../../kernel/context.ts'
import type { Clock } from '../../ports/clock.ts'
import { eachPage } from '../../store/each-page.ts'
import { type ReadTx, type Store, writtenRow } from '../../store/port.ts'
import { lastSeq } from '../ledger/post.ts'
import { accounts, type LedgerRow, ledger } from '../ledger/rows.ts'
import { answers, payments } from '../payments/rows.ts'
import { addFlows, type Flows, heldAfter, noFlows } from './flows.ts'
import { createRing, type Ring } from './ring.ts'

type Paid = { readonly times: number; readonly amount: Usdc }

/** Payments by endpoint and hour of wall time, since the daemon started. */
type PaidFigures = { readonly within: (endpoint: string, hours: number) => Paid }

export const paidFigures = defineResource<PaidFigures>('paid-figures')

type Sources = { readonly store: Pick<Store, 'subscribe'>; readonly clock: Pick<Clock, 'wall'> }

const hourly = { intervalMs: HOUR_MS, length: CALL_HOURS }
const unpaid: Paid = { times: 0, amount: ZERO }

function paidSum(one: Paid, other: Paid): Paid {
  return { times: one.times + other.times, amount: usdc(one.amount + other.amount) }
}

export function openPaidFigures({ store, clock }: Sources): PaidFigures & { close(): void } {
  const rows = new Map<string, Ring<Paid>>()

  const close = store.subscribe(({ writes }) => {
    // A response is stored once, so a payment counts once.
    const served = new Set(writes.flatMap((write) => writtenRow(answers, write)?.id ?? []))
    if (served.size === 0) return
    for (const write of writes) {
      const payment = writtenRow(payments, write)
      // A call that a subscription period paid for is not a new sale.
      if (payment?.state !== 'fulfilled' || payment.method === 'subscription' || !served.has(payment.id)) continue
      const ring = keptIn(rows, payment.endpoint, () => createRing({ ...hourly, none: () => unpaid, plus: paidSum }))
      ring.change(clock.wall(), (held) => paidSum(held, { times: 1, amount: payment.price }))
    }
  })

  return { close, within: (endpoint, hours) => rows.get(endpoint)?.sum(clock.wall(), hours) ?? unpaid }
}

const SCAN_ROWS = 500
/** Interval at which the running sums are compared with the accounts. */
const CHECK_EVERY_MS = 15 * SECOND_MS
/** Maximum transactions buffered while the day is read for the first time. */
const MAX_WAITING = 10_000

export type Books = Readonly<Record<AccountKind, Usdc>>

export type DaySums = {
  /** Business time. */
  readonly begins: number
  readonly opening: Usdc
  readonly flows: Flows
  readonly held: Usdc
  /** Totals by account kind. */
  readonly books: Books
  readonly agrees: boolean
  /** Wall time. */
  readonly checkedAt: number | null
}

/** Money flows of a day, from durable transactions. */
export type MoneyFigures = {
  /** Sums of the current day of business time, read from the books on first use. */
  readonly day: () => Promise<DaySums>
}

export const moneyFigures = defineResource<MoneyFigures>('money-figures')

type Day = { begins: number; opening: Usdc; flows: Flows; books: Record<AccountKind, Usdc>; seq: number }

type Checked = { readonly agrees: boolean; readonly at: number }

export function openMoneyOf(ctx: Context): void {
  const money = openMoneyFigures(ctx)
  moneyFigures.open(ctx, money, money.close)
  const paid = openPaidFigures(ctx)
  paidFigures.open(ctx, paid, paid.close)
}

export function openMoneyFigures({ store, clock }: { store: Store; clock: Clock }): MoneyFigures & { close(): void } {
  let day: Day | undefined
  let reading: Promise<Day> | undefined
  let waiting: LedgerRow[] = []
  let checked: Checked | undefined

  const close = store.subscribe(({ writes }) => {
    for (const write of writes) {
      const entry = writtenRow(ledger, write)
      if (!entry) continue
      if (day) take(day, entry)
      else if (reading && waiting.length < MAX_WAITING) waiting.push(entry)
    }
  })

  async function today(): Promise<Day> {
    if (day) return day
    reading ??= store.read((t) => readDay(t, midnight(clock.now())))
    const read = await reading
    if (!day) {
      for (const entry of waiting) take(read, entry)
      waiting = []
      day = read
      reading = undefined
    }
    return day
  }

  /** Compares the running sums with the accounts; undefined if the two reflect different commits. */
  async function check({ opening, flows, books: { prov: owed }, seq }: Day): Promise<Checked | undefined> {
    const sums = await store.read(async (t) => ({
      escrow: await sumOf(t, 'esc'),
      owed: await sumOf(t, 'prov'),
      seq: await lastSeq(t),
    }))
    if (sums.seq !== seq) return undefined
    return { agrees: heldAfter(opening, flows) === sums.escrow && owed === sums.owed, at: clock.wall() }
  }

  return {
    close,
    async day() {
      const known = await today()
      turn(known, midnight(clock.now()))
      const { begins, opening, flows, books } = { ...known, flows: { ...known.flows }, books: { ...known.books } }
      if (!checked || clock.wall() - checked.at >= CHECK_EVERY_MS) checked = (await check(known)) ?? checked
      const { agrees, at } = checked ?? { agrees: true, at: null }
      return { begins, opening, flows, held: heldAfter(opening, flows), books, agrees, checkedAt: at }
    },
  }
}

function midnight(at: number): number {
  return at - (at % DAY_MS)
}

/** Starts a new day, with the escrow that the earlier day left. Does nothing if `begins` is the current day. */
function turn(day: Day, begins: number): void {
  if (begins === day.begins) return
  day.opening = heldAfter(day.opening, day.flows)
  day.flows = noFlows()
  day.begins = begins
}

function take(day: Day, entry: LedgerRow): void {
  if (entry.seq <= day.seq) return
  day.seq = entry.seq
  if (midnight(entry.at) > day.begins) turn(day, midnight(entry.at))
  addFlows(day.flows, entry)
  for (const { account, delta } of entry.lines) {
    const kind = accountKind(account)
    day.books[kind] = usdc(day.books[kind] + delta)
  }
}

/** Reads today's figures so far. The opening escrow is the current escrow minus today's net change. */
async function readDay(t: ReadTx, begins: number): Promise<Day> {
  const flows = noFlows()
  const since = { index: 'at', prefix: [], limit: SCAN_ROWS, beyond: [begins - 1] }
  for await (const rows of eachPage(t.table(ledger), since)) for (const row of rows) addFlows(flows, row)
  const books = await booksOf(t)
  const moved = heldAfter(ZERO, flows)
  return { begins, opening: usdc(books.esc - moved), flows, books, seq: await lastSeq(t) }
}

async function booksOf(t: ReadTx): Promise<Day['books']> {
  const books = tableOf(accountKinds, () => ZERO)
  for (const kind of accountKinds) books[kind] = await sumOf(t, kind)
  return books
}

async function sumOf(t: ReadTx, kind: AccountKind): Promise<Usdc> {
  let sum = 0n
  for await (const rows of eachPage(t.table(accounts), { index: 'kind', prefix: [kind], limit: SCAN_ROWS })) {
    for (const { balance } of rows) sum += balance
  }
  return usdc(sum)
}
