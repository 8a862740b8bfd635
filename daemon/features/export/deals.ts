import { type Usdc, usdc, ZERO } from '../../../src/core/money.ts'
import { ownOf } from '../../../src/core/record.ts'
import { type AccountKind, accountKind } from '../../../src/model/ledger.ts'
import type { ReadTx } from '../../store/port.ts'
import { jobs } from '../jobs/rows.ts'
import { type LedgerRow, ledger } from '../ledger/rows.ts'
import { type PaymentRow, payments } from '../payments/rows.ts'
import { payouts } from '../payouts/rows.ts'
import { purchases } from '../products/rows.ts'
import { subscriptions } from '../subscriptions/rows.ts'

export type Ref = { readonly kind: string; readonly id: string }

/** What was sold, and between whom. Buyer and seller are participant ids, or the wallet of an unregistered buyer. */
export type Deal = {
  readonly name: string | null
  readonly buyer: string | null
  /** null: the marketplace. */
  readonly seller: string | null
  readonly receipt: string | null
  readonly transaction: string | null
}

const NO_DEAL: Deal = { name: null, buyer: null, seller: null, receipt: null, transaction: null }

type SoldRow = Pick<PaymentRow, 'receipt_id' | 'transaction'> & {
  readonly provider_id: string
  readonly buyer_wallet: string
}

function sold(row: SoldRow, name: string, buyerId: string | null): Deal {
  const { provider_id: seller, buyer_wallet, receipt_id: receipt, transaction } = row
  return { name, buyer: buyerId ?? buyer_wallet, seller, receipt, transaction }
}

/** How the object of each kind of reference is read. */
const readers: Readonly<Record<string, (t: ReadTx, id: string) => Promise<Deal | undefined>>> = {
  job: async (t, id) => {
    const row = await t.table(jobs).get(id)
    return row && sold(row, row.service_name, row.buyer_id)
  },
  purchase: async (t, id) => {
    const row = await t.table(purchases).get(id)
    return row && sold(row, row.product_name, row.buyer_id)
  },
  subscription: async (t, id) => {
    const row = await t.table(subscriptions).get(id)
    return row && sold(row, row.plan_name, row.participant_id)
  },
  receipt: async (t, id) => ofPayment(t, await paymentOfReceipt(t, id)),
  payment: async (t, id) => ofPayment(t, await t.table(payments).get(id)),
  payout: async (t, id) => {
    const row = await t.table(payouts).get(id)
    return row && { ...NO_DEAL, buyer: row.wallet, seller: row.wallet, transaction: row.transaction }
  },
  participant: async (_, id) => ({ ...NO_DEAL, buyer: id, seller: id }),
}

/** The deal behind a reference. All members are null if there is none. */
export async function dealOf(t: ReadTx, { kind, id }: Ref): Promise<Deal> {
  return (await ownOf(readers, kind)?.(t, id)) ?? NO_DEAL
}

export async function paymentOfReceipt(t: ReadTx, id: string): Promise<PaymentRow | undefined> {
  return (await t.table(payments).page('receipt', [id], { limit: 1 })).rows[0]
}

async function ofPayment(t: ReadTx, payment: PaymentRow | undefined): Promise<Deal | undefined> {
  if (!payment) return undefined
  const { receipt_id: receipt, transaction, participant_id, payer, endpoint } = payment
  const { ref } = await boughtBy(t, payment)
  const { name, seller } = ref === null ? NO_DEAL : await dealOf(t, ref)
  return { name: name ?? endpoint, seller, receipt, transaction, buyer: participant_id ?? payer }
}

export type Bought = { readonly entry: LedgerRow | undefined; readonly ref: Ref | null }

/** The ledger entry that a payment paid for, and what was bought; null if the marketplace itself was paid. */
export async function boughtBy(t: ReadTx, payment: PaymentRow): Promise<Bought> {
  const entry = payment.entry === undefined ? undefined : await t.table(ledger).get(payment.entry)
  if (entry) {
    const isOwn = entry.kind === 'fixed_price_call' || entry.kind === 'deposit'
    return { entry, ref: isOwn ? null : { kind: entry.ref_kind, id: entry.ref_id } }
  }
  const [job] = (await t.table(jobs).page('payment', [payment.id], { limit: 1 })).rows
  return { entry, ref: job ? { kind: 'job', id: job.id } : null }
}

export type SaleParts = { readonly gross: Usdc; readonly fee: Usdc; readonly refund: Usdc; readonly net: Usdc }

const payingKinds: readonly AccountKind[] = ['ext', 'bal', 'hold', 'esc']
const refundKinds: readonly AccountKind[] = ['bal', 'rfd', 'oper']

/** Divides a sale's entry (see `saleKinds`). The fee includes the referral shares that were paid from it. */
export function saleParts({ lines }: LedgerRow): SaleParts {
  const sum = (kinds: readonly AccountKind[], sign: 1n | -1n) =>
    lines.reduce<Usdc>((all, { account, delta }) => {
      const isMeant = kinds.includes(accountKind(account)) && delta * sign > 0n
      return isMeant ? usdc(all + delta * sign) : all
    }, ZERO)
  const [gross, refund, net] = [sum(payingKinds, -1n), sum(refundKinds, 1n), sum(['prov'], 1n)]
  return { gross, refund, net, fee: usdc(gross - refund - net) }
}
