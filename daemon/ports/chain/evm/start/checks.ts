import { bytesToHex } from '@noble/hashes/utils.js'
import { chainNetworks, domainSeparator, networks, type TokenDomain } from '../../../../../src/core/authorization.ts'
import { AppError } from '../../../../../src/core/error.ts'
import type { Hex, Wallet } from '../../../../../src/core/hex.ts'
import { isObject } from '../../../../../src/core/json.ts'
import type { ChainSetup } from '../../../../../src/model/payment.ts'
import type { ChainMode } from '../../chain.ts'
import { encodeCall, method } from '../rpc/abi.ts'
import type { Rpc } from '../rpc/rpc.ts'
import { bigIn, bytesIn, numberIn, RpcUnavailableError } from '../rpc/values.ts'
import { factory, withoutCode } from './contracts.ts'

/** Names of development nodes; a devnet accepts no other nodes. */
const LOCAL_NODES = /^(anvil|hardhat)/i
const DECIMALS = 6n
/** Allowed difference between the clocks of chain and machine, seconds. */
const MAX_SKEW_S = 60
const decimals = encodeCall(method('decimals', [], ['uint8']), [])
const separator = encodeCall(method('DOMAIN_SEPARATOR', [], ['bytes32']), [])

function refused(sentence: string): AppError {
  return new AppError('invalid_request', sentence)
}

/**
 * Checks the chain before anything is signed.
 * @returns the hash of its first block
 * @throws AppError with problem and remedy
 */
export async function checkNode(rpc: Rpc, mode: ChainMode): Promise<Hex> {
  const ask = async (name: string, ...params: unknown[]) => {
    try {
      return await rpc.ask(name, params)
    } catch (error) {
      if (!(error instanceof RpcUnavailableError)) throw error
      throw refused(`No chain node responds (${error.message}): check --rpc-url, or start without --chain ${mode}.`)
    }
  }
  const { chainId } = networks[chainNetworks[mode]]
  const found = numberIn(await ask('eth_chainId'))
  if (found !== chainId) {
    const way = mode === 'devnet' ? `start it as: anvil --chain-id ${chainId}` : `use a node of chain ${chainId}`
    throw refused(`The node of --rpc-url is on chain ${found}, and --chain ${mode} is chain ${chainId}: ${way}.`)
  }
  if (mode === 'devnet') {
    const version = String(await ask('web3_clientVersion'))
    if (!LOCAL_NODES.test(version)) {
      throw refused(`--rpc-url: the node is ${version.slice(0, 80)}; a devnet needs anvil or hardhat.`)
    }
  }
  const first = await ask('eth_getBlockByNumber', '0x0', false)
  if (!isObject(first)) throw refused('--rpc-url: the node has no first block; use another node.')
  return bytesIn(first['hash'])
}

/** Checks the chain's clock, which decides payment windows. @throws AppError */
export async function checkClock(rpc: Rpc, mode: ChainMode, nowSeconds: number): Promise<void> {
  // An idle local chain makes no blocks, so use the pending one.
  const block = await rpc.ask('eth_getBlockByNumber', [mode === 'devnet' ? 'pending' : 'latest', false])
  const at = isObject(block) ? numberIn(block['timestamp']) : 0
  const apart = at - nowSeconds
  if (Math.abs(apart) <= MAX_SKEW_S) return
  const how = `${Math.abs(apart)} s ${apart > 0 ? 'ahead of' : 'behind'}`
  throw refused(`The clock of the chain is ${how} the clock of this machine: correct the clock, or use a synced node.`)
}

/** Checks code, decimals and domain of the token. @throws AppError */
export async function checkToken(rpc: Rpc, domain: TokenDomain): Promise<void> {
  const to = domain.verifyingContract
  const call = (data: Hex) => ({ method: 'eth_call', params: [{ to, data }, 'latest'] })
  const { answers } = await rpc.read([
    { method: 'eth_getCode', params: [to, 'latest'] },
    call(decimals),
    call(separator),
  ])
  const [code, places, own] = answers.map((answer) => (answer.ok ? bytesIn(answer.result) : undefined))
  if (code === undefined || code === '0x') {
    throw refused(`The token ${to} does not exist on this chain: use a node of the right chain.`)
  }
  if (places === undefined || places === '0x' || bigIn(places) !== DECIMALS) {
    throw refused(
      `The token ${to} does not have ${DECIMALS} decimals, so it is not USDC: use a node of the right chain.`,
    )
  }
  if (own !== `0x${bytesToHex(domainSeparator(domain))}`) {
    throw refused(
      `The token ${to} has another signing domain; expected ${domain.name} version ${domain.version}. Its payments could not be settled.`,
    )
  }
}

/** Checks the CREATE2 factory. @throws AppError if missing */
export async function checkFactory(rpc: Rpc): Promise<void> {
  const [missing] = await withoutCode([factory.address], rpc)
  if (missing === undefined) return
  throw refused(`This chain has no CREATE2 deployer (${missing}): use a node of the right chain.`)
}

/** Checks that the node has the latest block that a backup saw. @throws AppError */
export async function checkBlock(rpc: Rpc, mode: ChainMode, seen: number | undefined): Promise<void> {
  // A local chain may lose its last blocks, which are then sent again.
  if (mode === 'devnet' || seen === undefined) return
  const head = numberIn(await rpc.ask('eth_blockNumber', []))
  if (head >= seen) return
  throw refused(
    `The node of --rpc-url is at block ${head}, and this marketplace has seen block ${seen}: wait until the node is synced, or use another one.`,
  )
}

type KeyFiles = { readonly mode: ChainMode; readonly setup: Omit<ChainSetup, 'rpcUrls'> }

/** Checks that the data folder was created with these keys. @throws AppError */
export function checkKeys(
  keys: Readonly<Record<'gas' | 'payTo', { readonly address: Wallet }>>,
  { mode, setup: { gasKeyFile, payToKeyFile, gasAddress, payToAddress } }: KeyFiles,
  home: { readonly gas_key: Wallet; readonly pay_to: Wallet } | undefined,
): void {
  if (!home) return
  for (const [flag, file, given, role, began, now] of [
    [
      '--gas-key-file',
      gasKeyFile,
      gasAddress && '--gas-address',
      'gas key, which sends all transactions',
      home.gas_key,
      keys.gas.address,
    ],
    [
      '--pay-to-key-file',
      payToKeyFile,
      payToAddress && '--pay-to-address',
      'pay-to key, which receives and pays out',
      home.pay_to,
      keys.payTo.address,
    ],
  ]) {
    if (began === now) continue
    if (mode === 'devnet' && !given) {
      const way = 'restore the folder "chain" of the data folder, or start over with souk reset'
      throw refused(`The original keys of this devnet are missing: ${way}.`)
    }
    const [has, way] = given
      ? [`${given} is`, 'give that one']
      : [`${flag} ${file} has the key of`, `put that key into ${file}`]
    throw refused(`${has} ${now}, but the ${role}, of this marketplace is ${began}: ${way}.`)
  }
}

/** Checks that the gas key has at least `least` wei. @throws AppError if it has less */
export async function checkGas(rpc: Rpc, key: Wallet, least: bigint): Promise<void> {
  const held = bigIn(await rpc.ask('eth_getBalance', [key, 'latest']))
  if (held >= least) return
  throw refused(
    `The gas key ${key} has ${held} wei, too little for a payment: send it ETH on this chain and start again.`,
  )
}
