import { type Network, networks } from '../../core/authorization.ts'
import type { Hex } from '../../core/hex.ts'
import { formatAmount, type Usdc, usdc } from '../../core/money.ts'

/** What a marketplace whose token is not the one that clients know has to tell them. */
export type LocalToken = { readonly asset: Hex; readonly network: Network; readonly url: string }

/** x402 buyers that others publish, as they come: what they stop at, and how they are told otherwise. */
export type PublishedClient = {
  readonly name: string
  /** Refuses to pay more at once, unless told. */
  readonly cap?: Usdc
  /** What its user writes to raise that. */
  readonly raise?: string
  /** What its user writes so that it pays the token of a sandbox; absent: it pays any token. */
  readonly allow?: (token: LocalToken) => string
}

const CAP_V1 = usdc(100_000n)
const CAP_V2 = usdc(1_000_000n)

/** The one list: every 402, `souk help payments`, the README, `/llms.txt` and the reference say what is here. */
export const publishedClients: readonly PublishedClient[] = [
  {
    name: '@x402/fetch',
    cap: CAP_V2,
    raise: 'client.setSpendControls({ maxAmountPerPayment: "$5" })',
    // One name of the network for each generation.
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

/** `CLIENT: what its user writes`, of each client that has to be told of the token. */
export function allowances(token: LocalToken): readonly string[] {
  return publishedClients.flatMap(({ name, allow }) => (allow ? [`${name}: ${allow(token)}`] : []))
}

/** Clients that stop above an amount, by that amount. */
export function capped(price: Usdc): ReadonlyMap<Usdc, readonly string[]> {
  const stopping = publishedClients.flatMap(({ name, cap }) =>
    cap !== undefined && price > cap ? [{ name, cap }] : [],
  )
  const byCap = Map.groupBy(stopping, ({ cap }) => cap)
  return new Map([...byCap].map(([cap, clients]) => [cap, clients.map(({ name }) => name)]))
}

/** What a first 402 says to people whose client stops at it; empty where none does. */
export function clientNotes(price: Usdc, token: LocalToken | undefined): string[] {
  const caps = [...capped(price)].map(([cap, names]) => `${names.join(', ')} at ${formatAmount(cap)}`)
  return [
    ...(caps.length === 0
      ? []
      : [`The price is ${formatAmount(price)} USDC; clients stop above a limit by default: ${caps.join('; ')} USDC.`]),
    ...(token ? [`The token is test money of this marketplace alone; allow it: ${allowances(token).join('; ')}.`] : []),
  ]
}

const PLACEHOLDER: LocalToken = { asset: '0xASSET', network: 'base', url: 'http://127.0.0.1:4020' }

/** The list for people, an item each, in Markdown; `0xASSET` stands for the `asset` of a 402 unless one is given. */
export function clientLines(token: LocalToken = PLACEHOLDER): string[] {
  return publishedClients.map(({ name, cap, raise, allow }) => {
    const limit =
      cap === undefined ? 'has no limit of its own' : `stops above ${formatAmount(cap)} USDC until \`${raise}\``
    const told = allow ? `it pays the sandbox token after \`${allow(token)}\`` : 'it pays any token'
    return `- \`${name}\` ${limit}; ${told}`
  })
}
