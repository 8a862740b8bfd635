import type { WireInput } from '../../endpoint/input.ts'
import type { Context } from '../../kernel/context.ts'
import { largeText, putText, readText } from '../../store/blobs.ts'
import type { PaymentRow } from './rows.ts'

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
