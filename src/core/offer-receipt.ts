import { sha256 } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import canonicalize from 'canonicalize'
import { z } from 'zod'
import type { Hex } from './hex.ts'
import { typedDigest } from './keccak.ts'

/*
 * The extension `offer-receipt` of x402 v2: signed offers in a 402, a signed receipt with the answer. They are EIP-712
 * typed data or a JWS (ES256K), signed by the same key.
 */

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
const MAX_MEMBER_CHARS = 2_048
const MAX_JWS_CHARS = 4_096
const text = ['string', z.string().max(MAX_MEMBER_CHARS)] as const
const integer = ['uint256', z.int().nonnegative()] as const
type Fields = Readonly<Record<string, typeof text | typeof integer>>
type Payload<F extends Fields> = { readonly [K in keyof F]: z.infer<F[K][1]> }

/** What was signed. A JWS leaves two signatures possible, as it has no `v`, and names the key instead. */
type Signed<P> = {
  readonly payload: P
  readonly digest: Uint8Array
  readonly signatures: readonly Hex[]
  readonly kid?: string
}

const JwsHeader = z.strictObject({ alg: z.literal('ES256K'), kid: z.string().startsWith('did:key:z') })
const base64url = (bytes: string | Uint8Array) => Buffer.from(bytes).toString('base64url')

/** Parses one of the first two parts of a JWS. */
function partOf<T>(jws: string, at: 0 | 1, schema: z.ZodType<T>): T | undefined {
  try {
    return schema.safeParse(JSON.parse(Buffer.from(jws.split('.')[at] ?? '', 'base64url').toString())).data
  } catch {
    return undefined
  }
}

const signingInput = (kid: string, payload: object) =>
  [{ alg: 'ES256K', kid }, payload].map((part) => base64url(canonicalize(part) ?? '')).join('.')

/** A struct to sign: its digest, 32 bytes, the forms in which it is sent, and how they are read and written. */
function signed<F extends Fields>(name: 'Offer' | 'Receipt', fields: F) {
  const domain = structHash(DOMAIN, [`x402 ${name.toLowerCase()}`, '1', 1])
  const type = `${name}(${Object.entries(fields).map(([member, [kind]]) => `${kind} ${member}`)})`
  const members = Object.fromEntries(Object.entries(fields).map(([member, [, schema]]) => [member, schema]))
  const payload = z.object(members) as unknown as z.ZodType<Payload<F>, Payload<F>> // the same members
  const digest = (values: Payload<F>) =>
    typedDigest(
      domain,
      structHash(
        type,
        Object.keys(fields).map((member) => values[member] as string | number), // members of the fields
      ),
    )
  const eip712 = z.object({
    format: z.literal('eip712'),
    payload,
    signature: z.string().regex(/^0x[0-9a-fA-F]{130}$/) as unknown as z.ZodType<Hex, Hex>, // the instance stays a ZodString
  })
  const jws = z.object({
    format: z.literal('jws'),
    signature: z
      .string()
      .max(MAX_JWS_CHARS)
      .regex(/^[\w-]+\.[\w-]+\.[\w-]{85}[AQgw]$/)
      .refine((value) => partOf(value, 0, JwsHeader) && partOf(value, 1, payload)),
  })
  type Sent = z.infer<typeof eip712> | z.infer<typeof jws>
  const read = (sent: Sent): Signed<Payload<F>> => {
    if (sent.format === 'eip712')
      return { payload: sent.payload, digest: digest(sent.payload), signatures: [sent.signature] }
    const end = sent.signature.lastIndexOf('.')
    const compact = Buffer.from(sent.signature.slice(end + 1), 'base64url').toString('hex')
    return {
      payload: partOf(sent.signature, 1, payload) as Payload<F>, // checked by the schema
      digest: sha256(utf8ToBytes(sent.signature.slice(0, end))),
      signatures: [`0x${compact}1b`, `0x${compact}1c`],
      ...partOf(sent.signature, 0, JwsHeader),
    }
  }
  return { digest, eip712, jws, read }
}

const offer = signed('Offer', {
  ...{ version: integer, resourceUrl: text, scheme: text, network: text, asset: text, payTo: text, amount: text },
  validUntil: integer,
})
const receipt = signed('Receipt', {
  ...{ version: integer, network: text, resourceUrl: text, payer: text, issuedAt: integer, transaction: text },
})

