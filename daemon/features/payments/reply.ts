import { paymentResponse } from '../../../src/api/endpoint/x402.ts'
import type { Hex } from '../../../src/core/hex.ts'
import type { PaymentFault } from '../../../src/core/payment-fault.ts'
import { JSON_TYPE, type ReplyOut } from '../../endpoint/exchange.ts'
import { type Credential, signedPayment } from './credential.ts'
import type { PaidAnswer, PaidRequest } from './seller.ts'

/** The answer of a paid request with its settlement header in the generation that was spoken. */
export function reply(request: PaidRequest, credential: Credential, answer: PaidAnswer): ReplyOut {
  const headers: Record<string, string> = { 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-store' }
  if (answer.replayed) headers['Idempotency-Replayed'] = 'true'
  if (answer.transaction) {
    const transaction = answer.transaction as Hex // stored from a chain's own answer
    Object.assign(headers, settlementHeader(request, credential, { success: true, transaction }))
  }
  return { kind: 'bytes', status: answer.status, headers, body: bodyFor(request, answer) }
}

type SettlementEnd =
  | { readonly success: true; readonly transaction: Hex }
  | { readonly success: false; readonly fault: PaymentFault }

/** How a settlement ended, for who signed; nothing where a key paid. */
export function settlementHeader(
  { ctx }: PaidRequest,
  credential: Credential,
  ended: SettlementEnd,
): Readonly<Record<string, string>> {
  const payment = signedPayment(credential)
  if (!payment) return {}
  const { network } = ctx.chain
  const header = paymentResponse(payment.version, { ...ended, network, payer: payment.authorization.from })
  return { [header.name]: header.value }
}

const REFUSED_FROM = 400

/** What was stored of a refusal is told under the id of each request that gets it. */
function bodyFor({ exchange }: PaidRequest, { status, body }: PaidAnswer): string {
  if (status < REFUSED_FROM) return body
  return JSON.stringify({ ...JSON.parse(body), request_id: exchange.requestId })
}
