import { z } from 'zod'
import {
  type booksAdminApi,
  type booksApi,
  type Receipt,
  receiptStates,
  type StatementPeriod,
} from '../../../src/api/sections/books.ts'
import {
  ExportEnd,
  type ExportKind,
  ExportStart,
  type exportApi,
  exportKinds,
  exportRecords,
} from '../../../src/api/sections/export.ts'
import { existing, invalidField } from '../../../src/core/error.ts'
import { checksumAddress, type Wallet } from '../../../src/core/hex.ts'
import { formatAmount, ZERO } from '../../../src/core/money.ts'
import { compact, pick } from '../../../src/core/record.ts'
import { saleKinds } from '../../../src/model/ledger.ts'
import type { FreeHandlers, Streamed } from '../../endpoint/handler.ts'
import { factTable, type Html, html, page } from '../../endpoint/html.ts'
import type { Context } from '../../kernel/context.ts'
import { type ParticipantRow, participantOfWallet, participants } from '../../kernel/rows.ts'
import type { ReadTx } from '../../store/port.ts'
import { jobs } from '../jobs/rows.ts'
import { type LedgerRow, ledger } from '../ledger/rows.ts'
import type { PaymentRow } from '../payments/rows.ts'
import { type Bought, boughtBy, dealOf, paymentOfReceipt, saleParts } from './deals.ts'
import { operatorMovements } from './movements.ts'
import { exportSources } from './sources.ts'

export type Exporting = {
  /** null: the operator, who has movements only. */
  readonly who: ParticipantRow | null
  readonly now: number
  readonly kinds: readonly ExportKind[]
  readonly period?: StatementPeriod
}

/**
 * All records of one participant as lines, in the form of `getExport`. Each page is one short read, so other requests
 * continue. Only durable data is sent.
 * @throws Error if the daemon stops. The export then has no last line.
 */
export async function* exportLines(ctx: Context, { who, now, kinds, period = {} }: Exporting): AsyncGenerator<string> {
  yield line('export', z.encode(ExportStart, startOf(who, now)))
  const counts: Partial<Record<ExportKind, number>> = {}
  let records = 0
  for (const kind of kinds) {
    let count = 0
    const pages = who ? exportSources[kind].pages({ ctx, who, now, period }) : operatorMovements({ ctx, period })
    for await (const page of pages) {
      await ctx.store.durable()
      if (ctx.stopping.aborted) throw new Error('the daemon stopped before the export was complete')
      count += page.length
      if (page.length > 0) yield page.map((record) => line(kind, z.encode(exportRecords[kind], record))).join('')
    }
    counts[kind] = count
    records += count
  }
  yield line('end', z.encode(ExportEnd, { records, counts }))
}

function startOf(who: ParticipantRow | null, as_of: number): z.output<typeof ExportStart> {
  if (who === null) return { as_of, participant_id: null }
  return { as_of, participant_id: who.id, ...compact({ tax: who.tax ?? undefined }) }
}

function line(kind: ExportKind | 'export' | 'end', record: unknown): string {
  return `${JSON.stringify({ kind, record })}\n`
}

function periodOf({ from, to }: StatementPeriod): StatementPeriod {
  if (from !== undefined && to !== undefined && from >= to) throw invalidField('to', 'must be after from')
  return { from, to }
}

const exportHandlers: FreeHandlers<typeof exportApi & typeof booksAdminApi> = {
  getExport: async ({ query }, { ctx, caller, now }) => {
    const wanted = new Set<ExportKind>(query.only === undefined ? exportKinds : (query.only.split(',') as ExportKind[])) // held to the kinds by the row
    const kinds = exportKinds.filter((kind) => wanted.has(kind))
    return exported(ctx, { who: caller, now, kinds, period: periodOf(query) })
  },

  getStatement: async ({ query }, { ctx, now }) => {
    const { participant: id } = query
    const period = periodOf(query)
    const who = id === undefined ? null : existing(await ctx.store.table(participants).get(id), 'The participant')
    return exported(ctx, { who, now, kinds: ['movement'], period })
  },
}

function exported(ctx: Context, exporting: Exporting): Streamed {
  const day = new Date(exporting.now).toISOString().slice(0, 'yyyy-mm-dd'.length)
  const name = `souk-export-${exporting.who?.id ?? 'operator'}-${day}.ndjson`
  return { name, chunks: () => exportLines(ctx, exporting) }
}

/** Maximum ledger entries read for a job; a job has a few. */
const MAX_ENTRIES = 100

type View = z.output<typeof Receipt>
type Reader = 'admin' | { readonly id: string | null; readonly wallet: Wallet }
type Asked = { readonly id: string; readonly caller: Reader; readonly network: string }