const acceptIndex = z.int().default(0)
/** What a seller asks for a resource, until `validUntil` in unix seconds. `acceptIndex`: which entry of `accepts`. */
export const SignedOffer = z.discriminatedUnion('format', [
  offer.eip712.extend({ acceptIndex }),
  offer.jws.extend({ acceptIndex }),
])
export type SignedOffer = z.infer<typeof SignedOffer>
/** What a seller was paid for, at `issuedAt` in unix seconds. */
export const SignedReceipt = z.discriminatedUnion('format', [receipt.eip712, receipt.jws])
export type SignedReceipt = z.infer<typeof SignedReceipt>
/** What a seller signed about a purchase: proof of its price, and that it was paid. */
export const SignedSale = z.strictObject({ offer: SignedOffer, receipt: SignedReceipt })
export type SignedSale = z.infer<typeof SignedSale>
export type ProofFormat = SignedReceipt['format']
export type OfferPayload = Parameters<typeof offer.digest>[0]

export const { digest: offerDigest, read: readSignedOffer } = offer
export const { digest: receiptDigest, read: readSignedReceipt } = receipt

/** A key as `did:key`, by which a JWS names it. @param publicKey - uncompressed */
export async function didKeyOf(publicKey: Uint8Array): Promise<string> {
  const { fromBytes } = await import('ox/Base58')
  const [x, y] = [publicKey.subarray(1, 33), publicKey.subarray(33)]
  return `did:key:z${fromBytes(Uint8Array.of(0xe7, 0x01, 2 + ((y.at(-1) ?? 0) & 1), ...x))}`
}

/** The address whose key signed. @throws Error if it is another key than the one that a JWS names */
export async function signerOf({ digest, signatures, kid }: Signed<unknown>): Promise<string> {
  const { recoverPublicKey } = await import('viem')
  const { publicKeyToAddress } = await import('viem/accounts')
  for (const signature of signatures) {
    const key = await recoverPublicKey({ hash: digest, signature }).catch(() => undefined) // no point of the curve
    if (key && (!kid || (await didKeyOf(hexToBytes(key.slice(2)))) === kid.split('#')[0]))
      return publicKeyToAddress(key)
  }
  throw new Error('it is not signed by the key that it names')
}

/** Signs 32 bytes as `r ‖ s ‖ v`; `kid` is the did:key of the key. */
type SignBy = { readonly kid: string; readonly sign: (digest: Uint8Array) => Promise<Hex> }

/** Signs a payload as a JWS: its key is named by a did:key, so nobody has to be asked for it. */
export async function signJws({ kid, sign }: SignBy, payload: object) {
  const input = signingInput(kid, payload)
  const compact = hexToBytes((await sign(sha256(utf8ToBytes(input)))).slice(2, 130))
  return { format: 'jws', signature: `${input}.${base64url(compact)}` } as const
}

/** A member of the extension, as sent. @param extensions - of a 402 or a settlement */
export function proofIn(extensions: unknown, member: 'offers' | 'receipt'): unknown {
  return Object(Object(Object(extensions)[offerReceipt]).info)[member]
}

/** The extensions of a 402 with the first of the signed offers alone. */
export function withOneOffer<E extends Readonly<Record<string, unknown>>>(extensions: E): E {
  const offers = proofIn(extensions, 'offers')
  if (!Array.isArray(offers)) return extensions
  return {
    ...extensions,
    [offerReceipt]: { ...Object(extensions[offerReceipt]), info: { offers: offers.slice(0, 1) } },
  }
}

/** Format of the receipt for a payment: that of the first offer which the client sent back. */
export function receiptFormat(extensions: unknown): ProofFormat {
  return Object(Object(proofIn(extensions, 'offers'))[0]).format === 'jws' ? 'jws' : 'eip712'
}

/** The signed offer for the payment option at `index`, if it has one that can be read. */
export function signedOfferOf(extensions: unknown, index: number): SignedOffer | undefined {
  const offers = proofIn(extensions, 'offers')
  const read = Array.isArray(offers) ? offers.map((one) => SignedOffer.safeParse(one).data) : []
  return read.find((one) => one?.acceptIndex === index)
}
