import { keccak_256 } from '@noble/hashes/sha3.js'
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { z } from 'zod'
import { typedDigest } from './authorization.ts'
import type { Hex } from './hex.ts'

/* The extension `offer-receipt` of x402 v2: signed offers in a 402, a signed receipt with the answer (EIP-712). */

/** Member of `extensions` in a 402, a payment and a settlement. */
export const offerReceipt = 'offer-receipt'

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
const text = ['string', z.string()] as const
const integer = ['uint256', z.int().nonnegative()] as const
type Fields = Readonly<Record<string, typeof text | typeof integer>>
type Payload<F extends Fields> = { readonly [K in keyof F]: z.infer<F[K][1]> }

/** A signed struct: its digest, 32 bytes, and the form in which it is sent. */
function signed<F extends Fields>(name: 'Offer' | 'Receipt', fields: F) {
  const domain = structHash(DOMAIN, [`x402 ${name.toLowerCase()}`, '1', 1])
  const type = `${name}(${Object.entries(fields).map(([member, [kind]]) => `${kind} ${member}`)})`
  const payload = z.object(Object.fromEntries(Object.entries(fields).map(([member, [, schema]]) => [member, schema])))
  return {
    digest: (values: Payload<F>) =>
      typedDigest(
        domain,
        structHash(
          type,
          Object.keys(fields).map((member) => values[member] as string | number), // members of the fields
        ),
      ),
    sent: z.object({
      format: z.literal('eip712'),
      payload: payload as unknown as z.ZodType<Payload<F>>, // the same members
      signature: z.custom<Hex>((value) => typeof value === 'string' && /^0x[0-9a-fA-F]{130}$/.test(value)),
    }),
  }
}

const offer = signed('Offer', {
  ...{ version: integer, resourceUrl: text, scheme: text, network: text, asset: text, payTo: text, amount: text },
  validUntil: integer,
})
const receipt = signed('Receipt', {
  ...{ version: integer, network: text, resourceUrl: text, payer: text, issuedAt: integer, transaction: text },
})

/** What a seller asks for a resource, until `validUntil` in unix seconds. `acceptIndex`: which entry of `accepts`. */
export const SignedOffer = offer.sent.extend({ acceptIndex: z.int().default(0) })
export type SignedOffer = z.infer<typeof SignedOffer>
/** What a seller was paid for, at `issuedAt` in unix seconds. */
export const SignedReceipt = receipt.sent
export type SignedReceipt = z.infer<typeof SignedReceipt>

export const offerDigest = offer.digest
export const receiptDigest = receipt.digest

/** A member of the extension, as sent. @param extensions - of a 402 or a settlement */
export function proofIn(extensions: unknown, member: 'offers' | 'receipt'): unknown {
  return Object(Object(Object(extensions)[offerReceipt]).info)[member]
}

/** The signed offer for the payment option at `index`, if it has one. Other formats are not read. */
export function signedOfferOf(extensions: unknown, index: number): SignedOffer | undefined {
  const offers = proofIn(extensions, 'offers')
  const read = Array.isArray(offers) ? offers.map((one) => SignedOffer.safeParse(one).data) : []
  return read.find((one) => one?.acceptIndex === index)
}
