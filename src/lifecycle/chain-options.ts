import { usage } from '../cli/exit.ts'
import * as z from '../cli/params.ts'
import { chainNetworks } from '../core/authorization.ts'
import { isAddress } from '../core/hex.ts'
import { httpUrl, staysHere } from '../core/loopback.ts'
import { parseAmount } from '../core/money.ts'
import { compact, keysOf } from '../core/record.ts'
import type { ChainSetup } from '../model/payment.ts'
import { kebab } from '../text/text.ts'

const MOST_NODES = 8
const MOST_FACTORIES = 20
const LONGEST_BLOCK_S = 600
const MOST_GWEI = 10_000
const MOST_DESCRIPTORS = 65_535

const NodeUrl = z.string().refine((text) => httpUrl(text) !== null, 'must be an http or https URL')
const Address = z.string().refine(isAddress, 'must be an address')
const Amount = z.string().refine((text) => parseAmount(text) !== undefined, 'must be an amount like 100.00')

/** Chain options. Keys are given as files, since other users can see the options of a process. */
export const chainOptions = {
  chain: z.choice(keysOf(chainNetworks), {
    description: 'where payments settle; fixed at the first start of a data folder (default: sandbox)',
  }),
  rpcUrl: z
    .array(NodeUrl)
    .max(MOST_NODES)
    .default([])
    .meta({ description: 'chain node URL; the preferred one first', value: 'url' }),
  anvil: z.text({ description: 'devnet program (default: search PATH)', value: 'path' }),
  blockTime: z
    .between(1, LONGEST_BLOCK_S)
    .optional()
    .meta({ description: 'seconds between devnet blocks (default: a block per transaction)', value: 'n' }),
  payToKeyFile: z.text({ description: 'file with the key that receives payments and sends payouts', value: 'file' }),
  gasKeyFile: z.text({ description: 'file with the key that pays gas', value: 'file' }),
  payToAddress: Address.optional().meta({
    description: 'address that receives payments, whose key --signer has instead of a file',
    value: 'address',
  }),
  gasAddress: Address.optional().meta({
    description: 'address that pays gas, whose key --signer has instead of a file',
    value: 'address',
  }),
  passphraseFd: z
    .between(0, MOST_DESCRIPTORS)
    .optional()
    .meta({ description: 'file descriptor with the passphrase of encrypted key files (default: ask)', value: 'n' }),
  maxFeeGwei: z.between(1, MOST_GWEI).optional().meta({ description: 'highest gas price, in gwei', value: 'n' }),
  instantLimit: Amount.optional().meta({
    description: 'amount in USDC above which payments wait for more confirmations (default: 100.00)',
    value: 'usdc',
  }),
  hotCeiling: Amount.optional().meta({
    description: 'balance of the pay-to wallet in USDC above which an alarm is raised',
    value: 'usdc',
  }),
  coldAddress: Address.optional().meta({
    description: 'wallet whose key is offline, to which your money above --hot-ceiling goes',
    value: 'address',
  }),
  ethPrice: Amount.optional().meta({ description: 'price of one ETH in USDC, to value gas', value: 'usdc' }),
  walletFactory: z.array(Address).max(MOST_FACTORIES).default([]).meta({
    description: 'wallet factory whose wallets are deployed with their first payment',
    value: 'address',
  }),
  settleThrough: NodeUrl.optional().meta({
    description: 'external facilitator that settles payments and pays their gas',
    value: 'url',
  }),
  realMoney: z.flag({ description: 'confirm real money, for the first start with --chain base' }),
} as const

const Chain = z.object(chainOptions)
type Chain = z.output<typeof Chain>
type Mode = NonNullable<Chain['chain']>
type ChainParams = Chain & {
  readonly seed?: string | undefined
  readonly ephemeral: boolean
  readonly publicFaucet: boolean
  readonly sdnSource?: string | undefined
  readonly signer?: string | undefined
}

export const chainFiles = ['anvil', 'payToKeyFile', 'gasKeyFile'] as const satisfies readonly (keyof Chain)[]

/** Options that are refused with a sandbox, since a sandbox has no chain. */
const elsewhere = [
  'rpcUrl',
  'payToKeyFile',
  'gasKeyFile',
  'payToAddress',
  'gasAddress',
  'maxFeeGwei',
  'instantLimit',
  'walletFactory',
  'settleThrough',
] as const
const here = ['anvil', 'blockTime'] as const

/** For each key, the options that say where it lies: in a file, or with the signer. */
const keyPlaces = [
  ['payToKeyFile', 'payToAddress'],
  ['gasKeyFile', 'gasAddress'],
] as const

type Kept = Chain & Pick<ChainParams, 'sdnSource'>

