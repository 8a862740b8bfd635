import { z } from 'zod'
import {
  authorizationTypes,
  type Network,
  networks,
  type PaymentRequirement,
  priceRange,
} from '../../core/authorization.ts'
import { checksumAddress, type Hex, type Wallet } from '../../core/hex.ts'
import { formatAmount, type Usdc, usdc } from '../../core/money.ts'
import { withOneOffer } from '../../core/offer-receipt.ts'
import { faultReason, faultSentences, type PaymentFault } from '../../core/payment-fault.ts'
import { before, compact } from '../../core/record.ts'

/** Header names of x402 v1 and v2 (transport specifications). */
export const x402Headers = {
  paymentV1: 'X-PAYMENT',
  responseV1: 'X-PAYMENT-RESPONSE',
  requiredV2: 'PAYMENT-REQUIRED',
  paymentV2: 'PAYMENT-SIGNATURE',
  responseV2: 'PAYMENT-RESPONSE',
} as const

/** Headers that scripts in a browser may read, listed in `Access-Control-Expose-Headers`. */
export const x402ExposedHeaders = [x402Headers.requiredV2, x402Headers.responseV2, x402Headers.responseV1] as const

/** Member of `extensions` whose id means what `Idempotency-Key` means. */
export const paymentIdentifier = 'payment-identifier'

/** Size limit of `PAYMENT-REQUIRED`: proxies commonly allow 4 to 8 KB for all headers. */
export const REQUIRED_HEADER_MAX_CHARS = 4_092

export type X402Version = 1 | 2

const ASSET_DECIMALS = 6
const [AUTHORIZATION_TYPE] = Object.keys(authorizationTypes)

const AddressText = z.string().regex(/^0x[0-9a-fA-F]{40}$/)
const AtomicText = z.string().regex(/^\d{1,78}$/)
const JsonObject = z.record(z.string(), z.unknown())
const TimeoutSeconds = z.number().int().positive()

/** A payment option in a v1 402, within the rules of existing v1 clients. */
export const AcceptsV1 = z
  .object({
    scheme: z.string(),
    network: z.string(),
    maxAmountRequired: AtomicText,
    resource: z.string(),
    description: z.string(),
    mimeType: z.string(),
    outputSchema: JsonObject.optional(),
    payTo: AddressText,
    maxTimeoutSeconds: TimeoutSeconds,
    asset: AddressText,
    extra: JsonObject.optional(),
  })
  .meta({ id: 'PaymentRequirements' })

/** Body of a 402: the v1 object plus our error members. */
export const PaymentRequired = z
  .object({
    x402Version: z.literal(1),
    error: z.string(),
    accepts: z.array(AcceptsV1).min(1),
    payer: AddressText.optional(),
    extensions: JsonObject.optional(),
    code: z.string().optional(),
    message: z.string().optional(),
    request_id: z.string().optional(),
  })
  .meta({
    id: 'PaymentRequired',
    description: 'x402 v1 object; PAYMENT-REQUIRED carries the v2 object of the same offer',
  })

export const AcceptsV2 = z.object({
  scheme: z.string(),
  network: z.string(),
  amount: AtomicText,
  asset: z.string(),
  payTo: z.string(),
  maxTimeoutSeconds: TimeoutSeconds,
  extra: JsonObject.optional(),
})

const ResourceV2 = z.object({
  url: z.string(),
  description: z.string().optional(),
  mimeType: z.string().optional(),
  serviceName: z.string().optional(),
  tags: z.array(z.string()).optional(),
  iconUrl: z.string().optional(),
})

/** Content of `PAYMENT-REQUIRED` (base64 JSON). */
export const PaymentRequiredV2 = z.object({
  x402Version: z.literal(2),
  error: z.string().optional(),
  resource: ResourceV2,
  accepts: z.array(AcceptsV2).min(1),
  extensions: JsonObject.optional(),
})

