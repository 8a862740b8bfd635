import { z } from 'zod'
import { type Authorization, MAX_UINT256, type PaymentCredential } from '../../core/authorization.ts'
import { Address, Bytes32 } from '../../core/codecs.ts'
import type { Hex } from '../../core/hex.ts'
import { offerReceipt, receiptFormat } from '../../core/offer-receipt.ts'
import { compact } from '../../core/record.ts'
import { AcceptsV2, paymentIdentifier, type X402Version } from './x402.ts'

/** Longest payment header; contract wallet signatures may have 4 KiB. Node limits all headers together to 16 KB. */
export const PAYMENT_HEADER_MAX_CHARS = 14_336
/** Nesting limit of a payment. v2 clients echo extensions, which contain nested JSON schemas. */
export const PAYMENT_JSON_MAX_DEPTH = 32

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

const Uint = z.codec(z.string().regex(/^\d{1,78}$/), z.bigint().nonnegative().max(MAX_UINT256), {
  decode: (text) => BigInt(text),
  encode: (value) => value.toString(),
})

const ExactPayload = z.object({
  signature: z.custom<Hex>((value) => typeof value === 'string' && /^0x(?:[0-9a-fA-F]{2})*$/.test(value)),
  authorization: z.object({
    from: Address,
    to: Address,
    value: Uint,
    validAfter: Uint,
    validBefore: Uint,
    nonce: Bytes32,
  }) satisfies z.ZodType<Authorization>,
})

const PaymentV1 = z.object({
  x402Version: z.literal(1),
  scheme: z.string(),
  network: z.string(),
  payload: ExactPayload,
})

/** Extensions that a payment sends back, as far as they are read. */
const Extensions = z.object({
  [paymentIdentifier]: z
    .object({
      info: z.object({
        id: z
          .string()
          .regex(/^[\w-]{16,128}$/)
          .optional(),
      }),
    })
    .optional(),
  [offerReceipt]: z.unknown().optional(),
})

const PaymentV2 = z.object({
  x402Version: z.literal(2),
  accepted: AcceptsV2,
  payload: ExactPayload,
  extensions: Extensions.optional(),
})

const AnyVersion = z.object({ x402Version: z.number() })

export type ReadHeader =
  | { ok: true; credential: PaymentCredential }
  /** `detail` names the invalid part, never its content. */
  | { ok: false; fault: 'malformed' | 'version_unsupported'; detail: string }

/** Parses `X-PAYMENT` (v1) or `PAYMENT-SIGNATURE` (v2) without verifying it. */
export function readPaymentHeader(version: X402Version, headerValue: string): ReadHeader {
  const decoded = decodeObject(headerValue)
  if (!decoded.ok) return { ok: false, fault: 'malformed', detail: decoded.detail }
  const stated = AnyVersion.safeParse(decoded.object)
  if (!stated.success) return { ok: false, fault: 'malformed', detail: 'x402Version is missing' }
  if (stated.data.x402Version !== version) {
    return { ok: false, fault: 'version_unsupported', detail: `x402Version must be ${version} in this header` }
  }
  return readPayment(version, decoded.object)
}

/** Parses a payment object, from a header or a facilitator request. */
export function readPayment(version: X402Version, object: unknown): ReadHeader {
  return version === 1 ? credentialV1(object) : credentialV2(object)
}

function credentialV1(object: unknown): ReadHeader {
  const parsed = PaymentV1.safeParse(object)
  if (!parsed.success) return { ok: false, fault: 'malformed', detail: firstPath(parsed.error) }
  const { scheme, network, payload } = parsed.data
  return { ok: true, credential: { version: 1, scheme, network, ...payload } }
}

function credentialV2(object: unknown): ReadHeader {
  const parsed = PaymentV2.safeParse(object)
  if (!parsed.success) return { ok: false, fault: 'malformed', detail: firstPath(parsed.error) }
  const { accepted, payload, extensions } = parsed.data
  const { scheme, network, asset, payTo, extra = {} } = accepted
  return {
    ok: true,
    credential: {
      version: 2,
      scheme,
      network,
      ...payload,
      accepted: { ...accepted, asset: asset.toLowerCase(), payTo: payTo.toLowerCase(), extra },
      ...compact({ paymentId: extensions?.[paymentIdentifier]?.info.id }),
      ...(extensions?.[offerReceipt] === undefined ? {} : { receipt: receiptFormat(extensions) }),
    },
  }
}

function firstPath(error: z.ZodError): string {
  const path = error.issues[0]?.path.join('.')
  return path === undefined || path === '' ? 'the payment is not an object' : `${path} is missing or malformed`
}

/** Decodes a base64 JSON header: standard alphabet, valid UTF-8, limited nesting. */
export function decodeObject(
  headerValue: string,
  maxChars = PAYMENT_HEADER_MAX_CHARS,
): { ok: true; object: unknown } | { ok: false; detail: string } {
  if (headerValue.length > maxChars) return { ok: false, detail: 'the header is too long' }
  if (!BASE64.test(headerValue) || !isCanonical(headerValue)) {
    return { ok: false, detail: 'the header is not standard base64' }
  }
  const bytes = Buffer.from(headerValue, 'base64')
  if (isTooDeep(bytes)) return { ok: false, detail: 'the JSON is nested too deeply' }
  try {
    return { ok: true, object: JSON.parse(utf8.decode(bytes)) }
  } catch {
    return { ok: false, detail: 'the header is not base64 of JSON' }
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Whether the base64 is canonical: unused bits of the last character are zero. */
function isCanonical(base64: string): boolean {
  const unpadded = base64.replace(/=+$/, '')
  const tail = unpadded.slice(unpadded.length - (unpadded.length % 4))
  return Buffer.from(tail, 'base64').toString('base64').startsWith(tail)
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** Change of the depth at each bracket. */
const steps: ReadonlyMap<number, number> = new Map([
  ...Array.from('{[', (bracket) => [bracket.charCodeAt(0), 1] as const),
  ...Array.from('}]', (bracket) => [bracket.charCodeAt(0), -1] as const),
])

/** Whether JSON nests too deeply, without parsing it. In UTF-8, a bracket's byte is never part of another character. */
function isTooDeep(bytes: Buffer): boolean {
  let depth = 0
  let isText = false
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number // within its length
    if (byte === QUOTE) isText = !isText
    else if (isText && byte === BACKSLASH) at += 1
    else if (!isText) depth += steps.get(byte) ?? 0
    if (depth > PAYMENT_JSON_MAX_DEPTH) return true
  }
  return false
}
