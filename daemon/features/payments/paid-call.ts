import type { Input, PaidEndpoint } from '../../../src/api/endpoint/define.ts'
import type { EndpointName } from '../../../src/api/index.ts'
import type { PaymentCredential } from '../../../src/core/authorization.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import type { Exchange } from '../../endpoint/exchange.ts'
import type { Call } from '../../endpoint/handler.ts'
import type { WireInput } from '../../endpoint/input.ts'
import type { Context } from '../../kernel/context.ts'
import type { SealKey } from './sealed.ts'
import type { PaidHandler, PayCall, Quote } from './seller.ts'

/** A handler with its row's types forgotten: the gate treats all paid rows alike. */
export type AnyPaidHandler = PaidHandler<PaidEndpoint> & {
  readonly quote?: PaidHandler<PaidEndpoint & { access: { kind: 'paid'; price: 'varies' } }>['quote']
  readonly free?: (input: Input<PaidEndpoint>, base: Call) => Promise<unknown>
}

/** One paid request on its way through the gate. */
export type PaidCall = {
  readonly ctx: Context
  readonly name: EndpointName
  readonly row: PaidEndpoint
  readonly handler: AnyPaidHandler
  readonly exchange: Exchange
  readonly base: PayCall
  readonly input: Input<PaidEndpoint>
  readonly wire: WireInput
  readonly quote: Quote
  /** Whose key signed the authorization; null when nobody's did, and on a balance payment. */
  readonly signer: Wallet | null
  readonly fingerprint: string
  /** Scoped and hashed `Idempotency-Key`. */
  readonly idempotency: string | null
  /** What secrets of the answer are sealed under; null without an `Idempotency-Key`. */
  readonly sealKey: SealKey | null
  /** Absent on a balance payment. */
  readonly credential?: PaymentCredential
}

/** Id of the payment row of an authorization: its nonce is used once, whatever row it is sent to. */
export function authorizationId(ctx: Context, credential: PaymentCredential): string {
  const { from, nonce } = credential.authorization
  return `${ctx.chain.network}:${ctx.chain.asset.address}:${from}:${nonce}`
}
