import { z } from 'zod'
import { Address, Amount, idOf, namedObject, TaxDetails, Time } from '../../core/codecs.ts'
import { statementAccounts } from '../../model/ledger.ts'
import { TimeInput } from '../endpoint/common.ts'
import { admin, defineEndpoint, jsonOrPage, keySignInOrAdmin, stream } from '../endpoint/define.ts'

const Reference = z.strictObject({ kind: z.string(), id: z.string() })

/** One row of a statement: a change of one account of its owner. */
export const Movement = namedObject('Movement', {
  date: Time,
  account: z.enum(statementAccounts),
  type: z.string(),
  counterparty: z.string().nullable().meta({ description: 'participant id or wallet; null: the marketplace' }),
  counterparty_name: z.string().nullable(),
  gross: Amount.meta({ description: 'before fee and refund' }),
  fee: Amount,
  refund: Amount.meta({ description: 'given back to the buyer' }),
  net: Amount.meta({ description: 'change of the account; negative if money left it' }),
  gas_wei: z.string().nullable().meta({ description: 'gas paid by the operator; null if none or unknown' }),
  transaction: z.string().nullable().meta({ description: 'transaction hash on the chain' }),
  receipt_id: idOf('receipt').nullable(),
  reference: Reference,
})
export type StatementRow = z.output<typeof Movement>

/** StatementPeriod of a statement; without bounds: all movements. */
export const periodQuery = {
  from: TimeInput.optional().meta({ description: 'only movements from this business time on' }),
  to: TimeInput.optional().meta({ description: 'only movements before this business time' }),
}
export type StatementPeriod = { readonly from?: number | undefined; readonly to?: number | undefined }

export const receiptStates = ['settled', 'fulfilled', 'refunded', 'reversed'] as const

const Party = z.strictObject({
  participant_id: idOf('participant').nullable(),
  name: z.string().nullable(),
  wallet: Address.nullable(),
})

export const Receipt = namedObject('Receipt', {
  id: idOf('receipt'),
  receipt_id: idOf('receipt'),
  status: z.enum(receiptStates),
  date: Time,
  description: z.string().meta({ description: 'what was bought; the name of the endpoint for a call' }),
  reference: Reference.nullable(),
  buyer: Party,
  seller: Party.extend({ tax: TaxDetails.nullable() }).meta({ description: 'all members null: the marketplace' }),
  method: z.enum(['x402', 'balance', 'subscription']),
  amount: Amount.meta({ description: 'paid by the buyer' }),
  fee: Amount.meta({ description: 'kept by the marketplace' }),
  net: Amount.meta({ description: 'due to the seller' }),
  refunded: Amount,
  currency: z.literal('USDC'),
  network: z.string(),
  transaction: z.string().nullable(),
})

export const booksApi = {
  getReceipt: defineEndpoint({
    method: 'GET',
    path: '/v1/receipts/:id',
    access: keySignInOrAdmin,
    origin: 'ours',
    section: 'Account',
    reply: jsonOrPage(Receipt),
    summary: 'receipt of a payment, for its parties: JSON, or a page to print',
  }),
}

export const booksAdminApi = {
  /** Lines as in `getExport`, of kind `movement`. */
  getStatement: defineEndpoint({
    method: 'GET',
    path: '/dashboard/api/admin/statement',
    access: admin,
    origin: 'ours',
    section: 'Administration',
    query: z.strictObject({
      participant: idOf('participant').optional().meta({ description: 'whose statement (default: the operator’s)' }),
      ...periodQuery,
    }),
    reply: stream('application/x-ndjson'),
    errors: ['not_found'],
    summary: 'statement of the operator or of a participant as NDJSON',
  }),
}
