import { type Endpoint, takesSignIn } from '../../../src/api/endpoint/define.ts'
import { type PaymentOffer, paymentRequired, x402Headers } from '../../../src/api/endpoint/x402.ts'
import { type PaymentRequirement, paymentWindows } from '../../../src/core/authorization.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import { formatAmount } from '../../../src/core/money.ts'
import { type PaymentFault, paymentFaults } from '../../../src/core/payment-fault.ts'
import { type Exchange, JSON_TYPE, type ReplyOut } from '../../endpoint/exchange.ts'
import { signInExtensions } from '../../endpoint/sign-in.ts'
import type { Context } from '../../kernel/context.ts'
import { localToken } from '../../kernel/local-token.ts'
import type { Quote } from './seller.ts'

/** What a quote asks of an authorization. */
export function requirementOf(ctx: Context, quote: Quote): PaymentRequirement {
  const { asset, payTo, network } = ctx.chain
  return {
    price: quote.upTo === undefined ? quote.price : { min: quote.price, max: quote.upTo },
    payTo,
    asset: asset.address,
    network,
    domain: { name: asset.name, version: asset.version },
    maxTimeoutSeconds: paymentWindows[quote.settle].maxTimeoutSeconds,
  }
}

export type Refusal = {
  /** Absent: nothing was offered yet. */
  readonly fault?: PaymentFault
  readonly payer?: Wallet
  /** Another code than `payment_required`, with its members. */
  readonly code?: 'insufficient_balance'
  readonly extra?: Readonly<Record<string, unknown>>
  readonly message?: string
  readonly headers?: Readonly<Record<string, string>>
}

type Offered = { readonly row: Endpoint; readonly quote: Quote; readonly refusal: Refusal }

/** The dual 402 (decisions §4), also of a header that cannot be read; always with `accepts`. */
export function offerReply(ctx: Context, exchange: Exchange, offered: Offered): ReplyOut {
  const { row, quote, refusal } = offered
  const noticed = noticeOf(quote)
  const token = localToken(ctx)
  const offer: PaymentOffer = {
    ...requirementOf(ctx, quote),
    resource: `${ctx.baseUrl()}${exchange.path}`,
    description: [quote.description, quote.notice].filter(Boolean).join('. '),
    mimeType: 'application/json',
    ...(token ? { localToken: token } : {}),
    ...(refusal.fault ? { fault: refusal.fault } : {}),
    ...(refusal.code && refusal.message ? { error: refusal.message } : {}),
    ...noticed,
    ...(refusal.payer ? { payer: refusal.payer } : {}),
    ...(takesSignIn(row) ? { extensions: signInExtensions(ctx, exchange) } : {}),
    ...(quote.inputSchema ? { outputSchema: discovery(quote.inputSchema) } : {}),
  }
  const { body, header } = paymentRequired(offer)
  const price = `$${formatAmount(quote.price)}`
  const sentence = refusal.fault
    ? paymentFaults[refusal.fault].sentence
    : [`This costs ${price} USDC.`, quote.notice].filter(Boolean).join(' ')
  const document = {
    ...body,
    code: refusal.code ?? 'payment_required',
    message: refusal.message ?? sentence,
    request_id: exchange.requestId,
    ...noticed,
    ...refusal.extra,
  }
  return {
    kind: 'bytes',
    status: 402,
    headers: {
      'Content-Type': JSON_TYPE,
      'Cache-Control': 'no-store',
      [x402Headers.requiredV2]: header,
      ...refusal.headers,
    },
    body: JSON.stringify(document),
  }
}

function noticeOf({ notice }: Quote): Pick<Quote, 'notice'> {
  return notice === undefined ? {} : { notice }
}

/** v1 discovery: how the paid request is made (x402 v1, `outputSchema`). */
function discovery(inputSchema: Record<string, unknown>): Record<string, unknown> {
  return {
    input: {
      type: 'http',
      method: 'POST',
      discoverable: true,
      bodyType: 'json',
      bodyFields: inputSchema.properties ?? {},
    },
  }
}
