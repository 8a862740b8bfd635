import { randomBytes } from 'node:crypto'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type Authorization, authorizationTypes, domainSeparator } from '../../../../../src/core/authorization.ts'
import { type Hex, toWallet, type Wallet } from '../../../../../src/core/hex.ts'
import { openLowdbStore } from '../../../../store/lowdb/open.ts'
import type { Store } from '../../../../store/port.ts'
import { openKey } from '../../key.ts'
import { openDigests } from '../../signature.ts'
import { accountAt, type Contract, startTestChain, type TestChain } from '../anvil/anvil.testkit.ts'
import { contracts } from '../contracts/artifacts.testkit.ts'
import { openRpc } from '../rpc/rpc.ts'
import type { QueueOptions } from './core.ts'
import { openTxQueue } from './open.ts'
import type { TxQueue } from './queue.ts'
import { queueCollections } from './rows.ts'

/* A queue over a real chain, reached through a proxy that fails on demand. */

export const CHAIN_ID = 31_337
export const GWEI = 1_000_000_000n

type Rpc = { readonly id: number; readonly method: string; readonly params: readonly unknown[] }
type Answer = { id: number; result?: unknown; error?: unknown }

/** What the proxy does with a request: pass it on, answer by itself, or let it go without an answer. */
export type Fault = {
  /** Before it is passed on: 'cut', or a status to answer with. */
  readonly before?: (calls: readonly Rpc[]) => 'cut' | number | undefined
  /** Calls that are answered without the chain; their answer. */
  readonly answer?: (call: Rpc) => Omit<Answer, 'id'> | undefined
  /** What the chain answered, changed. */
  readonly change?: (call: Rpc, answer: Answer) => Answer
  /** After the chain answered: the answer is lost, or is late. */
  readonly after?: (calls: readonly Rpc[]) => Lost | Promise<Lost>
}
type Lost = 'cut' | number | undefined

export type FaultyNode = { readonly url: string; fault: Fault; calls: number; dead: boolean; close(): Promise<void> }

/** Passes JSON-RPC on, unless told otherwise. */
export async function startProxy(target: string, fault: Fault = {}): Promise<FaultyNode> {
  const proxy = { url: '', fault, calls: 0, dead: false, close: async (): Promise<void> => undefined }
  const server: Server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      relay(Buffer.concat(parts).toString())
        .then((text) => {
          if (text === 'cut' || proxy.dead) response.destroy()
          else if (typeof text === 'number') response.writeHead(text).end('no')
          else response.writeHead(200, { 'content-type': 'application/json' }).end(text)
        })
        .catch(() => response.destroy())
    })
  })
  async function relay(body: string): Promise<string | number | 'cut'> {
    if (proxy.dead) return 'cut'
    proxy.calls += 1
    const calls: Rpc[] = JSON.parse(body)
    const { before, answer, change, after } = proxy.fault
    const early = before?.(calls)
    if (early !== undefined) return early
    const own = new Map(calls.flatMap((call) => [[call.id, answer?.(call)]]))
    const rest = calls.filter(({ id }) => own.get(id) === undefined)
    const said: Answer[] = rest.length > 0 ? await forward(target, rest) : []
    const lost = await after?.(calls)
    if (lost !== undefined) return lost
    const answers = calls.map((call) => {
      const mine = own.get(call.id)
      if (mine) return { jsonrpc: '2.0', id: call.id, ...mine }
      const one = said.find(({ id }) => id === call.id) ?? { id: call.id, result: null }
      return change ? change(call, one) : one
    })
    return JSON.stringify(answers)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  proxy.close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return proxy
}

async function forward(target: string, calls: readonly Rpc[]): Promise<Answer[]> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(target, { method: 'POST', headers, body: JSON.stringify(calls) })
  return (await answer.json()) as Answer[]
}

export type Stage = {
  readonly chain: TestChain
  readonly token: Contract
  readonly batch: Contract
  readonly payTo: Wallet
  readonly domain: { name: string; version: string; chainId: number; verifyingContract: Wallet }
  paid(): Promise<bigint>
  fund(wallet: Hex, value: bigint): Promise<void>
}

