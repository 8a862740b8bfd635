import { type Usdc, usdc } from '../../../src/core/money.ts'
import { tableOf } from '../../../src/core/record.ts'
import { MINUTE_MS } from '../../../src/core/time.ts'
import { type GasAct, gasActs, type SaleCostKind, saleCostKinds } from '../../../src/model/payment.ts'
import type { Context } from '../../kernel/context.ts'
import { type ChainTransaction, isOwn } from '../../ports/chain/chain.ts'
import { eachPage } from '../../store/each-page.ts'
import { split } from '../ledger/legs.ts'
import { type LedgerRow, ledger } from '../ledger/rows.ts'

const PAGE_ROWS = 100
/** Maximum transactions, and ledger rows, of one report. Beyond them, the report covers less time. */
const MAX_ROWS = 10_000
const WEI_AN_ETHER = 10n ** 18n
/** A price grows by steps of this many micro-USDC. */
const STEP = 1_000n
const MAX_PRICE = 10_000_000_000n
/** Gas of an act in relation to a transfer, as long as none was measured. */
const WEIGHTS: Readonly<Record<GasAct, bigint>> = { sale: 1n, payout: 1n, escrow: 2n, other: 2n }

/** Acts that a sale of each kind causes, at most; payouts of several sales share one. */
export const actsOf: Readonly<Record<SaleCostKind, readonly GasAct[]>> = {
  first_party: ['sale'],
  instant: ['sale', 'payout'],
  escrowed: ['sale', 'escrow', 'escrow', 'payout'],
  balance: ['payout'],
}

type Spent = { count: number; wei: bigint }
export type GasReport = Awaited<ReturnType<typeof gasReport>>

/** Gas of own transactions since a time, by act, and the fees earned in that time. `from` is where the report begins. */
export async function gasReport(ctx: Pick<Context, 'chain' | 'store'>, since: number) {
  const acts = tableOf(gasActs, (): Spent => ({ count: 0, wei: 0n }))
  let [wei, from] = [0n, since]
  for (let offset = 0, isMore = true; isMore; offset += PAGE_ROWS) {
    const { rows, total } = await ctx.chain.transactions.page({ isOpen: false, limit: PAGE_ROWS, offset })
    const recent = rows.filter(({ sentAt }) => sentAt >= since)
    for (const row of recent) wei += addTo(acts, row, (wallet) => isOwn(ctx.chain, wallet))
    isMore = recent.length === rows.length && offset + PAGE_ROWS < total
    if (isMore && offset + PAGE_ROWS >= MAX_ROWS) [from, isMore] = [recent.at(-1)?.sentAt ?? from, false]
  }
  return { from, acts, wei, fees: await feesSince(ctx, from) }
}

/** Adds the gas of a transaction to its acts; transfers share it. @returns the gas */
function addTo(
  acts: Readonly<Record<GasAct, Spent>>,
  row: ChainTransaction,
  isOurs: (wallet: string) => boolean,
): bigint {
  const cost = row.included?.costWei
  if (cost === undefined) return 0n
  const { call, transfers } = row
  const done: GasAct[] =
    call === null
      ? transfers.map(({ from, to }) => (isOurs(to) && !isOurs(from) ? 'sale' : 'payout'))
      : [/^(deposit|escrow):/.test(call) ? 'escrow' : 'other']
  for (const act of done) {
    acts[act].count += 1
    acts[act].wei += cost / BigInt(done.length)
  }
  return cost
}

async function feesSince({ store }: Pick<Context, 'store'>, since: number): Promise<Usdc> {
  let [sum, rows] = [0n, 0]
  const part = { index: 'at', prefix: [], limit: PAGE_ROWS, order: 'desc' } as const
  for await (const page of eachPage(store.table(ledger), part)) {
    const recent = page.filter(({ at }) => at >= since)
    sum += recent.flatMap(({ lines }) => lines).reduce((all, line) => all + feeOf(line), 0n)
    rows += page.length
    if (recent.length < page.length || rows >= MAX_ROWS) break
  }
  return usdc(sum)
}

function feeOf({ account, delta }: LedgerRow['lines'][number]): bigint {
  return delta > 0n && (account === 'fees' || account === 'ops') ? delta : 0n
}

/** Average gas of an act in wei: measured, else by the gas price of the node; null if both are unknown. */
export function weiOf({ chain }: Pick<Context, 'chain'>, { acts }: GasReport, act: GasAct): bigint | null {
  const { count, wei } = acts[act]
  if (count > 0) return wei / BigInt(count)
  const { sale } = acts
  if (sale.count > 0) return (WEIGHTS[act] * sale.wei) / BigInt(sale.count)
  const gas = chain.status?.().gas
  return gas && gas.payments > 0 ? (WEIGHTS[act] * gas.wei) / BigInt(gas.payments) : null
}

/** Value of gas in USDC, rounded up; null without a price of ETH. */
export function gasValue({ config: { ethPrice } }: Pick<Context, 'config'>, wei: bigint | null): Usdc | null {
  if (ethPrice === undefined || wei === null) return null
  return usdc((wei * ethPrice + WEI_AN_ETHER - 1n) / WEI_AN_ETHER)
}

export type SaleCost = { readonly cost: Usdc | null; readonly breakEven: Usdc | null }

/** For each kind of sale: the value of its gas, and the smallest price whose fee covers it. */
export function saleCosts(ctx: Pick<Context, 'chain' | 'config'>, report: GasReport): Record<SaleCostKind, SaleCost> {
  return tableOf(saleCostKinds, (kind) => {
    const all = actsOf[kind].map((act) => weiOf(ctx, report, act))
    const cost = gasValue(ctx, all.includes(null) ? null : all.reduce<bigint>((sum, wei) => sum + (wei ?? 0n), 0n))
    return { cost, breakEven: cost === null ? null : breakEvenOf(kind, cost) }
  })
}

/** A first-party sale earns its whole price. Any other sale earns its fee, which grows with the price. */
function breakEvenOf(kind: SaleCostKind, cost: Usdc): Usdc {
  const covers = (price: bigint) => (kind === 'first_party' ? price : split('third_party', usdc(price)).fee) >= cost
  let [low, high] = [1n, MAX_PRICE / STEP]
  while (low < high) {
    const middle = (low + high) / 2n
    if (covers(middle * STEP)) high = middle
    else low = middle + 1n
  }
  return usdc(low * STEP)
}

/** A report costs reads of many rows, so it is kept for this time. */
const KEEP_MS = 10 * MINUTE_MS
type Kept = Map<number, { readonly at: number; readonly report: Promise<GasReport> }>
const kept = new WeakMap<Context, Kept>()

/** The report of the last `span` milliseconds, at most `KEEP_MS` old. */
export function recentGas(ctx: Context, span: number): Promise<GasReport> {
  const reports: Kept = kept.get(ctx) ?? new Map()
  kept.set(ctx, reports)
  const [now, last] = [ctx.clock.wall(), reports.get(span)]
  if (last && now - last.at < KEEP_MS) return last.report
  const report = gasReport(ctx, now - span)
  reports.set(span, { at: now, report })
  report.catch(() => reports.delete(span))
  return report
}