/** Result of a settlement, as `X-PAYMENT-RESPONSE` (v1) and `PAYMENT-RESPONSE` (v2) carry it. */
export const PaymentResponse = z.object({
  success: z.boolean(),
  transaction: z.string(),
  network: z.string(),
  payer: z.string().optional(),
  errorReason: z.string().optional(),
  errorMessage: z.string().optional(),
  amount: z.string().optional(),
  extensions: JsonObject.optional(),
})

export type AcceptsV1 = z.infer<typeof AcceptsV1>
export type AcceptsV2 = z.infer<typeof AcceptsV2>
export type PaymentRequired = z.infer<typeof PaymentRequired>
export type PaymentRequiredV2 = z.infer<typeof PaymentRequiredV2>
export type PaymentResponse = z.infer<typeof PaymentResponse>

export type PaymentOffer = PaymentRequirement & {
  /** Absolute public URL of the resource. */
  resource: string
  description: string
  mimeType: string
  /** Set if the asset is test money that clients must be configured for. */
  localToken?: LocalToken
  /** Why a payment was refused; absent if none was sent. */
  fault?: PaymentFault
  /** Replaces the reason in the v1 and v2 objects. */
  error?: string
  notice?: string
  payer?: Wallet
  /** v1 discovery: `{input, output}`; body only. */
  outputSchema?: Record<string, unknown>
  /** For x402 v2 discovery, like `tags`. Omitted if clients would refuse it or the header would be too large. */
  serviceName?: string
  tags?: readonly string[]
  extensions?: Record<string, unknown>
  /** Extensions of x402 v2 that are only in the header, not in the body; `bazaar` describes the paid request. */
  headerExtensions?: Record<string, unknown>
}

/**
 * The 402 of decisions §4: a v1 body with one entry, and the v2 object for `PAYMENT-REQUIRED`. Callers add `code`,
 * `message` and `request_id`.
 */
