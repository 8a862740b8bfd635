import { type Network, networks } from '../../core/authorization.ts'
import type { Hex } from '../../core/hex.ts'
import { formatAmount, type Usdc, usdc } from '../../core/money.ts'

/** The marketplace's test token, for clients that do not know it. */
export type LocalToken = { readonly asset: Hex; readonly network: Network; readonly url: string }

/** An existing x402 client package: its default limit, and how to change it. */
export type PublishedClient = {
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
export function allowances(token: LocalToken): readonly string[] {
  return publishedClients.flatMap(({ name, allow }) => (allow ? [`${name}: ${allow(token)}`] : []))
}

/** Clients whose default limit is below the price, grouped by limit. */
export function capped(price: Usdc): ReadonlyMap<Usdc, readonly string[]> {
  const stopping = publishedClients.flatMap(({ name, cap }) =>
    cap !== undefined && price > cap ? [{ name, cap }] : [],
  )
  const byCap = Map.groupBy(stopping, ({ cap }) => cap)
  return new Map([...byCap].map(([cap, clients]) => [cap, clients.map(({ name }) => name)]))
}

/** Notes in a first 402: clients whose default limit is below the price, and how to allow a test token. */
export function clientNotes(price: Usdc, token: LocalToken | undefined): string[] {
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
