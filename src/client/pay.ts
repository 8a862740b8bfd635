import type { PrivateKeyAccount } from 'viem/accounts'
import {
  type AcceptsV1,
  PaymentRequired,
  PaymentRequiredV2,
  PaymentResponse,
  toBase64,
  x402Headers,
} from '../api/endpoint/x402.ts'
import { decodeObject } from '../api/endpoint/x402-header.ts'
import {
  type Authorization,
  authorizationTypes,
  chainNetworks,
  circleUsdc,
  type Network,
  networks,
  type TokenDomain,
} from '../core/authorization.ts'
import { checksumAddress, type Hex, isAddress, toWallet, type Wallet } from '../core/hex.ts'
import { isObject } from '../core/json.ts'
import { formatAmount, MAX_AMOUNT, type Usdc, usdc } from '../core/money.ts'
import { readSignedOffer, type SignedOffer, signedOfferOf } from '../core/offer-receipt.ts'
import { compact } from '../core/record.ts'

/** Longest `PAYMENT-REQUIRED` header accepted from other servers. */
const REQUIRED_HEADER_READ_MAX_CHARS = 16_384
/** Longest validity of a signed payment, in seconds. */
export const MAX_WINDOW_SECONDS = 600

/** Part of a viem `LocalAccount` needed for paying. */
export type PayingAccount = {
  address: Hex
  signTypedData(typed: {
    domain: TokenDomain
    types: typeof authorizationTypes
    primaryType: 'TransferWithAuthorization'
    message: Authorization
  }): Promise<Hex>
}

export type PayPolicy = {
  maxPrice: Usdc
  /**
   * `sandbox`: only `allowedAssets` may be paid, never Circle's USDC. A real network: only Circle's USDC may be paid.
   */
  network: 'sandbox' | Network
  /** Payable tokens of a sandbox or devnet, in lower case; for a remote, those recorded when it was added. */
  allowedAssets: readonly Wallet[]
}

export type PayRequest = {
  response: { status: number; headers: { get(name: string): string | null }; body: unknown }
  account: PayingAccount
  policy: PayPolicy
  /** 32 random bytes. */
  nonce: Hex
  /** The machine's time in epoch seconds. */
  nowSeconds: number
}

export type PayRefusal =
  | 'malformed_offer'
  | 'scheme_unsupported'
  | 'network_not_allowed'
  | 'asset_not_allowed'
  | 'token_mismatch'
  | 'price_above_max'
  | 'generations_disagree'

export type PayResult =
  | {
      ok: true
      version: 1 | 2
      /** Headers to repeat the request with. They hold a signature: never log them. */
      headers: Record<string, string>
      price: Usdc
      payTo: Wallet
      asset: Wallet
      nonce: Hex
      offer?: SignedOffer
    }
  | { ok: false; reason: PayRefusal; message: string; price?: Usdc }

type Entry = {
  scheme: string
  network: string
  price: Usdc
  asset: Wallet
  payTo: Wallet
  maxTimeoutSeconds: number
  name: unknown
  version: unknown
  /** The entry as the server sent it. A v2 payment contains it. */
  raw: unknown
  signed?: SignedOffer
}

type Offer = { version: 1 | 2; entries: readonly Entry[]; echo: Record<string, unknown> }
type Refused = { ok: false; reason: PayRefusal; message: string; price?: Usdc }

/** The payment option of a 402 that is shown to the user. */
export type PaymentAsked = {
  readonly price: Usdc
  readonly payTo: Wallet
  readonly asset: Wallet
  /** Name of the network in x402 v1. If it has no name there, its CAIP-2 id. */
  readonly network: string
  readonly maxTimeoutSeconds: number
}

/** The first payment option of a 402, even if the policy does not allow it. */
export function askedBy(response: PayRequest['response']): ({ ok: true } & PaymentAsked) | Refused {
  const offer = readOffer(response)
  const [entry] = offer?.entries ?? []
  if (offer === undefined || entry === undefined) return refuse('malformed_offer', NO_OFFER)
  const { price, payTo, asset, maxTimeoutSeconds } = entry
  const network = Object.entries(networks).find(([, { caip2 }]) => caip2 === entry.network)?.[0] ?? entry.network
  return disagreement(offer, entry, response.body) ?? { ok: true, price, payTo, asset, network, maxTimeoutSeconds }
}

/** The payment option chosen from a 402, not signed yet. */
export type Chosen = {
  readonly ok: true
  readonly price: Usdc
  readonly payTo: Wallet
  readonly asset: Wallet
  readonly network: Network
  readonly sign: (by: PaySigner) => Promise<SignedPayment>
}
export type SignedPayment = Extract<PayResult, { ok: true }>
export type PaySigner = Pick<PayRequest, 'account' | 'nonce' | 'nowSeconds'>

