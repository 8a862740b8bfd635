import { join } from 'node:path'
import { bytesToHex } from '@noble/hashes/utils.js'
import { chainNetworks, circleUsdc, networks } from '../../../../../src/core/authorization.ts'
import { AppError } from '../../../../../src/core/error.ts'
import { type Hex, toWallet, type Wallet } from '../../../../../src/core/hex.ts'
import { parseAmount } from '../../../../../src/core/money.ts'
import { compact } from '../../../../../src/core/record.ts'
import { SECOND_MS, unixSeconds } from '../../../../../src/core/time.ts'
import type { ChainSetup } from '../../../../../src/model/payment.ts'
import type { CatchUp, ChainMode, OperatorKeys } from '../../chain.ts'
import type { SignerRole } from '../../external-signer.ts'
import type { Signer } from '../../key.ts'
import { type Devnet, openDevnet } from '../anvil/devnet.ts'
import { findAnvil } from '../anvil/find.ts'
import { DEFAULT_INSTANT_LIMIT, type EvmChain, type EvmDeployment, openEvmChain } from '../open.ts'
import { openTxQueue } from '../queue/open.ts'
import { QueueRefused } from '../queue/queue.ts'
import { receiptIn } from '../queue/receipt.ts'
import { openRpc, type Rpc } from '../rpc/rpc.ts'
import { bigIn, numberIn, RpcUnavailableError } from '../rpc/values.ts'
import type { PayToKey } from '../settlement.ts'
import { openForeignFacilitator } from '../through/facilitator.ts'
import { settledThrough } from '../through/settle.ts'
import { openCatchUp } from './catch-up.ts'
import { checkBlock, checkClock, checkFactory, checkGas, checkKeys, checkNode, checkToken } from './checks.ts'
import { deploy, type Planned, planDevnet, planOwn, prepareDevnet, type Roles, withoutCode } from './contracts.ts'
import {
  CHAIN_FOLDER,
  type EvmStart,
  externalSigner,
  keyIn,
  lockGasKey,
  ownKey,
  refuseFailing,
  type Undo,
} from './keys.ts'
import { openOperatorKeys, rotatedKeys } from './rotate.ts'
import { type ChainHomeRow, chainHomes, changeHome } from './rows.ts'

const SALT_BYTES = 32
const GWEI = 1_000_000_000n
/** Gas that the balance must cover at a start; `FIRST_GAS` at the first start, which deploys contracts. */
const LEAST_GAS = 100_000n
const FIRST_GAS = 2_500_000n
const BASE_BLOCK_S = 2
/** ERC-8004 registries and the public batch contract have fixed addresses. */
export const publicContracts = {
  base: {
    identity: toWallet('0x8004a169fb4a3325136eb29fa0ceb6d2e539a432'),
    reputation: toWallet('0x8004baa17c55a88189ae136b182e5fda19de9b63'),
  },
  'base-sepolia': {
    identity: toWallet('0x8004a818bfb912233c491871b3d84c89a494bd9e'),
    reputation: toWallet('0x8004b663056a597dffe9eccc1965a193b7388713'),
  },
} as const
export const MULTICALL3 = toWallet('0xca11bde05977b3631167028862be2a173976ca11')

export type StartedChain = {
  readonly chain: EvmChain
  /** Notes for the operator, one sentence each. */
  readonly notes: readonly string[]
  readonly close: () => Promise<void>
}

/**
 * Starts the chain of a data folder: a devnet node if needed, keys and missing contracts. Then opens the chain.
 * @throws AppError with one sentence and the remedy
 */
export async function startEvm(start: EvmStart): Promise<StartedChain> {
  const undo: (() => Promise<void> | void)[] = []
  const close = async () => {
    for (const one of undo.splice(0).reverse()) await one()
  }
  try {
    const started = await startOver(start, (one) => undo.push(one))
    return { ...started, close }
  } catch (error) {
    await close()
    throw refusalOf(error)
  }
}

/** Converts errors of the node and the queue to one sentence; returns other errors unchanged. */
function refusalOf(error: unknown): unknown {
  if (error instanceof QueueRefused) return new AppError('invalid_request', error.message, { cause: error })
  if (!(error instanceof RpcUnavailableError)) return error
  const sentence = `The chain node sent an unexpected response (${error.message}): start again, or use another --rpc-url.`
  return new AppError('invalid_request', sentence, { cause: error })
}

const RESTORED =
  'This marketplace was restored from a backup: it pays out again when all transfers since then are final and in its books.'

type Nodes = { readonly urls: readonly string[]; readonly devnet?: Devnet }

