import { apiKeyHeader, balanceHeader } from '../../src/api/endpoint/credentials.ts'
import { x402Headers } from '../../src/api/endpoint/x402.ts'
import { readPaymentHeader } from '../../src/api/endpoint/x402-header.ts'
import type { PaymentCredential } from '../../src/core/authorization.ts'
import { invalidField } from '../../src/core/error.ts'
import type { PaymentFault } from '../../src/core/payment-fault.ts'
import type { Exchange } from './exchange.ts'

/** What a request offers to pay with. */
export type PaymentOffered =
  | { readonly kind: 'none' }
  | { readonly kind: 'x402'; readonly credential: PaymentCredential }
  | { readonly kind: 'x402_unreadable'; readonly version: 1 | 2; readonly fault: PaymentFault; readonly detail: string }
  | { readonly kind: 'balance'; readonly key: string }
  /** An API key alone: it pays for nothing, but a subscription of its holder may. */
  | { readonly kind: 'key'; readonly key: string }

const PLAIN_HTTP =
  'payment credentials are refused over plain HTTP: use https (behind a proxy, the operator sets --public-url to its https address, and the proxy X-Forwarded-Proto)'

/** Reads the one payment credential of a request. @throws AppError 400 on two of them, or over plain HTTP. */
export function readPayment(exchange: Exchange): PaymentOffered {
  const v1 = exchange.header(x402Headers.paymentV1)
  const v2 = exchange.header(x402Headers.paymentV2)
  const balance = exchange.header(balanceHeader)
  const names = [
    v1 !== undefined && x402Headers.paymentV1,
    v2 !== undefined && x402Headers.paymentV2,
    balance !== undefined && balanceHeader,
  ].filter((name) => name !== false)
  const first = names[0]
  if (first === undefined) return { kind: 'none' }
  if (names.length > 1) throw invalidField(names[1] as string, `send one payment credential, not also ${first}`)
  if (!exchange.isConfidential()) throw invalidField(first, PLAIN_HTTP)
  if (balance !== undefined) return { kind: 'balance', key: balance }
  const version = v1 !== undefined ? 1 : 2
  const read = readPaymentHeader(version, (v1 ?? v2) as string)
  return read.ok
    ? { kind: 'x402', credential: read.credential }
    : { kind: 'x402_unreadable', version, fault: read.fault, detail: read.detail }
}

const BEARER = /^Bearer +(\S+)$/i

/** The token of `Authorization: Bearer`, whatever it is for. */
export function readBearer(exchange: Exchange): string | undefined {
  return BEARER.exec(exchange.header('authorization') ?? '')?.[1]
}

/** `X-API-Key: sk_…` or `Authorization: Bearer sk_…`. @throws AppError 400 when both are there and differ. */
export function readApiKey(exchange: Exchange): string | undefined {
  const bearer = readBearer(exchange)
  const bearerKey = bearer?.startsWith('sk_') ? bearer : undefined
  const header = exchange.header(apiKeyHeader)
  if (header !== undefined && bearerKey !== undefined && header !== bearerKey) {
    throw invalidField(apiKeyHeader, 'names another key than Authorization: send one')
  }
  return header ?? bearerKey
}
