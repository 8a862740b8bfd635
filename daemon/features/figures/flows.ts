import { type Usdc, usdc, ZERO } from '../../../src/core/money.ts'
import { type AccountKind, accountKind, type EntryKind } from '../../../src/model/ledger.ts'
import type { LedgerRow } from '../ledger/rows.ts'
import type { RollupRow } from './rows.ts'

/** Money flows of transactions, in micro-USDC. */
export type Flows = ReturnType<typeof noFlows>

export const noFlows = () => ({
  sales: 0,
  byX402: ZERO,
  byBalance: ZERO,
  atOnce: ZERO,
  toEscrow: ZERO,
  fromEscrow: ZERO,
  providers: ZERO,
  fees: ZERO,
  refunds: ZERO,
  sent: ZERO,
})

/** Entry kinds that count as sales. API fees are paid in too, but are not sales. */
const bought: ReadonlySet<EntryKind> = new Set([
  'escrow_hold',
  'instant_sale',
  'product_sale',
  'subscription',
  'renewal',
])
/** Accounts that a buyer's money comes from. */
const sources: ReadonlySet<AccountKind> = new Set(['ext', 'hold', 'bal'])
/** Revenue accounts of the marketplace; `refp` holds the referral shares, which count as revenue, too. */
const kept: ReadonlySet<AccountKind> = new Set(['fees', 'ops', 'refp', 'oper'])
/** Accounts that receive money returned to a buyer. */
const back: ReadonlySet<AccountKind> = new Set(['bal', 'rfd'])

/** Adds a transaction that pays in, moves money out of escrow or confirms a payout. Ignores all others. */
export function addFlows(flows: Flows, { kind, lines }: Pick<LedgerRow, 'kind' | 'lines'>): void {
  if (kind === 'payout_confirmed') flows.sent = plus(flows.sent, gained(lines, new Set(['ext'])))
  const isPaidIn = bought.has(kind) || kind === 'fixed_price_call'
  const escrow = of(lines, (line) => accountKind(line.account) === 'esc')
  if (!isPaidIn && escrow >= 0n) return
  if (bought.has(kind)) flows.sales += 1
  if (isPaidIn) addPaidIn(flows, lines)
  if (escrow < 0n) flows.fromEscrow = plus(flows.fromEscrow, usdc(-escrow))
  flows.providers = plus(flows.providers, gained(lines, new Set(['prov'])))
  flows.fees = plus(flows.fees, gained(lines, kept))
  if (!isPaidIn) flows.refunds = plus(flows.refunds, gained(lines, back))
}

function addPaidIn(flows: Flows, lines: LedgerRow['lines']): void {
  const paid = usdc(-of(lines, ({ account, delta }) => delta < 0n && sources.has(accountKind(account))))
  const fromChain = lines.some(({ account, delta }) => delta < 0n && accountKind(account) === 'ext')
  if (fromChain) flows.byX402 = plus(flows.byX402, paid)
  else flows.byBalance = plus(flows.byBalance, paid)
  const escrow = of(lines, ({ account, delta }) => delta > 0n && accountKind(account) === 'esc')
  flows.toEscrow = plus(flows.toEscrow, escrow)
  flows.atOnce = plus(flows.atOnce, usdc(paid - escrow))
}

type Line = LedgerRow['lines'][number]

function of(lines: readonly Line[], wanted: (line: Line) => boolean): Usdc {
  return usdc(lines.filter(wanted).reduce((sum, { delta }) => sum + delta, 0n))
}

function gained(lines: readonly Line[], kinds: ReadonlySet<AccountKind>): Usdc {
  return of(lines, ({ account }) => kinds.has(accountKind(account)))
}

function plus(one: Usdc, other: Usdc): Usdc {
  return usdc(one + other)
}

/** Sales and money of an interval, as series show them. */
export type TradeSums = Pick<RollupRow, 'sales' | 'paid_in' | 'providers' | 'fees' | 'refunds'>

export const noTrade = (): TradeSums => ({ sales: 0, paid_in: ZERO, providers: ZERO, fees: ZERO, refunds: ZERO })

export function tradeOf(entry: Pick<LedgerRow, 'kind' | 'lines'>): TradeSums {
  const flows = noFlows()
  addFlows(flows, entry)
  const { sales, byX402, byBalance, providers, fees, refunds } = flows
  return { sales, paid_in: plus(byX402, byBalance), providers, fees, refunds }
}

export function tradeSum(one: TradeSums, other: TradeSums): TradeSums {
  return {
    sales: one.sales + other.sales,
    paid_in: plus(one.paid_in, other.paid_in),
    providers: plus(one.providers, other.providers),
    fees: plus(one.fees, other.fees),
    refunds: plus(one.refunds, other.refunds),
  }
}

/** Escrow balance after the flows, if it was `opening` before. */
export function heldAfter(opening: Usdc, { byX402, byBalance, providers, fees, refunds }: Flows): Usdc {
  return usdc(opening + byX402 + byBalance - providers - fees - refunds)
}
