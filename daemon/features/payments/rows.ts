import { z } from 'zod'
import { Micro, StoredHex, StoredWallet } from '../../../src/core/codecs.ts'
import { paymentStates } from '../../../src/model/payment.ts'
import { KnownJson } from '../../../src/model/service.ts'
import { WireInput } from '../../endpoint/input.ts'
import type { Context } from '../../kernel/context.ts'
import { largeText, putText, readText } from '../../store/blobs.ts'
import { type AnyCollection, defineCollection, stored } from '../../store/port.ts'

/**
 * A payment. The row is durable before the run starts. From `settling` on, it has all that is needed without the
 * caller: endpoint, input, signed bytes, outcome. Input, outcome and terms are dropped when the payment ends.
 */
export const payments = defineCollection('payments', {
  schema: z.strictObject({
    /** `id` is `network:asset:from:nonce` of an authorization, `balance:<request id>` or `subscription:<request id>`. */
    ...stored,
    /** `subscription`: a paid period covers the call, so the price is 0 and no money moves. */
    method: z.enum(['x402', 'balance', 'subscription']),
    state: z.enum(paymentStates),
    /** True until fulfilled, released, refunded or reversed. Recovery reads all open payments. */
    open: z.boolean(),
    payer: StoredWallet,
    participant_id: z.string().nullable(),
    price: Micro,
    settle: z.enum(['first', 'last']),
    endpoint: z.string(),
    /** Params, query and body for recovery; null before `settling` and after the payment ended. */
    input: WireInput.nullable(),
    /** SHA-256 of the file with body and outcome if they are large; both are then null here. */
    file_sha256: z.string().exactOptional(),
    /** External work that the run began, for example at a provider. Recorded in the transaction that began it. */
    begun: KnownJson.exactOptional(),
    fingerprint: z.string(),
    /** `Idempotency-Key`, hashed with its scope; null if not sent. */
    idempotency: z.string().nullable(),
    receipt_id: z.string(),
    /** Request id; absent in rows of earlier builds. */
    request_id: z.string().exactOptional(),
    /** The signed authorization, stored before it is sent. */
    authorization: z
      .strictObject({
        x402_version: z.union([z.literal(1), z.literal(2)]),
        /** The pay-to address; absent in rows of earlier builds. */
        to: StoredWallet.exactOptional(),
        value: Micro,
        valid_after: z.bigint(),
        valid_before: z.bigint(),
        nonce: StoredHex,
        signature: StoredHex, // 65 bytes, or what a contract wallet took for its own; bounded by the header it came in
      })
      .nullable(),
    /** Ids of ledger transactions: the hold of a balance payment, and after its release the return of the hold. */
    books: z.array(z.string()).exactOptional(),
    /** Id of the ledger transaction that the payment paid for; absent in rows of earlier builds. */
    entry: z.string().exactOptional(),
    /** Loss from a reversed payment that earnings do not cover yet. */
    uncovered: Micro.exactOptional(),
    /** State before the reversal. `borne`: each bearer's share of the loss, given back when the money returns. */
    reversed_from: z.enum(paymentStates).exactOptional(),
    borne: z.array(z.strictObject({ from: z.string(), amount: Micro })).exactOptional(),
    /** A refund that is withheld since the reversal, and owed once the money is back. */
    withheld: Micro.exactOptional(),
    /** Quoted facts besides the price (shares, provider). Later edits of the listing do not change them. */
    terms: KnownJson,
    /** Result of the run, for endpoints that settle last. */
    outcome: KnownJson,
    transaction: z.string().nullable(),
    created_at: z.int(),
    updated_at: z.int(),
  }),
  indexes: [
    { name: 'open', fields: ['created_at'], where: { field: 'open', equals: true } },
    { name: 'open_payer', fields: ['payer'], where: { field: 'open', equals: true } },
    { name: 'payer', fields: ['payer', 'created_at'], order: 'desc' },
    { name: 'newest', fields: ['created_at'], order: 'desc' },
    { name: 'receipt', fields: ['receipt_id'] },
    { name: 'request', fields: ['request_id'] },
    { name: 'released', fields: ['updated_at'], where: { field: 'state', equals: 'released' } },
    { name: 'file', fields: ['file_sha256'], where: { field: 'open', equals: true } },
    { name: 'uncovered', fields: ['created_at'], where: { field: 'uncovered', present: true } },
    { name: 'withheld', fields: ['state', 'created_at'], where: { field: 'withheld', present: true } },
  ],
})
export type PaymentRow = z.infer<typeof payments.schema>

/** Stored response of a payment, for retries. */
export const answers = defineCollection('answers', {
  schema: z.strictObject({
    /** `id` is the id of the payment. */
    ...stored,
    status: z.int(),
    /** JSON text with secrets set to null; empty if large. */
    body: z.string(),
    /** SHA-256 of a large body's file. */
    file_sha256: z.string().exactOptional(),
    /** AES-256-GCM box of the secret members, base64; null without secrets or sealing key. */
    sealed: z.string().nullable(),
    at: z.int(),
  }),
  indexes: [
    { name: 'at', fields: ['at'] },
    { name: 'file', fields: ['file_sha256'], where: { field: 'file_sha256', present: true } },
  ],
})

/** The payment for which an `Idempotency-Key` was used. `id` is the key, hashed with its scope. */
export const idempotency = defineCollection('idempotency', {
  schema: z.strictObject({ ...stored, payment_id: z.string(), at: z.int() }),
  indexes: [{ name: 'at', fields: ['at'] }],
})

export const paymentCollections: readonly AnyCollection[] = [payments, answers, idempotency]

/** Temporary data of a payment, kept until it ends. */
export type Carried = { readonly input: WireInput; readonly outcome: PaymentRow['outcome'] }
type CarriedMembers = Pick<PaymentRow, 'input' | 'outcome' | 'file_sha256'>

const SALT_BYTES = 16

/**
 * Stores large temporary data.
 * @returns the row's members. The file belongs to this payment only, so it can be removed when the payment ends.
 */
export async function carry(ctx: Context, { input, outcome }: Carried): Promise<CarriedMembers> {
  const text = largeText({ body: input.body, outcome })
  if (text === undefined) return { input, outcome }
  const salted = `{"salt":"${ctx.entropy(SALT_BYTES).toString('hex')}",${text.slice(1)}`
  return { input: { ...input, body: null }, outcome: null, file_sha256: await putText(ctx.blobs, salted) }
}

export async function carriedBy(ctx: Context, payment: PaymentRow): Promise<Carried> {
  const { id, input, outcome, file_sha256 } = payment
  if (input === null) throw new Error(`payment ${id} has no purchase`)
  if (file_sha256 === undefined) return { input, outcome }
  const file = JSON.parse(await readText(ctx.blobs, file_sha256)) as { body: WireInput['body'] } & Carried // by carry
  return { input: { ...input, body: file.body }, outcome: file.outcome }
}

export function bare({ file_sha256, begun, ...payment }: PaymentRow): PaymentRow {
  return { ...payment, input: null, outcome: null, terms: null, open: false }
}

/** Removes an ended payment's file. If a crash prevents it, housekeeping removes the file. */
export function dropFile(ctx: Pick<Context, 'blobs' | 'log'>, { receipt_id, file_sha256 }: PaymentRow): void {
  if (file_sha256 === undefined) return
  ctx.blobs.remove(file_sha256).catch((error: unknown) => {
    ctx.log.warn({ source: 'x402', payment: receipt_id, err: String(error) }, 'a file was not removed')
  })
}