/** The receipt of a payment. @throws AppError 404 for others than its parties and the operator, or if nothing was paid */
async function receiptOf(t: ReadTx, { id, caller, network }: Asked): Promise<View> {
  const payment = existing(await paymentOfReceipt(t, id), 'The receipt')
  const bought = await boughtBy(t, payment)
  const deal = bought.ref === null ? undefined : await dealOf(t, bought.ref)
  const seller = deal?.seller ?? null
  const isParty = caller === 'admin' || caller.wallet === payment.payer || (seller !== null && caller.id === seller)
  const status = receiptStates.find((state) => isParty && state === payment.state)
  const selling = seller === null ? undefined : await t.table(participants).get(seller)
  const buying = await participantOfWallet(t, payment.payer)
  return {
    ...pick(payment, { receipt_id: 0, method: 0, transaction: 0 }),
    ...{ id, status: existing(status, 'The receipt'), date: payment.created_at, network, currency: 'USDC' },
    description: deal?.name ?? payment.endpoint,
    reference: bought.ref,
    buyer: { ...partyOf(buying), wallet: payment.payer },
    seller: { ...partyOf(selling), tax: selling?.tax ?? null },
    amount: payment.price,
    ...(await sumsOf(t, payment, bought)),
  }
}

function partyOf(row: ParticipantRow | undefined) {
  return { participant_id: row?.id ?? null, name: row?.name ?? null, wallet: row?.wallet ?? null }
}

type Sums = Pick<View, 'fee' | 'net' | 'refunded'>

/** What became of the money. While it is in escrow: what was agreed. */
async function sumsOf(t: ReadTx, { state, price }: PaymentRow, { entry, ref }: Bought): Promise<Sums> {
  if (state === 'refunded') return { fee: ZERO, net: ZERO, refunded: price }
  if (ref === null) return { fee: ZERO, net: price, refunded: ZERO }
  const last = ref.kind === 'job' ? await endOfJob(t, ref.id) : entry
  if (last?.kind === 'refund') return { fee: ZERO, net: ZERO, refunded: price }
  if (last && saleKinds.has(last.kind)) {
    const { fee, net, refund: refunded } = saleParts(last)
    return { fee, net, refunded }
  }
  const job = await t.table(jobs).get(ref.id)
  return { fee: job?.fee ?? ZERO, net: job?.provider_amount ?? ZERO, refunded: ZERO }
}

/** The entry that took a job's money out of escrow. */
async function endOfJob(t: ReadTx, id: string): Promise<LedgerRow | undefined> {
  const { rows } = await t.table(ledger).page('job', [id], { limit: MAX_ENTRIES })
  return rows.findLast(({ kind }) => kind === 'refund' || saleKinds.has(kind))
}

const receiptRoutes: FreeHandlers<typeof booksApi> = {
  getReceipt: async ({ params }, { ctx, caller }) => {
    const answer = await ctx.store.read((t) => receiptOf(t, { id: params.id, caller, network: ctx.chain.caip2 }))
    return { answer, page: () => receiptPage(answer) }
  },
}

export const exportRoutes = { ...exportHandlers, ...receiptRoutes }

function receiptPage(receipt: View): Html {
  const { id, date, description, reference, buyer, seller, amount, fee, net, refunded, status, method } = receipt
  const facts = {
    Date: new Date(date).toISOString(),
    Description: description,
    Reference: reference?.id ?? 'none',
    Status: status,
    Paid: `${formatAmount(amount)} USDC by ${method}`,
    'Fee of the marketplace': formatAmount(fee),
    'Due to the seller': formatAmount(net),
    Refunded: formatAmount(refunded),
    Network: receipt.network,
    Transaction: receipt.transaction ?? 'none',
  }
  const { tax } = seller
  const isHouse = seller.participant_id === null
  const selling = {
    ...(isHouse ? { Name: 'the marketplace' } : sideFacts(seller)),
    ...(tax && compact({ 'Legal name': tax.name, Address: tax.address, 'Tax id': tax.tax_id })),
  }
  const body = html`<h1>Receipt ${id}</h1>
${factTable(facts)}<h2>Seller</h2>
${factTable(selling)}<h2>Buyer</h2>
${factTable(sideFacts(buyer))}<p>This page lists what was paid. It is not tax advice.</p>`
  return page({ title: `Receipt ${id}`, body })
}

function sideFacts({ name, participant_id: id, wallet }: View['buyer']) {
  const address = wallet === null ? undefined : checksumAddress(wallet)
  return compact({ Name: name ?? undefined, Id: id ?? undefined, Wallet: address })
}