async function startOver(given: EvmStart, onClose: Undo): Promise<Omit<StartedChain, 'close'>> {
  const start = { ...given, onClose }
  const { mode, setup, store, wall } = start
  const home = await store.table(chainHomes).get('chain')
  if (mode === 'base' && !home && !setup.realMoney) {
    throw new AppError(
      'invalid_request',
      '--chain base uses real money: confirm it with --real-money at the first start.',
    )
  }
  const nodes = await nodesOf(start, home)
  if (nodes.devnet) onClose(nodes.devnet.close)
  const rpc = openRpc({ urls: nodes.urls, wall })
  onClose(() => rpc.close())
  const genesis = await checkNode(rpc, mode)
  if (home && home.genesis !== genesis && mode !== 'devnet') throw otherChain(mode)
  await checkBlock(rpc, mode, home?.seen)
  await checkClock(rpc, mode, unixSeconds(wall()))
  const keys = await keysOf(start, home)
  checkKeys(keys, start, home)
  await readyGas(start, { rpc, keys, home, urls: nodes.urls })
  const row = home ?? (await settle(start, { rpc, genesis, keys }))
  const { deployment, contracts, ...found } = await deployed({ ...start, rpc, keys, row })
  const notes = [...found.notes]
  await nodes.devnet?.keep()
  if (Object.keys(contracts).some((name) => row.contracts[name] === undefined)) {
    await changeHome(store, (found) => ({ ...found, contracts: { ...found.contracts, ...contracts } }))
  }
  const chain = await openFollowed(start, { urls: nodes.urls, deployment, keys, row })
  onClose(() => chain.close())
  // What an earlier process left under way would wait for a gas key that has handed its ETH over.
  await chain.keys.replace('gas').catch((error: unknown) => notes.push(`The rotation of the gas key waits: ${error}`))
  if (chain.catchUp.isDue()) notes.push(RESTORED)
  const { settleThrough } = setup
  if (settleThrough === undefined) return { chain, notes }
  const through = await throughForeign(start, chain, settleThrough)
  onClose(through.close)
  return { chain: through.chain, notes: [...notes, ...through.notes] }
}

type Opening = Pick<Nodes, 'urls'> & Pick<Deployed, 'deployment'> & { readonly keys: Keys; readonly row: ChainHomeRow }
type Followed = EvmChain & { readonly catchUp: CatchUp; readonly keys: OperatorKeys }

/** Opens the chain; a restored store then catches up with it. */
async function openFollowed(start: EvmStart, opening: Opening): Promise<Followed> {
  const { store, mode, setup, wall } = start
  const { urls, deployment, keys, row } = opening
  const payTo = keys.payTo.address
  const opened = await openEvmChain({
    ...{ store, mode, wall, deployment, keys, rpcUrls: urls, network: chainNetworks[mode], payTo, former: keys.former },
    settings: settingsOf(mode, setup),
    formerGas: keys.formerGas ?? [],
    adopts: row.restored !== undefined || keys.isShared === true,
  })
  const { asset } = deployment
  const parts = { store, rpc: opened.rpc, row, asset, ring: opened.ring }
  const catchUp = await openCatchUp({ ...parts, isHeadFinal: mode === 'devnet' }).catch(async (error: unknown) => {
    await opened.close()
    throw error
  })
  const noteSeen = async () => {
    const seen = numberIn(await opened.rpc.ask('eth_blockNumber', []))
    await changeHome(store, (found) => ({ ...found, seen }))
  }
  return Object.assign(opened, { catchUp, noteSeen, keys: openOperatorKeys(start, { chain: opened, deployment, row }) })
}

type Foreign = Pick<StartedChain, 'chain' | 'notes' | 'close'>

/** Uses an external facilitator. An unreachable one is tolerated; one that does not settle on this chain is refused. */
async function throughForeign({ setup, wall, log }: EvmStart, chain: EvmChain, address: string): Promise<Foreign> {
  const facilitator = openForeignFacilitator(address)
  const { network, caip2, rpc } = chain
  const kinds = await facilitator.kinds({ 1: network, 2: caip2 })
  if (kinds?.length === 0) {
    await facilitator.close()
    const sentence = `The facilitator at ${facilitator.label} does not settle on ${caip2}: use another --settle-through, or omit it.`
    throw new AppError('invalid_request', sentence)
  }
  const away = `The facilitator at ${facilitator.label} does not respond: payments wait for it.`
  const { instantLimit = DEFAULT_INSTANT_LIMIT } = settingsOf(chain.mode, setup)
  const blockOf = async (hash: Hex) => receiptIn(await rpc.ask('eth_getTransactionReceipt', [hash]))?.block
  return {
    chain: settledThrough({ chain, facilitator, instantLimit, blockOf, queue: chain.queue, wall, log }),
    notes: kinds === undefined ? [away] : [],
    close: facilitator.close,
  }
}

