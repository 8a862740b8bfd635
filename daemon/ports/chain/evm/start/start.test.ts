import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { circleUsdc, domainSeparator } from '../../../../../src/core/authorization.ts'
import { toWallet, type Wallet } from '../../../../../src/core/hex.ts'
import { openLog } from '../../../log.ts'
import type { Signer } from '../../key.ts'
import { anvilProgram } from '../anvil/anvil.testkit.ts'
import { type Devnet, openDevnet } from '../anvil/devnet.ts'
import { ask } from '../anvil/process.ts'
import type { TxQueue } from '../queue/queue.ts'
import { signTransaction } from '../queue/signer.ts'
import { openRpc, type Rpc } from '../rpc/rpc.ts'
import { numberIn } from '../rpc/values.ts'
import { checkBlock, checkClock, checkGas, checkKeys, checkNode, checkToken } from './checks.ts'
import { deploy, planDevnet, prepareDevnet } from './contracts.ts'
import { keyIn, ownKey } from './keys.ts'

const CHAIN_ID = 8_453
const entropy = (bytes: number) => randomBytes(bytes)
const usdc = { name: circleUsdc.base.name, version: circleUsdc.base.version }
let folder: string
let devnet: Devnet
const opened: Rpc[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'souk-start-'))
  const log = openLog({ level: 'error' })
  devnet = await openDevnet({ folder: join(folder, 'chain'), program: anvilProgram(), chainId: CHAIN_ID, log })
})
afterAll(async () => {
  await devnet.close()
  rmSync(folder, { recursive: true, force: true })
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()))
})

function rpcOf(url: string): Rpc {
  const rpc = openRpc({ urls: [url] })
  opened.push(rpc)
  return rpc
}

/** Sends one after the other and waits for each; dies after so many. */
function plainSender(rpc: Rpc, key: Signer, dieAfter = Number.POSITIVE_INFINITY): Pick<TxQueue, 'call'> {
  let sent = 0
  let turn: Promise<unknown> = Promise.resolve()
  const send: TxQueue['call'] = async ({ to, data }) => {
    if (sent >= dieAfter) throw new Error('the process died')
    sent += 1
    const nonce = numberIn(await rpc.ask('eth_getTransactionCount', [key.address, 'latest']))
    const fees = { tip: 1_000_000_000n, maxFee: 100_000_000_000n, gas: 10_000_000 }
    const { raw, hash } = await signTransaction(key, { chainId: CHAIN_ID, nonce, to, data, ...fees })
    await rpc.send(raw)
    await expect.poll(() => rpc.ask('eth_getTransactionReceipt', [hash])).toMatchObject({ status: '0x1' })
    return { ok: true, transaction: hash, already: false, logs: [] }
  }
  return {
    call: (order) => {
      const sent = turn.then(() => send(order))
      turn = sent.catch(() => undefined)
      return sent
    },
  }
}

describe('the contracts of a devnet', () => {
  it('are there once, wherever a first deployment broke off, at addresses that no other installation has', async () => {
    const rpc = rpcOf(devnet.url)
    const key = await ownKey(join(folder, 'keys', 'gas.key'), entropy)
    await prepareDevnet(devnet.url, key.address)
    const roles = {
      sender: key.address,
      payTo: toWallet(`0x${'77'.repeat(20)}`),
      salt: `0x${'01'.repeat(32)}`,
    } as const
    const plan = planDevnet(roles, usdc)
    const all = Object.keys(plan).length
    await expect(deploy(plan, { rpc, queue: plainSender(rpc, key, 3) })).rejects.toThrow('died')
    expect(await deploy(plan, { rpc, queue: plainSender(rpc, key) })).toBe(all - 3)
    expect(await deploy(plan, { rpc, queue: plainSender(rpc, key, 0) })).toBe(0)
    const other = planDevnet({ ...roles, salt: `0x${'02'.repeat(32)}` }, usdc)
    const shared = Object.values(other).filter(({ address }) =>
      Object.values(plan).some((mine) => mine.address === address),
    )
    expect(shared).toEqual([])
    await checkToken(rpc, { ...usdc, chainId: CHAIN_ID, verifyingContract: plan.token.address })
    await expect(
      checkToken(rpc, { ...usdc, version: '1', chainId: CHAIN_ID, verifyingContract: plan.token.address }),
    ).rejects.toThrow(/another signing domain/)
    await expect(
      checkToken(rpc, { ...usdc, chainId: CHAIN_ID, verifyingContract: circleUsdc.base.asset }),
    ).rejects.toThrow(/does not exist on this chain.*use a node/)
  })

  it('are paid for by a key that has gas, again after the chain forgot it', async () => {
    const rpc = rpcOf(devnet.url)
    const poor = toWallet(`0x${'aa'.repeat(20)}`)
    await expect(checkGas(rpc, poor, 1n)).rejects.toThrow(/has 0 wei.*send it ETH/)
    await prepareDevnet(devnet.url, poor)
    await checkGas(rpc, poor, 1n)
    await ask(devnet.url, 'hardhat_setBalance', poor, '0x0')
    await prepareDevnet(devnet.url, poor)
    await checkGas(rpc, poor, 1n)
  })
})

