import { keccak_256 } from '@noble/hashes/sha3.js'
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { typedDigest } from './authorization.ts'
import type { Hex } from './hex.ts'

/* The extension `offer-receipt` of x402 v2: signed offers in a 402, a signed receipt with the answer (EIP-712). */

/** Member of `extensions` in a 402, a payment and a settlement. */
export const offerReceipt = 'offer-receipt'

/** What a seller asks for a resource, until `validUntil` in unix seconds. `amount` is in atomic units. */
export type OfferPayload = {
  readonly version: 1
  readonly resourceUrl: string
  readonly scheme: string
  /** CAIP-2. */
  readonly network: string
  readonly asset: string
  readonly payTo: string
  readonly amount: string
  readonly validUntil: number
}

/** What a seller was paid for. `issuedAt` is in unix seconds; `transaction` is the hash on the chain. */
export type ReceiptPayload = {
  readonly version: 1
  readonly network: string
  readonly resourceUrl: string
  readonly payer: string
  readonly issuedAt: number
  readonly transaction: string
}

export type SignedOffer = {
  readonly format: 'eip712'
  /** Index in `accepts`. */
  readonly acceptIndex: number
  readonly payload: OfferPayload
  readonly signature: Hex
}
export type SignedReceipt = { readonly format: 'eip712'; readonly payload: ReceiptPayload; readonly signature: Hex }

const WORD_BYTES = 32
const UINT64_AT = 24

/** A member as EIP-712 encodes it: a number as uint256, a text by its hash. */
function wordOf(value: string | number): Uint8Array {
  if (typeof value === 'string') return keccak_256(utf8ToBytes(value))
  const word = new Uint8Array(WORD_BYTES)
  new DataView(word.buffer).setBigUint64(UINT64_AT, BigInt(value))
  return word
}

const structHash = (type: string, values: readonly (string | number)[]): Uint8Array =>
  keccak_256(concatBytes(wordOf(type), ...values.map(wordOf)))

const DOMAIN = 'EIP712Domain(string name,string version,uint256 chainId)'
const OFFER =
  'Offer(uint256 version,string resourceUrl,string scheme,string network,string asset,string payTo,string amount,uint256 validUntil)'
const RECEIPT =
  'Receipt(uint256 version,string network,string resourceUrl,string payer,uint256 issuedAt,string transaction)'
const offerDomain = structHash(DOMAIN, ['x402 offer', '1', 1])
const receiptDomain = structHash(DOMAIN, ['x402 receipt', '1', 1])

/** The digest that the seller signs, 32 bytes. */
export function offerDigest(offer: OfferPayload): Uint8Array {
  const { version, resourceUrl, scheme, network, asset, payTo, amount, validUntil } = offer
  const values = [version, resourceUrl, scheme, network, asset, payTo, amount, validUntil]
  return typedDigest(offerDomain, structHash(OFFER, values))
}

/** The digest that the seller signs, 32 bytes. */
export function receiptDigest(receipt: ReceiptPayload): Uint8Array {
  const { version, network, resourceUrl, payer, issuedAt, transaction } = receipt
  const values = [version, network, resourceUrl, payer, issuedAt, transaction]
  return typedDigest(receiptDomain, structHash(RECEIPT, values))
}