function leastGas(home: ChainHomeRow | undefined): bigint {
  return home && Object.keys(home.contracts).length > 0 ? LEAST_GAS : FIRST_GAS
}

function otherChain(mode: ChainMode): AppError {
  const way =
    mode === 'devnet' ? 'use the same node again, or start over with souk reset' : 'use a node of the original chain'
  return new AppError('invalid_request', `This data folder was created on another chain: ${way}.`)
}

/** URLs of the configured nodes. Without any, starts a devnet node of our own. */
async function nodesOf({ mode, setup, dataDir, log }: EvmStart, home: ChainHomeRow | undefined): Promise<Nodes> {
  if (setup.rpcUrls.length > 0) return { urls: setup.rpcUrls }
  if (mode !== 'devnet') {
    throw new AppError('invalid_request', `--rpc-url: required with --chain ${mode} (there is no default node).`)
  }
  const folder = join(dataDir, CHAIN_FOLDER)
  const { chainId } = networks[chainNetworks[mode]]
  const devnet = await openDevnet({
    folder,
    log,
    chainId,
    program: findAnvil({ given: setup.anvil }),
    blockTimeS: setup.blockTimeS,
  })
  if (!home || devnet.wasThere) return { urls: [devnet.url], devnet }
  await devnet.close()
  throw new AppError(
    'invalid_request',
    `The chain data of this devnet is missing from ${folder}: restore that folder, or start over with souk reset.`,
  )
}

type Keys = { readonly gas: Signer; readonly payTo: Signer; readonly former: readonly PayToKey[] } & Pick<
  Awaited<ReturnType<typeof rotatedKeys>>,
  'formerGas' | 'isShared'
>

type GasMeans = Pick<Nodes, 'urls'> & {
  readonly rpc: Rpc
  readonly keys: Keys
  readonly home: ChainHomeRow | undefined
}

/** Locks the gas keys, and sees that the current one has ETH. */
async function readyGas(start: EvmStart, { rpc, keys, home, urls: [url] }: GasMeans): Promise<void> {
  const { gas, formerGas = [] } = keys
  for (const { address } of [gas, ...formerGas.flatMap(({ key }) => key ?? [])]) lockGasKey(start, address)
  if (start.mode === 'devnet' && url !== undefined) await prepareDevnet(url, gas.address)
  else await checkGas(rpc, gas.address, leastGas(home) * bigIn(await rpc.ask('eth_gasPrice', [])))
}

async function keysOf(start: EvmStart, home: ChainHomeRow | undefined): Promise<Keys> {
  const { formerGas = [], isShared = false, former = [], ...rotated } = home ? await rotatedKeys(start, home) : {}
  const keys = {
    gas: rotated.gas ?? (await keyOf(start, 'gas', home?.gas_key)),
    payTo: rotated.payTo ?? (await keyOf(start, 'pay-to', home?.pay_to)),
    ...{ formerGas, isShared, former },
  }
  if (keys.gas.address !== keys.payTo.address) return keys
  throw new AppError(
    'invalid_request',
    'The same key would receive payments and pay gas: use two keys, so that losing one is less costly.',
  )
}

/** The key of a role: with an external signer, in a file, or on a devnet one of our own. */
async function keyOf(start: EvmStart, role: SignerRole, owner: Wallet | undefined): Promise<Signer> {
  const { mode, setup, dataDir, entropy } = start
  const [file, address] =
    role === 'gas' ? [setup.gasKeyFile, setup.gasAddress] : [setup.payToKeyFile, setup.payToAddress]
  if (address !== undefined) {
    const signer = externalSigner(start, role, toWallet(address))
    if (owner === undefined) await refuseFailing(signer)
    else void signer.check()
    return signer
  }
  const passphrase = setup.passphrase?.()
  if (file !== undefined) return keyIn(file, `--${role}-key-file`, { owner, passphrase })
  if (mode === 'devnet') return ownKey(join(dataDir, CHAIN_FOLDER, `${role}.key`), entropy, passphrase)
  throw new AppError('invalid_request', `--chain ${mode} needs --${role}-key-file, or --${role}-address and --signer.`)
}

type Found = { readonly rpc: Rpc; readonly genesis: Hex; readonly keys: Keys }

/** Binds the data folder to this chain. */
async function settle({ store, mode, entropy }: EvmStart, { rpc, genesis, keys }: Found): Promise<ChainHomeRow> {
  const from_block = numberIn(await rpc.ask('eth_blockNumber', []))
  const salt: Hex = `0x${bytesToHex(entropy(SALT_BYTES))}`
  const own = { gas_key: keys.gas.address, pay_to: keys.payTo.address }
  return store.tx((t) =>
    t.table(chainHomes).insert({ id: 'chain', mode, genesis, salt, ...own, contracts: {}, from_block }),
  )
}