/** The first payment option of a 402 that the policy allows. A v2 header is preferred to a v1 body. */
export function chooseOffer(response: PayRequest['response'], policy: PayPolicy): Chosen | Refused {
  const offer = readOffer(response)
  if (offer === undefined) return refuse('malformed_offer', NO_OFFER)
  let refusal: Refused | undefined
  for (const entry of offer.entries) {
    const refused = disagreement(offer, entry, response.body) ?? entryRefusal(entry, { version: offer.version, policy })
    if (refused !== undefined) {
      refusal ??= refused
      continue
    }
    const network = wireNetwork(policy)
    return {
      ok: true,
      price: entry.price,
      payTo: entry.payTo,
      asset: entry.asset,
      network,
      sign: (by) => signEntry({ offer, entry, network, ...by }),
    }
  }
  return refusal ?? refuse('malformed_offer', NO_OFFER)
}

const NO_OFFER = 'The 402 has no readable payment offer.'

/**
 * Header and body of a 402 must agree, so that the user signs what was shown. A body without `accepts` is not compared.
 * Otherwise, one of its entries must agree with the header's entry.
 */
function disagreement({ version }: Offer, entry: Entry, body: unknown): Refused | undefined {
  const unlike = signedDifferences(entry)
  if (unlike.length > 0)
    return refuse('generations_disagree', `The 402 contradicts its signed offer in ${unlike.join(' and ')}.`)
  if (version === 1 || typeof body !== 'object' || body === null || !('accepts' in body)) return undefined
  const accepts: readonly unknown[] = Array.isArray(body.accepts) ? body.accepts : []
  const found = accepts.map((other) => differences(entry, other))
  if (found.some((fields) => fields.length === 0)) return undefined
  const fields = found[0] ?? ['accepts']
  const what = `body and header differ in ${fields.join(' and ')}`
  return refuse('generations_disagree', `The 402 contradicts itself: ${what}.`)
}

function signedDifferences({ signed, price, payTo, asset, network }: Entry): string[] {
  if (signed === undefined) return []
  const { payload } = readSignedOffer(signed)
  return [
    ...(payload.amount === price.toString() ? [] : ['amount']),
    ...(payload.payTo.toLowerCase() === payTo ? [] : ['payee']),
    ...(payload.asset.toLowerCase() === asset ? [] : ['asset']),
    ...(payload.network === network ? [] : ['network']),
  ]
}

function differences(entry: Entry, other: unknown): string[] {
  const body = isObject(other) ? other : {}
  const network = Object.entries(networks).find(([name]) => name === body.network)?.[1].caip2 ?? body.network
  const amount = String(body.maxAmountRequired)
  return [
    ...(/^\d{1,78}$/.test(amount) && BigInt(amount) === entry.price ? [] : ['amount']),
    ...(String(body.payTo).toLowerCase() === entry.payTo ? [] : ['payee']),
    ...(String(body.asset).toLowerCase() === entry.asset ? [] : ['asset']),
    ...(network === entry.network ? [] : ['network']),
  ]
}

/** The settlement in the header of x402 v1 or v2; undefined if it is unreadable. */
export function readPaymentResponse(headers: { get(name: string): string | null }): PaymentResponse | undefined {
  const value = headers.get(x402Headers.responseV2) ?? headers.get(x402Headers.responseV1)
  const decoded = value === null ? undefined : decodeObject(value)
  if (!decoded?.ok) return undefined
  return PaymentResponse.safeParse(decoded.object).data
}

/** Account of a private key; loads the signing library on demand. */
export async function accountFromKey(privateKey: Hex): Promise<PrivateKeyAccount> {
  const { privateKeyToAccount } = await import('viem/accounts')
  return privateKeyToAccount(privateKey)
}

function readOffer({ headers, body }: PayRequest['response']): Offer | undefined {
  const header = headers.get(x402Headers.requiredV2)
  return (header === null ? undefined : readOfferV2(header)) ?? readOfferV1(body)
}

function readOfferV2(header: string): Offer | undefined {
  const decoded = decodeObject(header, REQUIRED_HEADER_READ_MAX_CHARS)
  if (!decoded.ok) return undefined
  const parsed = PaymentRequiredV2.safeParse(decoded.object)
  if (!parsed.success) return undefined
  // A v2 payment sends these members back unchanged, including unknown ones within them.
  const { accepts, resource, extensions } = isObject(decoded.object) ? decoded.object : {}
  const sent = Array.isArray(accepts) ? accepts : []
  const entries = parsed.data.accepts.map(({ amount, extra = {}, ...entry }, i) =>
    toEntry({ ...entry, amount, extra, raw: sent[i], ...compact({ signed: signedOfferOf(extensions, i) }) }),
  )
  return offerOf(2, entries, { resource, ...compact({ extensions }) })
}

