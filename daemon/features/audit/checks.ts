import { formatAmount } from '../../../src/core/money.ts'
import { accountKind, mayBeNegative, saleKinds } from '../../../src/model/ledger.ts'
import type { LedgerRow } from '../ledger/rows.ts'

/** One check of an audit; `detail` says what was compared, or lists the first faults. */
export type Check = { readonly name: string; readonly ok: boolean; readonly detail: string }

/** Maximum faults listed in full; the rest are only counted. */
const SHOWN_FAULTS = 5

export function checkOf(name: string, compared: string, faults: readonly string[]): Check {
  if (faults.length === 0) return { name, ok: true, detail: compared }
  const rest = faults.length > SHOWN_FAULTS ? `; and ${faults.length - SHOWN_FAULTS} more` : ''
  return { name, ok: false, detail: faults.slice(0, SHOWN_FAULTS).join('; ') + rest }
}

/** Totals recomputed from all transactions in commit order. */
export type Recount = {
  /** Nonzero account balances. */
  readonly sums: Map<string, bigint>
  seq: number
  transactions: number
  firstGap?: string
  /** Revenue: listing fees (referral shares included), and sale prices minus the providers' part. */
  fees: bigint
  /** Earnings of each provider or referrer, by account name. */
  readonly earned: Map<string, bigint>
  readonly faults: Record<'sum' | 'order' | 'negative' | 'sale', string[]>
}

export function newRecount(): Recount {
  return {
    sums: new Map(),
    seq: 0,
    transactions: 0,
    fees: 0n,
    earned: new Map(),
    faults: { sum: [], order: [], negative: [], sale: [] },
  }
}

export function recount(books: Recount, row: LedgerRow): void {
  const { sums, faults } = books
  let sum = 0n
  for (const { account: name, delta } of row.lines) {
    sum += delta
    const balance = (sums.get(name) ?? 0n) + delta
    if (balance === 0n) sums.delete(name)
    else sums.set(name, balance)
    if (balance < 0n && !mayBeNegative(name))
      faults.negative.push(`${row.id} leaves ${name} at ${formatAmount(balance)}`)
  }
  if (sum !== 0n) faults.sum.push(`${row.id} sums to ${formatAmount(sum)}`)
  const place = `${row.id} has number ${row.seq} after ${books.seq}`
  if (row.seq <= books.seq) faults.order.push(place)
  if (row.seq > books.seq + 1) books.firstGap ??= place
  books.seq = row.seq
  books.transactions += 1
  if (saleKinds.has(row.kind)) recountSale(books, row)
}

/** Division of a sale: `agent` left the source, `net` went to the provider, `back` to the buyer, `fee` was kept. */
export type Division = { readonly agent: bigint; readonly net: bigint; readonly back: bigint; readonly fee: bigint }

export function divisionOf(row: Pick<LedgerRow, 'kind' | 'lines'>): Division {
  const division = { agent: 0n, net: 0n, back: 0n, fee: 0n }
  for (const { account: name, delta } of row.lines) {
    if (delta < 0n) division.agent -= delta
    else division[partOf(name, row.kind)] += delta
  }
  return division
}

/** The part of a sale that an account receives. After a reverted payment, `oper` receives the buyer's part. */
function partOf(name: string, of: LedgerRow['kind']): 'net' | 'back' | 'fee' {
  const kind = accountKind(name)
  if (kind === 'oper' && of === 'dispute_split') return 'back'
  if (kind === 'prov') return 'net'
  return kind === 'bal' || kind === 'rfd' ? 'back' : 'fee'
}

const keptKinds: ReadonlySet<string> = new Set(['fees', 'refp'])

const earningKinds: ReadonlySet<string> = new Set(['prov', 'refp'])

function recountEarned({ earned }: Recount, row: LedgerRow): void {
  for (const { account: name, delta } of row.lines) {
    if (delta > 0n && earningKinds.has(accountKind(name))) earned.set(name, (earned.get(name) ?? 0n) + delta)
  }
}

function recountSale(books: Recount, row: LedgerRow): void {
  recountEarned(books, row)
  const { agent, net, back, fee } = divisionOf(row)
  books.fees += fee
  if (fee !== agent - back - net)
    books.faults.sale.push(`${row.id}: fee ${formatAmount(fee)} of price ${formatAmount(agent)} is out of range`)
  const stranger = row.lines.find(
    (line) => line.delta > 0n && partOf(line.account, row.kind) === 'fee' && !keptKinds.has(accountKind(line.account)),
  )
  if (stranger) books.faults.sale.push(`${row.id} pays ${stranger.account}, which has no part in the sale`)
}