/** A node that answers what it is told to. */
async function nodeThat(says: Readonly<Record<string, unknown>>): Promise<{ url: string; server: Server }> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const asked: { id: number; method: string }[] = [JSON.parse(Buffer.concat(chunks).toString())].flat()
    const head = { number: '0x1', hash: `0x${'11'.repeat(32)}`, timestamp: '0x1', baseFeePerGas: '0x1' }
    const of = (method: string) => says[method] ?? (method === 'eth_getBlockByNumber' ? head : null)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(asked.map(({ id, method }) => ({ jsonrpc: '2.0', id, result: of(method) }))))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

describe('a start is refused', () => {
  let server: Server | undefined
  afterEach(() => {
    server?.closeAllConnections()
    server?.close()
    server = undefined
  })
  async function refusal(mode: 'devnet' | 'base' | 'base-sepolia', says: Record<string, unknown>): Promise<string> {
    const node = await nodeThat(says)
    server = node.server
    return checkNode(rpcOf(node.url), mode).then(
      () => 'taken',
      (error: Error) => error.message,
    )
  }

  it('where the node is on another chain', async () => {
    expect(await refusal('base', { eth_chainId: '0x1' })).toMatch(/on chain 1, and --chain base is chain 8453/)
    expect(await refusal('devnet', { eth_chainId: '0x7a69' })).toMatch(/chain 31337.*anvil --chain-id 8453/)
    expect(await refusal('base-sepolia', { eth_chainId: '0x14a34' })).toBe('taken')
  })

  it('where a public chain would be taken for a devnet', async () => {
    const says = { eth_chainId: '0x2105', web3_clientVersion: 'Geth/v1.15' }
    expect(await refusal('devnet', says)).toMatch(/Geth.*needs anvil or hardhat/)
    expect(await refusal('devnet', { ...says, web3_clientVersion: 'anvil/v1.7.1' })).toBe('taken')
  })

  it('where no node answers', async () => {
    await expect(checkNode(rpcOf('http://127.0.0.1:1'), 'base')).rejects.toThrow(/No chain node responds.*--rpc-url/)
  })

  it('where the node lacks the latest block that a backup saw', async () => {
    const node = await nodeThat({ eth_blockNumber: '0x10' })
    server = node.server
    const rpc = rpcOf(node.url)
    await checkBlock(rpc, 'base', 16)
    await expect(checkBlock(rpc, 'base', 17)).rejects.toThrow(/at block 16,.*has seen block 17: wait until.*synced/)
    // A devnet may lose its last blocks.
    await checkBlock(rpc, 'devnet', 17)
  })

  it('where the clocks of chain and machine are apart', async () => {
    const rpc = rpcOf(devnet.url)
    const now = Math.floor(Date.now() / 1_000)
    await checkClock(rpc, 'devnet', now)
    await expect(checkClock(rpc, 'devnet', now - 600)).rejects.toThrow(/ahead of the clock of this machine/)
    await expect(checkClock(rpc, 'devnet', now + 600)).rejects.toThrow(/behind the clock of this machine/)
  })

  it('where a token is not as it is pinned', async () => {
    const domain = { ...usdc, chainId: CHAIN_ID, verifyingContract: circleUsdc.base.asset }
    const separator = Buffer.from(domainSeparator(domain)).toString('hex')
    const node = await nodeThat({ eth_getCode: '0x60', eth_call: `0x${separator}` })
    server = node.server
    await expect(checkToken(rpcOf(node.url), domain)).rejects.toThrow(/does not have 6 decimals/)
  })

  it('where its keys are others than the data folder began with', () => {
    const [one, two] = [toWallet(`0x${'1'.repeat(40)}`), toWallet(`0x${'2'.repeat(40)}`)]
    const began = { gas_key: one, pay_to: two }
    const files = { gasKeyFile: 'gas.key', payToKeyFile: 'pay.key' }
    const refusal = (mode: 'base' | 'devnet', gas: Wallet, payTo: Wallet) => () =>
      checkKeys({ gas: { address: gas }, payTo: { address: payTo } }, { mode, setup: files }, began)
    expect(refusal('base', one, two)).not.toThrow()
    expect(refusal('base', two, two)).toThrow(/--gas-key-file gas.key has.*is 0x1{40}: put that key into gas.key/)
    expect(refusal('base', one, one)).toThrow(/--pay-to-key-file pay.key has/)
    expect(refusal('devnet', one, one)).toThrow(/keys of this devnet.*restore the folder/)
  })

  it('where others can read a key, or it is none; nothing of it is told', async () => {
    const file = join(folder, 'some.key')
    writeFileSync(file, `0x${'5'.repeat(64)}\n`)
    chmodSync(file, 0o644)
    await expect(keyIn(file, '--gas-key-file')).rejects.toThrow(/--gas-key-file.*readable by other users.*chmod 600/)
    chmodSync(file, 0o600)
    expect((await keyIn(file, '--gas-key-file')).address).toMatch(/^0x[0-9a-f]{40}$/)
    writeFileSync(file, 'not quite a secret')
    const error = await keyIn(file, '--gas-key-file').catch(String)
    expect(error).toMatch(/contains no key/)
    expect(error).not.toContain('secret')
    await expect(keyIn(join(folder, 'none'), '--pay-to-key-file')).rejects.toThrow(/cannot be read \(ENOENT\)/)
  })
})

it('a key of its own is drawn once, and nobody else may read it', async () => {
  const first = await ownKey(join(folder, 'own', 'pay-to.key'), entropy)
  expect((await ownKey(join(folder, 'own', 'pay-to.key'), entropy)).address).toBe(first.address)
  expect(statSync(join(folder, 'own', 'pay-to.key')).mode & 0o077).toBe(0)
})
