import { randomBytes } from 'node:crypto'
import { instantiateSecp256k1 } from '@bitauth/libauth'
import { PaymentRequiredV2, toBase64, x402Headers } from '../../src/api/endpoint/x402.ts'
import {
  type Authorization,
  addressOfPublicKey,
  authorizationDigest,
  domainSeparator,
} from '../../src/core/authorization.ts'
import { toWallet, type Wallet } from '../../src/core/hex.ts'
import { requestBytes } from './load.ts'

const MILLISECONDS_A_SECOND = 1_000
const KEY_BYTES = 32
const CHAIN_ID = 8453
const V_OFFSET = 27

// Thousands of payments are signed before each round: in WebAssembly that takes a tenth of the time.
const secp256k1 = await instantiateSecp256k1()

export type Buyer = { readonly key: Uint8Array; readonly wallet: Wallet }

export function newBuyers(count: number): Buyer[] {
  return Array.from({ length: count }, () => {
    const key = randomBytes(KEY_BYTES)
    const publicKey = secp256k1.derivePublicKeyUncompressed(key)
    if (typeof publicKey === 'string') throw new Error(publicKey)
    return { key, wallet: addressOfPublicKey(publicKey) }
  })
}

/** A request that costs money. */
export type Priced = {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: string
}

type Offer = { readonly required: PaymentRequiredV2; readonly accepted: PaymentRequiredV2['accepts'][number] }

/** What the server's 402 asks for, in the second generation that both servers speak. */
export async function offerOf({ url, method, path, body }: Priced): Promise<Offer> {
  const response = await fetch(`${url}${path}`, {
    method,
    ...(body === undefined ? {} : { body, headers: { 'Content-Type': 'application/json' } }),
  })
  const header = response.headers.get(x402Headers.requiredV2)
  if (header === null) throw new Error(`${path} answered ${response.status}, not a 402: ${await response.text()}`)
  const required = PaymentRequiredV2.parse(JSON.parse(Buffer.from(header, 'base64').toString()))
  const [accepted] = required.accepts
  if (!accepted) throw new Error(`the 402 of ${path} offers nothing`)
  return { required, accepted }
}

/** Value of the payment header: an authorization with a fresh nonce, signed for an offer. */
export function sign({ key, wallet }: Buyer, { required, accepted }: Offer): string {
  const payTo = toWallet(accepted.payTo)
  const asset = toWallet(accepted.asset)
  const { name, version } = accepted.extra ?? {}
  const authorization: Authorization = {
    from: wallet,
    to: payTo,
    value: BigInt(accepted.amount),
    validAfter: 0n,
    validBefore: BigInt(Math.floor(Date.now() / MILLISECONDS_A_SECOND) + accepted.maxTimeoutSeconds),
    nonce: `0x${randomBytes(KEY_BYTES).toString('hex')}`,
  }
  const domain = { name: String(name), version: String(version), chainId: CHAIN_ID, verifyingContract: asset }
  const signed = secp256k1.signMessageHashRecoverableCompact(
    key,
    authorizationDigest(domainSeparator(domain), authorization),
  )
  if (typeof signed === 'string') throw new Error(signed)
  const v = (V_OFFSET + signed.recoveryId).toString(16)
  const words = Object.fromEntries(Object.entries(authorization).map(([field, value]) => [field, String(value)]))
  const payload = { signature: `0x${Buffer.from(signed.signature).toString('hex')}${v}`, authorization: words }
  return toBase64({ x402Version: 2, resource: required.resource, accepted, payload })
}

/** Paid requests ready to be sent, the buyers in turn. */
export async function signedRequests(priced: Priced, buyers: readonly Buyer[], count: number): Promise<Buffer[]> {
  const offer = await offerOf(priced)
  return Array.from({ length: count }, (_, index) => {
    const buyer = buyers[index % buyers.length] as Buyer // within bounds
    return requestBytes({ ...priced, headers: { [x402Headers.paymentV2]: sign(buyer, offer) } })
  })
}
