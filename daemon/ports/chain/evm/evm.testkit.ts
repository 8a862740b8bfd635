import { setTimeout as sleep } from 'node:timers/promises'
import { type Abi, encodeDeployData } from 'viem'
import { expect } from 'vitest'
import { type Hex, toWallet, type Wallet } from '../../../../src/core/hex.ts'
import { isObject } from '../../../../src/core/json.ts'
import { usdc } from '../../../../src/core/money.ts'
import { DAY_MS, unixSeconds } from '../../../../src/core/time.ts'
import { openMemoryStore } from '../../../store/memory/open.testkit.ts'
import type { Store } from '../../../store/port.ts'
import type { ChainPort } from '../chain.ts'
import type { ChainBench } from '../conformance/bench.testkit.ts'
import { openKey, type Signer } from '../key.ts'
import { accountAt, type TestChain } from './anvil/anvil.testkit.ts'
import { contracts } from './contracts/artifacts.testkit.ts'
import { chainGrants, openFaucet } from './faucet.ts'
import { type EvmChain, type EvmDeployment, type EvmOptions, openEvmChain } from './open.ts'
import { queueCollections } from './queue/rows.ts'

/* The port over a real EVM: contracts and keys of its own for each bench. */

const NETWORK = 'base'
/** What a test chain has to be started with. */
export const testChainFlags = ['--chain-id', '8453']
const DOMAIN = { name: 'USD Coin', version: '2' } as const
const POLL_MS = 2
const RICH: Hex = '0x56bc75e2d63100000'
const GAS: Hex = '0x989680'

export type EvmBench = ChainBench & {
  chain: EvmChain
  readonly store: Store
  readonly deployment: EvmDeployment
  readonly keys: { readonly gas: Signer; readonly payTo: Signer }
  readonly rpc: (method: string, ...params: readonly unknown[]) => Promise<unknown>
  /** Over a chain whose money is real: as a market of the tests takes it, which gives test money. */
  readonly asTest: () => ChainPort
  readonly deploy: (artifact: { abi: Abi; bytecode: Hex }, args?: readonly unknown[]) => Promise<Wallet>
}

type Given = {
  /** What the operator set, by what is deployed for it. */
  readonly withSettings?: (deploy: EvmBench['deploy']) => Promise<NonNullable<EvmOptions['settings']>>
  /** How the chain is reached; directly unless given. */
  readonly rpcUrls?: readonly string[]
  readonly change?: Partial<EvmOptions>
}

export async function openEvmBench(testChain: TestChain, given: Given = {}): Promise<EvmBench> {
  const store = openMemoryStore([...queueCollections, chainGrants])
  const rpc = rpcOf(testChain.url)
  const deploy = deployerOf(rpc)
  const keys = { gas: await newSigner(), payTo: await newSigner() }
  await rpc('anvil_setBalance', keys.gas.address, RICH)
  const deployment = await deployed(deploy, keys.gas.address, keys.payTo.address)
  const options: EvmOptions = {
    store,
    mode: 'devnet',
    network: NETWORK,
    rpcUrls: given.rpcUrls ?? [testChain.url],
    deployment,
    payTo: keys.payTo.address,
    keys,
    wall: Date.now,
    settings: (await given.withSettings?.(deploy)) ?? {},
    ...given.change,
  }
  let grants = 0
  const bench: EvmBench = {
    ...{ store, deployment, keys, rpc, deploy },
    chain: await openEvmChain(options),
    asTest: () => {
      const { chain } = bench
      return { ...chain, mode: 'devnet', faucet: openFaucet({ store, queue: chain.queue, asset: deployment.asset }) }
    },
    seconds: () => unixSeconds(Date.now()),
    fund: async (wallet, amount) => {
      const nowMs = ++grants * DAY_MS
      expect(await bench.asTest().faucet?.({ wallet, amount: usdc(amount), nowMs })).toMatchObject({ ok: true })
    },
    reopen: async () => {
      await bench.chain.close()
      bench.chain = await openEvmChain(options)
    },
    close: () => bench.chain.close(),
  }
  return bench
}

async function newSigner(): Promise<Signer> {
  return openKey(Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex'))
}

function rpcOf(url: string): EvmBench['rpc'] {
  return async (method, ...params) => {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const answer: unknown = await (await fetch(url, { method: 'POST', headers, body })).json()
    if (!isObject(answer) || answer['error']) throw new Error(`${method}: ${JSON.stringify(answer)}`)
    return answer['result']
  }
}

function deployerOf(rpc: EvmBench['rpc']): EvmBench['deploy'] {
  return async (artifact, args = []) => {
    const data = encodeDeployData({ ...artifact, args })
    const hash = await rpc('eth_sendTransaction', { from: accountAt(0), data, gas: GAS })
    for (;;) {
      const receipt = await rpc('eth_getTransactionReceipt', hash)
      if (isObject(receipt)) return toWallet(String(receipt['contractAddress']))
      await sleep(POLL_MS)
    }
  }
}

async function deployed(deploy: EvmBench['deploy'], owner: Wallet, payTo: Wallet): Promise<EvmDeployment> {
  const asset = await deploy(contracts.testToken, [DOMAIN.name, DOMAIN.version, owner])
  const identity = await deploy(contracts.identityRegistry, [owner])
  const reputation = await deploy(contracts.reputationRegistry, [identity])
  const anchors = await deploy(contracts.verdictAnchors, [owner])
  const batch = { address: await deploy(contracts.cappedBatch), kind: 'capped' } as const
  const escrow = await deploy(contracts.escrow, [asset, payTo, owner, owner, owner])
  return { asset, domain: DOMAIN, identity, reputation, anchors, escrow, batch, fromBlock: 0 }
}