type Deploying = EvmStart & { readonly rpc: Rpc; readonly keys: Keys; readonly row: ChainHomeRow }
type Deployed = {
  readonly deployment: EvmDeployment
  readonly contracts: ChainHomeRow['contracts']
  readonly notes: readonly string[]
}

/** Contracts of this installation; deploys missing ones. */
function deployed(parts: Deploying): Promise<Deployed> {
  const { mode, keys, row } = parts
  const roles = { sender: keys.gas.address, payTo: keys.payTo.address, salt: row.salt }
  return mode === 'devnet' ? devnetDeployment(parts, roles) : publicDeployment(parts, mode, roles)
}

async function devnetDeployment(parts: Deploying, roles: Roles): Promise<Deployed> {
  const { name, version } = circleUsdc[chainNetworks.devnet]
  const plan = planDevnet(roles, { name, version })
  const { token, batcher, ...others } = await make(parts, plan, plan.token.address)
  return {
    deployment: {
      ...others,
      asset: token,
      domain: { name, version },
      fromBlock: parts.row.from_block,
      batch: { address: batcher, kind: 'capped' },
    },
    contracts: { token, batcher, ...others },
    notes: [],
  }
}

async function publicDeployment(parts: Deploying, mode: 'base' | 'base-sepolia', roles: Roles): Promise<Deployed> {
  const { rpc, row } = parts
  const { asset, name, version } = circleUsdc[mode]
  const domain = { name, version }
  await checkToken(rpc, { ...domain, chainId: networks[mode].chainId, verifyingContract: asset })
  await checkFactory(rpc)
  const contracts = await make(parts, planOwn(roles, asset), asset)
  const isBatched = (await rpc.ask('eth_getCode', [MULTICALL3, 'latest'])) !== '0x'
  const lone = `This chain has no Multicall3 (${MULTICALL3}): every payment is a separate transaction.`
  return {
    deployment: {
      ...publicContracts[mode],
      ...contracts,
      ...{ asset, domain, fromBlock: row.from_block },
      ...(isBatched ? { batch: { address: MULTICALL3, kind: 'multicall3' } } : {}),
    },
    contracts,
    notes: isBatched ? [] : [lone],
  }
}

/** Deploys missing contracts. Contracts with a known address keep it, even if this version has other code. */
async function make<Name extends string>(
  parts: Deploying,
  plan: Readonly<Record<Name, Planned>>,
  token: Wallet,
): Promise<Record<Name, Wallet>> {
  const { rpc, row, mode } = parts
  const known = Object.values(row.contracts)
  if ((await withoutCode(known, rpc)).length > 0) throw otherChain(mode)
  const fresh = Object.fromEntries(Object.entries<Planned>(plan).filter(([name]) => row.contracts[name] === undefined))
  if (Object.keys(fresh).length > 0) await deployAll(parts, fresh, token)
  const placed = Object.entries<Planned>(plan).map(([name, { address }]) => [name, row.contracts[name] ?? address])
  return Object.fromEntries(placed)
}

/** Deploys contracts through a temporary queue. An interrupted deployment continues at the next start. */
async function deployAll(parts: Deploying, plan: Readonly<Record<string, Planned>>, token: Wallet): Promise<void> {
  const { store, rpc, keys, mode, setup, wall } = parts
  const queue = openTxQueue({
    ...{ store, rpc, wall, token, signer: keys.gas, chainId: networks[chainNetworks[mode]].chainId },
    digestOf: () => {
      throw new Error('payments wait until the contracts are deployed')
    },
    maxFee: BigInt(setup.maxFeeGwei ?? 100) * GWEI,
    finality: { confirmed: 'latest', final: 'latest' },
    timings: deployTimings,
  })
  try {
    await queue.start()
    await deploy(plan, { rpc, queue })
  } finally {
    await queue.close()
  }
}

const deployTimings = {
  pollMs: 20,
  followMs: SECOND_MS,
  resendMs: 5 * SECOND_MS,
  waitMs: 60 * SECOND_MS,
  keepMs: 60 * SECOND_MS,
  reversalGraceMs: 60 * SECOND_MS,
}

function settingsOf(mode: ChainMode, { instantLimit, maxFeeGwei, walletFactories = [], blockTimeS }: ChainSetup) {
  return compact({
    instantLimit: instantLimit === undefined ? undefined : parseAmount(instantLimit),
    maxFee: maxFeeGwei === undefined ? undefined : BigInt(maxFeeGwei) * GWEI,
    walletFactories: walletFactories.map(toWallet),
    blockTimeS: mode === 'devnet' ? blockTimeS : BASE_BLOCK_S,
  })
}