export function paymentRequired(offer: PaymentOffer): { body: PaymentRequired; header: string } {
  if (!/^https?:\/\//.test(offer.resource)) throw new TypeError('the resource of a 402 must be an absolute URL')
  const amount = priceRange(offer.price).min
  const body: PaymentRequired = {
    x402Version: 1,
    error: errorText(offer, amount, 1),
    accepts: [
      {
        scheme: 'exact',
        network: offer.network,
        maxAmountRequired: amount.toString(),
        resource: offer.resource,
        description: offer.description,
        mimeType: offer.mimeType,
        ...compact({ outputSchema: offer.outputSchema }),
        ...termsOf(offer),
      },
    ],
    ...(offer.payer === undefined ? {} : { payer: checksumAddress(offer.payer) }),
    ...compact({ extensions: offer.extensions }),
  }
  const required: PaymentRequiredV2 = {
    x402Version: 2,
    error: errorText(offer, amount, 2),
    resource: {
      url: offer.resource,
      description: offer.description,
      mimeType: offer.mimeType,
      ...discoveryMembers(offer),
    },
    accepts: [acceptsV2(offer)],
    ...compact({
      extensions: offer.headerExtensions ? { ...offer.extensions, ...offer.headerExtensions } : offer.extensions,
    }),
  }
  return { body, header: fittingHeader(required) }
}

export function acceptsV2(offer: PaymentRequirement): AcceptsV2 {
  const { min } = priceRange(offer.price)
  return { scheme: 'exact', network: networks[offer.network].caip2, amount: min.toString(), ...termsOf(offer) }
}

/** Members common to x402 v1 and v2. */
function termsOf(offer: PaymentRequirement) {
  return {
    payTo: checksumAddress(offer.payTo),
    asset: checksumAddress(offer.asset),
    maxTimeoutSeconds: offer.maxTimeoutSeconds,
    // Existing x402 clients require the last two members. These two are not signed.
    extra: { ...offer.domain, decimals: ASSET_DECIMALS, primaryType: AUTHORIZATION_TYPE },
  }
}

/** Error text: the reason. If the request had no payment, the notice and notes about known clients follow. */
function errorText(offer: PaymentOffer, amount: Usdc, version: X402Version): string {
  if (offer.error !== undefined) return offer.error
  const fault = offer.fault ?? 'missing'
  const reason = faultReason(fault, version)
  if (fault !== 'missing') return reason
  const notes = [...(offer.notice === undefined ? [] : [offer.notice]), ...clientNotes(amount, offer.localToken)]
  return notes.length === 0 ? reason : `${reason}. ${notes.join(' ')}`
}

/** Service names and tags that existing v2 clients accept. Any other text makes them reject the whole 402. */
const DISCOVERY_TEXT = /^[\x20-\x7e]{1,32}$/
const DISCOVERY_MAX_TAGS = 5

/** Name and tags, as far as clients accept them. */
export function discoveryMembers({ serviceName, tags = [] }: Pick<PaymentOffer, 'serviceName' | 'tags'>): {
  serviceName?: string
  tags?: string[]
} {
  const lower = tags.map((tag) => tag.toLowerCase())
  const isFirst = (_tag: string, index: number) => lower.indexOf(lower[index] ?? '') === index
  const fitting = tags
    .filter(isFirst)
    .filter((tag) => DISCOVERY_TEXT.test(tag))
    .slice(0, DISCOVERY_MAX_TAGS)
  return {
    ...(serviceName !== undefined && DISCOVERY_TEXT.test(serviceName) ? { serviceName } : {}),
    ...(fitting.length === 0 ? {} : { tags: fitting }),
  }
}

const HEADER_DESCRIPTION_CHARS = 160

/** Steps that shorten a v2 object, applied in this order until its header is small enough. */
const headerCuts: readonly ((required: PaymentRequiredV2) => PaymentRequiredV2)[] = [
  (required) => required,
  ({ extensions = {}, ...rest }) => ({ ...rest, extensions: withOneOffer(extensions) }),
  ({ extensions: { bazaar: _, ...others } = {}, ...rest }) => ({
    ...rest,
    ...(Object.keys(others).length === 0 ? {} : { extensions: others }),
  }),
  ({ error = '', ...rest }) => ({ ...rest, error: before(error, '. ') }),
  ({ extensions: _, ...rest }) => rest,
  (required) => withResource(required, { description: cut(required.resource.description ?? '') }),
  (required) => ({ ...required, resource: { url: required.resource.url } }),
  (required) => withResource(required, { url: before(required.resource.url, '?') }),
  ({ error: _, ...rest }) => withResource(rest, { url: new URL(rest.resource.url).origin }),
]

function fittingHeader(required: PaymentRequiredV2): string {
  let object = required
  let header = ''
  for (const shorten of headerCuts) {
    object = shorten(object)
    header = toBase64(object)
    if (header.length <= REQUIRED_HEADER_MAX_CHARS) break
  }
  return header
}

function withResource(required: PaymentRequiredV2, change: Partial<PaymentRequiredV2['resource']>): PaymentRequiredV2 {
  return { ...required, resource: { ...required.resource, ...change } }
}

function cut(text: string): string {
  const points = [...text]
  return points.length <= HEADER_DESCRIPTION_CHARS ? text : `${points.slice(0, HEADER_DESCRIPTION_CHARS - 1).join('')}…`
}

export type PaymentOutcome =
  | { success: true; transaction: Hex; network: Network; payer: Wallet; extensions?: Record<string, unknown> }
  | { success: false; fault: PaymentFault; network: Network; payer?: Wallet }

/** Settlement header in the payer's x402 version. */
export function paymentResponse(version: X402Version, outcome: PaymentOutcome): { name: string; value: string } {
  const object: PaymentResponse = {
    success: outcome.success,
    ...(outcome.success ? compact({ extensions: outcome.extensions }) : failureMembers(version, outcome.fault)),
    transaction: outcome.success ? outcome.transaction : '',
    network: version === 1 ? outcome.network : networks[outcome.network].caip2,
    ...(outcome.payer === undefined ? {} : { payer: checksumAddress(outcome.payer) }),
  }
  return { name: version === 1 ? x402Headers.responseV1 : x402Headers.responseV2, value: toBase64(object) }
}

function failureMembers(version: X402Version, fault: PaymentFault): Partial<PaymentResponse> {
  const errorReason = faultReason(fault, version)
  return version === 1 ? { errorReason } : { errorReason, errorMessage: faultSentences[fault] }
}

/** Standard base64 with padding of an object's JSON. */
export function toBase64(object: unknown): string {
  return Buffer.from(JSON.stringify(object), 'utf8').toString('base64')
}

/** The marketplace's test token, for clients that do not know it. */
export type LocalToken = { readonly asset: Hex; readonly network: Network; readonly url: string }

/** An existing x402 client package: its default limit, and how to change it. */
type PublishedClient = {
  readonly name: string
  /** Default limit per payment. */
  readonly cap?: Usdc
  /** Source code with which a buyer raises the client's own payment limit. */
  readonly raise?: string
  /** Code that allows the sandbox token; absent if the client pays with any token. */
  readonly allow?: (token: LocalToken) => string
}

const CAP_V1 = usdc(100_000n)
const CAP_V2 = usdc(1_000_000n)

/** The only list of client packages. 402 responses, `souk help payments`, README, `/llms.txt` and reference use it. */
export const publishedClients: readonly PublishedClient[] = [
  {
    name: '@x402/fetch',
    cap: CAP_V2,
    raise: 'client.setSpendControls({ maxAmountPerPayment: "$5" })',
    // x402 v2 and v1 have different names for the network.
    allow: ({ asset, network }) =>
      `client.setSpendControls({ allowedAssets: ["${networks[network].caip2}", "${network}"].map((network) => ({ network, asset: "${asset}" })) })`,
  },
  { name: '@x402/axios' },
  { name: 'x402-fetch', cap: CAP_V1, raise: 'wrapFetchWithPayment(fetch, account, 5_000_000n)' },
  {
    name: '@faremeter/payment-evm',
    allow: ({ asset }) => `createPaymentHandler(wallet, { asset: { address: "${asset}" } })`,
  },
  {
    name: '@dexterai/x402',
    allow: ({ network, url }) =>
      `wrapFetch(fetch, { evmPrivateKey, rpcUrls: { "${networks[network].caip2}": "${url}" } })`,
  },
]

/** Code that makes a client accept the token, as `CLIENT: code`. Lists only clients that need such code. */
function allowances(token: LocalToken): readonly string[] {
  return publishedClients.flatMap(({ name, allow }) => (allow ? [`${name}: ${allow(token)}`] : []))
}

/** Clients whose default limit is below the price, grouped by limit. */
function capped(price: Usdc): ReadonlyMap<Usdc, readonly string[]> {
  const stopping = publishedClients.flatMap(({ name, cap }) =>
    cap !== undefined && price > cap ? [{ name, cap }] : [],
  )
  const byCap = Map.groupBy(stopping, ({ cap }) => cap)
  return new Map([...byCap].map(([cap, clients]) => [cap, clients.map(({ name }) => name)]))
}

/** Notes in a first 402: clients whose default limit is below the price, and how to allow a test token. */
function clientNotes(price: Usdc, token: LocalToken | undefined): string[] {
  const caps = [...capped(price)].map(([cap, names]) => `${names.join(', ')} at ${formatAmount(cap)}`)
  return [
    ...(caps.length === 0
      ? []
      : [`The price is ${formatAmount(price)} USDC, above the default limits of clients: ${caps.join('; ')} USDC.`]),
    ...(token ? [`The token is test money of this marketplace; allow it: ${allowances(token).join('; ')}.`] : []),
  ]
}

const PLACEHOLDER: LocalToken = { asset: '0xASSET', network: 'base', url: 'http://127.0.0.1:4020' }

/** The list in Markdown. Without a token, `0xASSET` stands for the token's address. */
export function clientLines(token: LocalToken = PLACEHOLDER): string[] {
  return publishedClients.map(({ name, cap, raise, allow }) => {
    const limit =
      cap === undefined ? 'has no limit of its own' : `stops above ${formatAmount(cap)} USDC until \`${raise}\``
    const told = allow ? `it pays the sandbox token after \`${allow(token)}\`` : 'it pays any token'
    return `- \`${name}\` ${limit}; ${told}`
  })
}