export async function openStage(flags: readonly string[] = []): Promise<Stage> {
  const chain = await startTestChain(flags)
  const token = await chain.deploy(contracts.testToken, ['USD Coin', '2', accountAt(0)])
  const batch = await chain.deploy(contracts.cappedBatch)
  const payTo = toWallet(toHex(randomBytes(20)))
  const domain = { name: 'USD Coin', version: '2', chainId: CHAIN_ID, verifyingContract: toWallet(token.address) }
  return {
    chain,
    token,
    batch,
    payTo,
    domain,
    paid: async () => (await chain.read(token, 'balanceOf', [payTo])) as bigint,
    fund: async (wallet, value) => {
      const done = await chain.attempt({ from: accountAt(0), to: token, name: 'mint', args: [wallet, value] })
      if (!done.ok) throw new Error(done.error)
    },
  }
}

export type Buyer = ReturnType<typeof privateKeyToAccount>

export async function buyers(stage: Stage, count: number, value = 1_000_000n): Promise<Buyer[]> {
  const made = Array.from({ length: count }, () => privateKeyToAccount(toHex(randomBytes(32))))
  for (const { address } of made) await stage.fund(address, value)
  return made
}

export type Change = Partial<Authorization> & { readonly signAs?: Partial<Authorization> }

/** An order that a buyer signed. */
export async function order(stage: Stage, buyer: Buyer, { signAs, ...change }: Change = {}) {
  const authorization: Authorization = {
    from: toWallet(buyer.address),
    to: stage.payTo,
    value: 1_000n,
    validAfter: 0n,
    validBefore: BigInt(Math.floor(Date.now() / 1000) + 600),
    nonce: toHex(randomBytes(32)),
    ...change,
  }
  const signature = await buyer.signTypedData({
    domain: stage.domain,
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message: { ...authorization, ...signAs },
  })
  return { authorization, signature, priority: 'payment' } as const
}

export function tempStoreDir(): string {
  return mkdtempSync(join(tmpdir(), 'souk-queue-'))
}

export async function openStore(dir: string): Promise<Store> {
  return openLowdbStore({
    dir,
    collections: [...queueCollections],
    now: Date.now,
    durability: 'full',
    onFatal: () => undefined,
  })
}

/** What a killed process leaves: the bytes that were written by then. */
export function copyStore(dir: string): string {
  const copy = tempStoreDir()
  cpSync(dir, copy, { recursive: true, filter: (path) => !path.endsWith('LOCK') && !path.endsWith('lock') })
  return copy
}

export function dropDir(dir: string): void {
  rmSync(dir, { recursive: true, force: true })
}

export type GasKey = { readonly key: Hex; readonly address: Hex }

/** A key that nothing else uses, with gas. */
export async function gasKey(stage: Stage, wei = 10n ** 20n): Promise<GasKey> {
  const key = toHex(randomBytes(32))
  const { address } = privateKeyToAccount(key)
  await stage.chain.client.setBalance({ address, value: wei })
  return { key, address }
}

type Opening = {
  readonly store: Store
  readonly key: GasKey
  readonly urls: readonly string[]
  readonly change?: Partial<QueueOptions>
  readonly timings?: Partial<QueueOptions['timings']>
}

export type Opened = { readonly queue: TxQueue; readonly close: () => Promise<void> }

export async function openQueue(stage: Stage, { store, key, urls, change, timings }: Opening): Promise<Opened> {
  const rpc = openRpc({ urls, setBackMs: 1_500, readTimeoutMs: 2_000, sendTimeoutMs: 2_000 })
  const queue = openTxQueue({
    store,
    rpc,
    signer: await openKey(key.key),
    chainId: CHAIN_ID,
    token: toWallet(stage.token.address),
    digestOf: openDigests(domainSeparator(stage.domain)),
    batch: { address: toWallet(stage.batch.address), kind: 'capped' },
    maxFee: 500n * GWEI,
    finality: { confirmed: 'latest', final: 'latest' },
    wall: Date.now,
    ...change,
    timings: {
      pollMs: 8,
      followMs: 100,
      resendMs: 300,
      waitMs: 20_000,
      keepMs: 60_000,
      reversalGraceMs: 0,
      ...timings,
    },
  })
  const close = async (): Promise<void> => {
    await queue.close()
    await rpc.close()
  }
  return { queue, close }
}
