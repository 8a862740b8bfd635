import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Abi,
  BaseError,
  ContractFunctionRevertedError,
  createTestClient,
  encodeDeployData,
  http,
  publicActions,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
  walletActions,
} from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { anvil } from 'viem/chains'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { OUTSIDE } from '../../../../../fixtures/outside/load.ts'
import type { Hex } from '../../../../../src/core/hex.ts'

/* A real EVM for a test file: one anvil, on a port that was free, ended by its process id. */

/** The words that anvil takes its accounts from; they hold nothing anywhere else. */
const MNEMONIC = 'test test test test test test test test test test test junk'
const ACCOUNTS = 10
const POLL_MS = 5
/** Enough for any call here, so that no transaction is estimated. */
const GAS = 10_000_000n
const END_MS = 10_000
/** On a busy machine a call that mines hundreds of blocks takes long. */
const ANSWER_MS = 600_000

export type Contract = { readonly address: Hex; readonly abi: Abi }

export type Act = {
  readonly from: Hex
  readonly to: Contract
  readonly name: string
  readonly args?: readonly unknown[]
}

/** What came of a call: mined, or refused with the name of the contract's error or its text. */
export type Attempt =
  | { readonly ok: true; readonly receipt: TransactionReceipt }
  | { readonly ok: false; readonly error: string }

export type TestChain = Awaited<ReturnType<typeof startTestChain>>

/** Keys of the accounts that have gas from the start. */
export const devAccounts = Array.from({ length: ACCOUNTS }, (_, addressIndex) =>
  mnemonicToAccount(MNEMONIC, { addressIndex }),
)

/** The program that the installed package of this platform brings. */
export function anvilProgram(): string {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  return join(OUTSIDE, `@foundry-rs/anvil-${process.platform}-${arch}`, 'bin', 'anvil')
}

/** Starts a chain that mines every transaction at once, unless flags of anvil say otherwise. */
export async function startTestChain(flags: readonly string[] = []) {
  const own = ['--host', '127.0.0.1', '--port', '0', '--mnemonic', MNEMONIC, '--accounts', String(ACCOUNTS)]
  const child = spawn(anvilProgram(), [...own, ...flags], { stdio: ['ignore', 'pipe', 'pipe'] })
  const url = `http://${await listening(child)}`
  const transport = http(url, { timeout: ANSWER_MS })
  const client = createTestClient({ chain: anvil, mode: 'anvil', transport, pollingInterval: POLL_MS })
    .extend(publicActions)
    .extend(walletActions)

  /**
   * Asks until it is in a block. viem's own waiting looks again only at a new block, and not at one that comes while it
   * still asks about the one before: a chain that mines each transaction at once makes no further one then.
   */
  async function mined(hash: Hex): Promise<TransactionReceipt> {
    for (;;) {
      try {
        return await client.getTransactionReceipt({ hash })
      } catch (error) {
        if (!(error instanceof TransactionReceiptNotFoundError)) throw error
        await sleep(POLL_MS)
      }
    }
  }

  async function sent(transaction: { from: Hex; to?: Hex; data: Hex }): Promise<TransactionReceipt> {
    const hash = await client.sendTransaction({ ...transaction, account: transaction.from, chain: null, gas: GAS })
    return mined(hash)
  }

  async function deploy(artifact: { abi: Abi; bytecode: Hex }, args: readonly unknown[] = []): Promise<Contract> {
    const from = accountAt(0)
    const { status, contractAddress } = await sent({ from, data: encodeDeployData({ ...artifact, args }) })
    if (status !== 'success' || !contractAddress) throw new Error('the deployment reverted')
    return { address: contractAddress, abi: artifact.abi }
  }

  /** Why the chain would refuse a call now, or undefined. */
  async function refusal(act: Act): Promise<string | undefined> {
    try {
      await client.simulateContract(callOf(act))
      return undefined
    } catch (error) {
      return reasonOf(error)
    }
  }

  /** Asks the chain first, so that a refusal has its reason; what it allows must then be mined. */
  async function attempt(act: Act): Promise<Attempt> {
    const error = await refusal(act)
    if (error !== undefined) return { ok: false, error }
    const hash = await client.writeContract({ ...callOf(act), chain: null })
    const receipt = await mined(hash)
    if (receipt.status !== 'success') throw new Error(`${act.name} was allowed and reverted`)
    return { ok: true, receipt }
  }

  function read(to: Contract, functionName: string, args: readonly unknown[] = []): Promise<unknown> {
    return client.readContract({ address: to.address, abi: to.abi, functionName, args })
  }

  return { url, client, child, mined, sent, deploy, refusal, attempt, read, stop: () => stop(child) }
}

function callOf({ from, to, name, args = [] }: Act) {
  return { address: to.address, abi: to.abi, functionName: name, args, account: from, gas: GAS }
}

/** One chain for a test file, set up once and set back after each test. */
export function onTestChain<T>(setUp: (chain: TestChain) => Promise<T>): () => T & { readonly chain: TestChain } {
  let stage: (T & { chain: TestChain }) | undefined
  let snapshot: Hex
  const current = () => {
    if (stage === undefined) throw new Error('the chain is there once the tests of the file run')
    return stage
  }
  beforeAll(async () => {
    const chain = await startTestChain()
    stage = { ...(await setUp(chain)), chain }
  })
  beforeEach(async () => {
    snapshot = await current().chain.client.snapshot()
  })
  afterEach(async () => {
    await current().chain.client.revert({ id: snapshot })
  })
  afterAll(() => stage?.chain.stop())
  return current
}

/** Address of one of the accounts that have gas. */
export function accountAt(index: number): Hex {
  const account = devAccounts[index]
  if (account === undefined) throw new Error(`the chain has ${ACCOUNTS} accounts`)
  return account.address
}

async function listening(child: ChildProcess): Promise<string> {
  if (!child.stdout || !child.stderr) throw new Error('anvil has no output')
  let said = ''
  child.stderr.on('data', (bytes) => {
    said += bytes
  })
  const failed = once(child, 'exit').then(() => Promise.reject(new Error(`anvil ended: ${said}`)))
  const port = new Promise<string>((resolve) => {
    createInterface({ input: child.stdout ?? process.stdin }).on('line', (line) => {
      const [, address] = /^Listening on (\S+)/.exec(line) ?? []
      if (address !== undefined) resolve(address)
    })
  })
  return Promise.race([port, failed])
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const hard = setTimeout(() => child.kill('SIGKILL'), END_MS)
  await ended
  clearTimeout(hard)
}

function reasonOf(error: unknown): string {
  if (!(error instanceof BaseError)) throw error
  const reverted = error.walk((one) => one instanceof ContractFunctionRevertedError)
  if (!(reverted instanceof ContractFunctionRevertedError)) throw error
  const name = reverted.data?.errorName
  if (name !== undefined && name !== 'Error') return name
  return reverted.reason ?? reverted.signature ?? 'no reason'
}
