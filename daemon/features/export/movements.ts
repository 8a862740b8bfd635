import type { StatementPeriod, StatementRow } from '../../../src/api/sections/books.ts'
import { type Usdc, usdc, ZERO } from '../../../src/core/money.ts'
import { type StatementAccount, saleKinds, statementAccounts } from '../../../src/model/ledger.ts'
import type { Context } from '../../kernel/context.ts'
import { type ParticipantRow, participants } from '../../kernel/rows.ts'
import { eachPage } from '../../store/each-page.ts'
import type { ReadTx } from '../../store/port.ts'
import { type EarningRow, earnings, history, type LedgerRow, ledger } from '../ledger/rows.ts'
import { payments } from '../payments/rows.ts'
import { type PayoutRow, payouts } from '../payouts/rows.ts'
import { type Deal, dealOf, type Ref, type SaleParts, saleParts } from './deals.ts'
import { listed, merged, PAGE_ROWS } from './walk.ts'

type Facts = Partial<SaleParts> & {
  readonly at: number
  readonly account: StatementAccount
  readonly type: string
  readonly net: Usdc
  readonly ref: Ref
  /** (default: the other side of the deal) */
  readonly counterparty?: string | null
}

const soldAccounts: ReadonlySet<StatementAccount> = new Set(['earnings', 'ops'])

/** @param owner - whose statement it is; null: the operator's */
async function movementOf(t: ReadTx, owner: string | null, facts: Facts): Promise<StatementRow> {
  const { at, account, type, net, ref, fee = ZERO, refund = ZERO } = facts
  const deal = await dealOf(t, ref)
  const other = facts.counterparty === undefined ? otherSide(deal, facts) : facts.counterparty
  const counterparty = other === owner ? null : other
  const named = counterparty === null ? undefined : await t.table(participants).get(counterparty)
  const size = net < 0n ? usdc(-net) : net
  return {
    ...{ date: at, account, type, fee, refund, net, reference: ref, gas_wei: null },
    counterparty,
    counterparty_name: named?.name ?? null,
    gross: facts.gross ?? (refund > 0n ? ZERO : size),
    transaction: deal.transaction,
    receipt_id: deal.receipt,
  }
}

/** For a call of the marketplace, its reference may be somebody else's sale, whose sides did not pay for the call. */
function otherSide({ buyer, seller }: Deal, { account, ref }: Facts): string | null {
  if (account === 'ops' && ref.kind !== 'receipt' && ref.kind !== 'participant') return null
  return soldAccounts.has(account) ? buyer : seller
}

function isIn({ from = 0, to = Number.POSITIVE_INFINITY }: StatementPeriod, at: number): boolean {
  return at >= from && at < to
}

const refOf = (row: { readonly ref_kind: string; readonly ref_id: string }) => ({ kind: row.ref_kind, id: row.ref_id })
const ownId = ({ id }: ParticipantRow) => [id]
const ownWallet = ({ wallet }: ParticipantRow) => [wallet]

const balanceRows = listed(
  { collection: history, index: 'participant', prefix: ownId },
  async (row, { t, who, period }) => {
    const { at, type, amount: net } = row
    if (!isIn(period, at)) return []
    const refund = type === 'refund' || type === 'release' ? net : ZERO
    const moved = await movementOf(t, who.id, { at, account: 'balance', type, net, refund, ref: refOf(row) })
    return type === 'referral' ? [{ ...moved, account: 'referrals' as const, net: usdc(-net) }, moved] : [moved]
  },
)

const saleRows = listed(
  { collection: earnings, index: 'own', prefix: ({ id }) => [id, 'sales'] },
  async (row, { t, who, period }) => {
    if (!isIn(period, row.at)) return []
    const entry = await t.table(ledger).get(row.transaction_id)
    const facts = { ...(entry && saleParts(entry)), ...earned(row), account: 'earnings', type: 'sale' } as const
    return [await movementOf(t, who.id, facts)]
  },
)

const rewardRows = listed(
  { collection: earnings, index: 'own', prefix: ({ id }) => [id, 'referrals'] },
  async (row, { t, who, period }) => {
    if (!isIn(period, row.at)) return []
    const facts = { ...earned(row), account: 'referrals', type: 'referral', counterparty: row.referred_id } as const
    return [await movementOf(t, who.id, facts)]
  },
)