function readOfferV1(body: unknown): Offer | undefined {
  const parsed = PaymentRequired.safeParse(body)
  if (!parsed.success) return undefined
  const entries = parsed.data.accepts.map(({ maxAmountRequired, extra = {}, ...entry }) =>
    toEntry({ ...entry, amount: maxAmountRequired, extra, raw: entry }),
  )
  return offerOf(1, entries, {})
}

function offerOf(version: 1 | 2, entries: (Entry | undefined)[], echo: Record<string, unknown>): Offer {
  return { version, entries: entries.filter((entry) => entry !== undefined), echo }
}

type WireEntry = Pick<AcceptsV1, 'scheme' | 'network' | 'asset' | 'payTo' | 'maxTimeoutSeconds'> & {
  amount: string
  extra: Record<string, unknown>
  raw: unknown
  signed?: SignedOffer
}

/** Converts an entry. Undefined if its addresses are of another kind of chain, or its amount is too high. */
function toEntry({ asset, payTo, amount, extra, ...entry }: WireEntry): Entry | undefined {
  if (!isAddress(asset) || !isAddress(payTo) || BigInt(amount) > MAX_AMOUNT) return undefined
  return {
    ...entry,
    price: usdc(BigInt(amount)),
    asset: toWallet(asset),
    payTo: toWallet(payTo),
    name: extra.name,
    version: extra.version,
  }
}

function wireNetwork(policy: PayPolicy): Network {
  return chainNetworks[policy.network]
}

function entryRefusal(entry: Entry, { version, policy }: { version: 1 | 2; policy: PayPolicy }): Refused | undefined {
  const network = wireNetwork(policy)
  if (entry.scheme !== 'exact')
    return refuse('scheme_unsupported', 'The server asks for a payment scheme other than "exact".')
  if (entry.network !== (version === 1 ? network : networks[network].caip2)) {
    return refuse('network_not_allowed', `The server asks for a payment on another network than ${network}.`)
  }
  if (!assetAllowed(entry.asset, policy)) return refuse('asset_not_allowed', assetMessage(entry.asset, policy))
  const token = circleUsdc[network]
  if (entry.name !== token.name || entry.version !== token.version) {
    return refuse(
      'token_mismatch',
      `The server names its token differently; expected "${token.name}" version ${token.version}.`,
    )
  }
  if (entry.price <= policy.maxPrice) return undefined
  const message = `The price is ${formatAmount(entry.price)} USDC, above the limit of ${formatAmount(policy.maxPrice)}.`
  return { ...refuse('price_above_max', message), price: entry.price }
}

function assetAllowed(asset: Wallet, policy: PayPolicy): boolean {
  if (policy.network !== 'sandbox') return asset === circleUsdc[policy.network].asset
  return !isRealUsdc(asset) && policy.allowedAssets.includes(asset)
}

/** Whether a token is Circle's USDC on a public chain. */
export function isRealUsdc(asset: Wallet): boolean {
  return Object.values(circleUsdc).some((token) => token.asset === asset)
}

function assetMessage(asset: Wallet, policy: PayPolicy): string {
  const named = checksumAddress(asset)
  return policy.network === 'sandbox' && isRealUsdc(asset)
    ? `The server asks for real USDC (${named}), but the remote was added as a sandbox.`
    : `The server asks for token ${named}, but the remote was added with another token.`
}

function refuse(reason: PayRefusal, message: string): Refused {
  return { ok: false, reason, message }
}

type Signing = Pick<PayRequest, 'account' | 'nonce' | 'nowSeconds'> & { offer: Offer; entry: Entry; network: Network }

async function signEntry({ offer, entry, account, nonce, nowSeconds, network }: Signing): Promise<SignedPayment> {
  const { asset, payTo, price } = entry
  const { name, version } = circleUsdc[network]
  const { chainId } = networks[network]
  const authorization: Authorization = {
    from: toWallet(account.address),
    to: payTo,
    value: price,
    validAfter: 0n,
    validBefore: BigInt(nowSeconds + Math.min(entry.maxTimeoutSeconds, MAX_WINDOW_SECONDS)),
    nonce,
  }
  const signature = await account.signTypedData({
    domain: { name, version, chainId, verifyingContract: asset },
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message: authorization,
  })
  const payload = { signature, authorization: wireAuthorization(authorization) }
  const headers: Record<string, string> =
    offer.version === 2
      ? { [x402Headers.paymentV2]: toBase64({ x402Version: 2, ...offer.echo, accepted: entry.raw, payload }) }
      : { [x402Headers.paymentV1]: toBase64({ x402Version: 1, scheme: 'exact', network, payload }) }
  return { ok: true, version: offer.version, headers, price, payTo, asset, nonce, ...compact({ offer: entry.signed }) }
}

function wireAuthorization({ from, to, value, validAfter, validBefore, nonce }: Authorization): Record<string, string> {
  return {
    from: checksumAddress(from),
    to: checksumAddress(to),
    value: value.toString(),
    validAfter: validAfter.toString(),
    validBefore: validBefore.toString(),
    nonce,
  }
}
