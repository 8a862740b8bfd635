import { z } from 'zod'
import { Micro, StoredHex, StoredWallet } from '../../../src/core/codecs.ts'
import { paymentStates } from '../../../src/model/payment.ts'
import { KnownJson } from '../../../src/model/service.ts'
import { WireInput } from '../../endpoint/input.ts'
import type { Context } from '../../kernel/context.ts'
import { largeText, putText, readText } from '../../store/blobs.ts'
import { type AnyCollection, defineCollection } from '../../store/port.ts'

/**
 * A payment row is durable before anything runs. From `settling` on it carries all that is needed to
 * finish the call without its caller: the row's name, its wire input, the signed bytes, the outcome.
 * Once it has ended, what it carried is gone: of a released one stay fingerprint, hash and state.
 */
export const PaymentRow = z.strictObject({
  /** `network:asset:from:nonce` of an authorization, or `balance:<request id>`, `subscription:<request id>`. */
  id: z.string(),
  version: z.int(),
  /** `subscription`: paid for with a period; the price is 0, and no money moves. */
  method: z.enum(['x402', 'balance', 'subscription']),
  state: z.enum(paymentStates),
  /** True until fulfilled, released, refunded or reversed: such rows are what recovery walks. */
  open: z.boolean(),
  payer: StoredWallet,
  participant_id: z.string().nullable(),
  price: Micro,
  settle: z.enum(['first', 'last']),
  endpoint: z.string(),
  /** Wire form of params, query and body, re-parsed by recovery; null before it is about to be settled, and after its end. */
  input: WireInput.nullable(),
  /** SHA-256 of the file that holds body and outcome where they are large; both are null here then. */
  file_sha256: z.string().exactOptional(),
  /** What the run has begun outside of this daemon, as its row wrote it down before it did. */
  begun: KnownJson.exactOptional(),
  fingerprint: z.string(),
  /** Scoped `Idempotency-Key`, hashed; null when none was sent. */
  idempotency: z.string().nullable(),
  receipt_id: z.string(),
  /** Of the request that made it; absent in rows of earlier builds. */
  request_id: z.string().exactOptional(),
  /** The signed bytes, kept from before they are sent. */
  authorization: z
    .strictObject({
      x402_version: z.union([z.literal(1), z.literal(2)]),
      value: Micro,
      valid_after: z.bigint(),
      valid_before: z.bigint(),
      nonce: StoredHex,
      signature: StoredHex, // 65 bytes, or what a contract wallet took for its own; bounded by the header it came in
    })
    .nullable(),
  /** Transactions of the books that hold a balance for it and, once it is released, give all of it back. */
  books: z.array(z.string()).exactOptional(),
  /** Of a reversed one: what nothing has covered yet. */
  uncovered: Micro.exactOptional(),
  /** What it was before, and who has borne how much of the loss: they get it back if the money comes back. */
  reversed_from: z.enum(paymentStates).exactOptional(),
  borne: z.array(z.strictObject({ from: z.string(), amount: Micro })).exactOptional(),
  /** What a refund to its payer would have been since: the payer is owed it once the money is back. */
  withheld: Micro.exactOptional(),
  /** What was quoted besides the price (shares, provider), frozen so that a later change of the listing changes nothing. */
  terms: KnownJson,
  /** What the run returned, for rows that settle last. */
  outcome: KnownJson,
  transaction: z.string().nullable(),
  created_at: z.int(),
  updated_at: z.int(),
})
export type PaymentRow = z.infer<typeof PaymentRow>

/** The answer that a payment bought, kept so that a retry is safe. */
export const AnswerRow = z.strictObject({
  /** Id of the payment. */
  id: z.string(),
  version: z.int(),
  status: z.int(),
  /** JSON text with secrets nulled; empty where it is large. */
  body: z.string(),
  /** SHA-256 of the file that holds a large one. */
  file_sha256: z.string().exactOptional(),
  /** AES-256-GCM box of the secret members, base64; null when there are none or no key to seal them under. */
  sealed: z.string().nullable(),
  at: z.int(),
})
export type AnswerRow = z.infer<typeof AnswerRow>

/** A used `Idempotency-Key` in its scope → the payment that used it. */
export const IdempotencyRow = z.strictObject({
  id: z.string(),
  version: z.int(),
  payment_id: z.string(),
  at: z.int(),
})
export type IdempotencyRow = z.infer<typeof IdempotencyRow>

export const payments = defineCollection('payments', {
  schema: PaymentRow,
  key: 'id',
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

export const answers = defineCollection('answers', {
  schema: AnswerRow,
  key: 'id',
  indexes: [
    { name: 'at', fields: ['at'] },
    { name: 'file', fields: ['file_sha256'], where: { field: 'file_sha256', present: true } },
  ],
})

export const idempotency = defineCollection('idempotency', {
  schema: IdempotencyRow,
  key: 'id',
  indexes: [{ name: 'at', fields: ['at'] }],
})

export const paymentCollections: readonly AnyCollection[] = [payments, answers, idempotency]

/** What a payment carries until it has ended: what was asked for, and what the run returned. */
export type Carried = { readonly input: WireInput; readonly outcome: PaymentRow['outcome'] }
type CarriedMembers = Pick<PaymentRow, 'input' | 'outcome' | 'file_sha256'>

const SALT_BYTES = 16

/**
 * Makes what a payment carries durable where it is large. @returns the members of its row. The file is this payment's
 * alone, whatever others carry, so that it can go at once when the payment has ended.
 */
export async function carry(ctx: Context, { input, outcome }: Carried): Promise<CarriedMembers> {
  const text = largeText({ body: input.body, outcome })
  if (text === undefined) return { input, outcome }
  const salted = `{"salt":"${ctx.entropy(SALT_BYTES).toString('hex')}",${text.slice(1)}`
  return { input: { ...input, body: null }, outcome: null, file_sha256: await putText(ctx.blobs, salted) }
}

/** What a payment carries, wherever it lies. */
export async function carriedBy(ctx: Context, payment: PaymentRow): Promise<Carried> {
  const { id, input, outcome, file_sha256 } = payment
  if (input === null) throw new Error(`payment ${id} carries nothing`)
  if (file_sha256 === undefined) return { input, outcome }
  const file = JSON.parse(await readText(ctx.blobs, file_sha256)) as { body: WireInput['body'] } & Carried // by carry
  return { input: { ...input, body: file.body }, outcome: file.outcome }
}

/** A payment that has ended, without what it carried. */
export function bare({ file_sha256, begun, ...payment }: PaymentRow): PaymentRow {
  return { ...payment, input: null, outcome: null, terms: null, open: false }
}

/** Removes the file of a payment that has ended; one that a crash leaves is swept with all that nobody names. */
export function dropFile(ctx: Pick<Context, 'blobs' | 'log'>, { receipt_id, file_sha256 }: PaymentRow): void {
  if (file_sha256 === undefined) return
  ctx.blobs.remove(file_sha256).catch((error: unknown) => {
    ctx.log.warn({ source: 'x402', payment: receipt_id, err: String(error) }, 'a file was not removed')
  })
}