/** Adds chain options of the last start, unless the launch sets them. If the launch names a chain, adds none. */
export function keptChain<L extends Kept>(launch: L, last: Kept | undefined): L & { readonly chain: Mode } {
  if (launch.chain !== undefined || last === undefined) return { ...launch, chain: launch.chain ?? 'sandbox' }
  const said = Object.entries(launch).filter(([, value]) => value !== false && [value ?? []].flat().length > 0)
  // A key has one place: naming a new one forgets the last one.
  const moved = said.flatMap(([name]) =>
    keyPlaces.flatMap((pair) => (pair.some((one) => one === name) ? [...pair] : [])),
  )
  const stays = Object.entries(Chain.parse(last)).filter(([name]) => !moved.some((one) => one === name))
  // If the last start was with real money, its sanctions list is kept.
  const list = compact({ sdnSource: last.chain === 'base' ? last.sdnSource : undefined })
  return {
    ...launch,
    ...list,
    ...Object.fromEntries(stays),
    chain: last.chain ?? 'sandbox',
    ...Object.fromEntries(said),
  }
}

/** Checks chain options before a start. @throws CliError `usage` for options that contradict each other */
export function checkChain(asked: ChainParams): void {
  const said = (names: readonly (keyof Chain)[]) => names.find((name) => isSaid(asked, name))
  const refuse = (sentence: string, ...next: string[]) => usage(sentence, { next })
  const { chain = 'sandbox' } = asked
  if (asked.seed === 'demo' && chain !== 'sandbox') {
    throw refuse(`The demo needs a sandbox chain, not --chain ${chain}.`, `souk up --chain ${chain} --seed house`)
  }
  const local = said(here)
  if (local !== undefined && (chain !== 'devnet' || asked.rpcUrl.length > 0)) {
    throw refuse(`--${kebab(local)} is only for a local devnet, without --rpc-url.`, 'souk up --chain devnet')
  }
  const foreign = said(elsewhere)
  if (chain === 'sandbox' && foreign !== undefined) {
    throw refuse(`--${kebab(foreign)} needs a chain; a sandbox has none.`, 'souk up --chain devnet')
  }
  const key = said(['payToKeyFile', 'gasKeyFile'])
  if (chain === 'devnet' && key !== undefined) {
    throw refuse(
      `A devnet creates its own keys: omit --${kebab(key)}, whose key may hold money on another chain.`,
      'souk up --chain devnet',
    )
  }
  checkKeyPlaces(asked)
  if (chain === 'base' || chain === 'base-sepolia') checkPublic(asked)
}

function isSaid(asked: Chain, name: keyof Chain): boolean {
  return [asked[name] ?? []].flat().length > 0
}

function checkKeyPlaces(asked: ChainParams): void {
  if (asked.coldAddress !== undefined && asked.hotCeiling === undefined)
    throw usage('--cold-address needs --hot-ceiling, above which money goes there.')
  for (const [file, address] of keyPlaces) {
    if (asked[address] === undefined) continue
    if (asked.signer === undefined)
      throw usage(`--${kebab(address)} needs --signer, which has the key of that address.`)
    if (asked[file] !== undefined) throw usage(`A key has one place: omit --${kebab(file)} or --${kebab(address)}.`)
  }
}

/** Checks the options for a public chain, where node and keys have no defaults. */
function checkPublic(asked: ChainParams): void {
  const { chain = 'sandbox', rpcUrl } = asked
  const [missing] =
    [['rpcUrl'] as const, ...keyPlaces].find((names) => !names.some((name) => isSaid(asked, name))) ?? []
  if (missing !== undefined) {
    const words = '--rpc-url https://node.example.org --pay-to-key-file FILE --gas-key-file FILE'
    throw usage(`--chain ${chain} needs --${kebab(missing)}: there is no default for it.`, {
      next: [`souk up --chain ${chain} ${words}`],
    })
  }
  if (asked.publicFaucet) throw usage(`--public-faucet gives test money, and --chain ${chain} has none.`)
  if (chain !== 'base') return
  const isReadable = (url: string | undefined) => url !== undefined && !url.startsWith('https:') && !staysHere(url)
  if (isReadable(asked.settleThrough)) {
    throw usage('With real money, --settle-through must be an https URL.')
  }
  const readable = rpcUrl.find(isReadable)
  if (readable !== undefined) {
    throw usage(`With real money, --rpc-url ${new URL(readable).origin} must be an https URL or on this machine.`)
  }
  if (asked.sdnSource === undefined) {
    throw usage('Real money needs a real sanctions list: set --sdn-source (the sample is synthetic).')
  }
  if (asked.ephemeral) throw usage('--ephemeral would delete records of real money: omit it.')
}

/** The daemon's configuration for its chain. */
export function chainConfig(
  launch: Chain & Pick<ChainParams, 'signer'>,
  passphrase: string | undefined,
): { chain: Mode; chainSetup?: ChainSetup } {
  const {
    chain = 'sandbox',
    rpcUrl,
    walletFactory,
    anvil,
    blockTime,
    payToKeyFile,
    gasKeyFile,
    maxFeeGwei,
    instantLimit,
    settleThrough,
    signer,
    payToAddress,
    gasAddress,
  } = launch
  if (chain === 'sandbox') return { chain }
  return {
    chain,
    chainSetup: {
      rpcUrls: rpcUrl,
      walletFactories: walletFactory,
      realMoney: launch.realMoney,
      ...compact({ signer, payToAddress, gasAddress }),
      ...(passphrase === undefined ? {} : { passphrase: () => passphrase }),
      ...compact({ anvil, blockTimeS: blockTime, payToKeyFile, gasKeyFile, maxFeeGwei, instantLimit, settleThrough }),
    },
  }
}