function earned(row: EarningRow) {
  return { at: row.at, net: row.amount, ref: refOf(row) }
}

const payoutRows = listed(
  { collection: payouts, index: 'wallet', prefix: ownWallet },
  async (row, { t, who, period }) => {
    const facts = payoutFacts(row)
    if (facts === undefined || !isIn(period, row.created_at)) return []
    const { id, created_at: at, kind: type } = row
    return [await movementOf(t, who.id, { ...facts, at, type, ref: { kind: 'payout', id } })]
  },
)

/**
 * The effect of a payout. Money from earnings counts from its opening, unless it went back; money to the wallet when it
 * has arrived. The balance history has the payouts of the balance.
 */
function payoutFacts({ source, amount, status, blocked }: PayoutRow) {
  const [kind] = source.split(':')
  if (kind === 'bal' || (status === 'failed' && !blocked)) return undefined
  if (kind === 'prov') return { account: 'earnings', net: usdc(-amount) } as const
  if (kind === 'ref') return { account: 'referrals', net: usdc(-amount) } as const
  if (status !== 'confirmed') return undefined
  return { account: 'wallet', net: amount, refund: kind === 'rfd' ? amount : ZERO } as const
}

const paidStates: ReadonlySet<string> = new Set(['settled', 'fulfilled', 'refunded'])

const paymentRows = listed(
  { collection: payments, index: 'payer', prefix: ownWallet },
  async ({ method, state, endpoint, created_at: at, price, receipt_id: id }, { t, who, period }) => {
    // The balance history has the deposits.
    const isMeant = method === 'x402' && paidStates.has(state) && endpoint !== 'deposit'
    if (!isMeant || !isIn(period, at)) return []
    const facts = { at, account: 'wallet', type: 'purchase', net: usdc(-price), ref: { kind: 'receipt', id } } as const
    return [await movementOf(t, who.id, facts)]
  },
)

/** The statement of a participant: all changes of its accounts, by date. */
export const movements = merged(balanceRows, saleRows, rewardRows, payoutRows, paymentRows)

type Operators = { readonly ctx: Context; readonly period: StatementPeriod }

/** The statement of the operator: all changes of its accounts by date, then the gas of known transactions. */
export async function* operatorMovements({ ctx, period }: Operators): AsyncGenerator<readonly StatementRow[]> {
  const beyond = period.from === undefined ? {} : { beyond: [period.from - 1] }
  const part = { index: 'at', prefix: [], limit: PAGE_ROWS, order: 'asc', ...beyond } as const
  for await (const rows of eachPage(ctx.store.table(ledger), part)) {
    const meant = rows.filter(({ at }) => isIn(period, at))
    yield await ctx.store.read(async (t) => {
      const all: StatementRow[] = []
      for (const row of meant) all.push(...(await operatorsIn(t, row)))
      return all
    })
    if (meant.length < rows.length) break
  }
  yield* gasIn(ctx, period)
}

async function operatorsIn(t: ReadTx, row: LedgerRow): Promise<StatementRow[]> {
  const sale = saleKinds.has(row.kind) ? saleParts(row) : undefined
  const found: StatementRow[] = []
  for (const { account: name, delta: net } of row.lines) {
    const account = statementAccounts.find((one) => one === name)
    if (account === undefined) continue
    const parts = account === 'fees' ? { ...sale, net } : { net }
    found.push(await movementOf(t, null, { ...parts, at: row.at, account, type: row.kind, ref: refOf(row) }))
  }
  return found
}

async function* gasIn({ chain }: Context, period: StatementPeriod): AsyncGenerator<readonly StatementRow[]> {
  for (let offset = 0, total = 1; offset < total; offset += PAGE_ROWS) {
    const page = await chain.transactions?.page({ isOpen: false, limit: PAGE_ROWS, offset })
    total = page?.total ?? 0
    yield (page?.rows ?? []).flatMap(({ id, included }) => {
      if (included?.costWei === undefined || !isIn(period, included.at)) return []
      const nobody = { counterparty: null, counterparty_name: null, receipt_id: null }
      const sums = { gross: ZERO, fee: ZERO, refund: ZERO, net: ZERO, gas_wei: String(included.costWei) }
      const reference = { kind: 'chain_transaction', id }
      const what = { date: included.at, account: 'oper', type: 'gas', transaction: included.hash } as const
      return [{ ...what, ...nobody, ...sums, reference }]
    })
  }
}