/** Describes the difference between a sale in the books and its job or purchase record; undefined if there is none. */
export function saleFault(
  row: Pick<LedgerRow, 'id' | 'kind' | 'lines'>,
  sold: { readonly amount: bigint; readonly provider_amount: bigint; readonly fee: bigint } | undefined,
): string | undefined {
  if (!sold) return `${row.id} refers to a missing record`
  const { agent, net, back, fee } = divisionOf(row)
  const isWhole = row.kind !== 'dispute_split'
  if (agent !== sold.amount)
    return `${row.id} took ${formatAmount(agent)}, but its record has ${formatAmount(sold.amount)}`
  if (sold.fee !== sold.amount - sold.provider_amount) return `the fee of ${row.id} differs from its record`
  if (isWhole && (back !== 0n || net !== sold.provider_amount || fee !== sold.fee)) {
    return `${row.id} splits ${formatAmount(agent)} differently from its record`
  }
  return undefined
}

/** Number of the last transaction, and how many transactions were removed because their hold was released. */
export type Numbering = { readonly last: number; readonly forgotten: number }

function gapFault({ transactions, seq, firstGap }: Recount, { last, forgotten }: Numbering): string[] {
  const missing = last - transactions
  if (missing === forgotten) return []
  const place = firstGap ?? `the counter is ${seq}, but the last entry is ${last}`
  return [`${missing} numbers are missing, ${forgotten} of them from released holds; the first: ${place}`]
}

/** Checks that need only the recomputed totals and the numbering of the transactions. */
export function booksChecks(books: Recount, numbering: Numbering): Check[] {
  const { faults, transactions, fees } = books
  const all = `${transactions} transactions`
  const order = [...faults.order, ...gapFault(books, numbering)]
  return [
    checkOf('zero_sum', `${all} sum to zero each`, faults.sum),
    checkOf('order', `${all} are numbered without gaps (except ${numbering.forgotten} released holds)`, order),
    checkOf('negative', 'no account except ext and cold was ever negative', faults.negative),
    checkOf('fees', `fees from sales: ${formatAmount(fees)} (payments less provider earnings)`, faults.sale),
  ]
}

export type ChainFacts = {
  readonly ext: bigint
  /** Token balance of `pay_to` plus money held by the escrow contract. */
  readonly onChain: bigint
  /** Payments settled on the chain but not yet posted to the books. */
  readonly unposted: bigint
  /** Losses from reverted payments that earnings do not cover yet. */
  readonly uncovered: bigint
  /** Payouts, found after a restore, that the books do not owe yet. */
  readonly advanced: bigint
  /** Payouts sent but not confirmed yet. */
  readonly sent: bigint
  /** What lies at the cold address, or is on its way there. */
  readonly cold: bigint
  /** Job money that an external call released from the contract, while that call is not final. */
  readonly awaited: bigint
}

/** The negative of `ext` must equal the on-chain money, adjusted for money in transit. */
export function chainCheck({ ext, onChain, unposted, uncovered, advanced, sent, cold, awaited }: ChainFacts): Check {
  const most = -ext + unposted - uncovered - advanced
  const faults: string[] = []
  if (uncovered > 0n) {
    faults.push(`the chain reverted payments: earnings do not cover ${formatAmount(uncovered)}`)
  }
  if (onChain > most || onChain < most - sent - awaited) {
    faults.push(
      `the chain holds ${formatAmount(onChain)}, the ledger expects ${formatAmount(most)} less at most ${formatAmount(sent + awaited)}`,
    )
  }
  const young =
    awaited > 0n ? `, except at most ${formatAmount(awaited)} released by external calls that are not final yet` : ''
  const ahead = advanced > 0n ? `, ${formatAmount(advanced)} of payouts set off against the next ones` : ''
  const away = cold > 0n ? `, and ${formatAmount(cold)} went to the cold address` : ''
  const detail = `the chain holds ${formatAmount(onChain)}, as the ledger expects${ahead}${young}${away}`
  return checkOf('chain', detail, faults)
}
