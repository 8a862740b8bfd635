import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { toWallet } from '../../../../src/core/hex.ts'
import { accountAt, type Contract, startTestChain, type TestChain } from './anvil/anvil.testkit.ts'
import { contracts } from './contracts/artifacts.testkit.ts'
import { type FaultyNode, startProxy } from './queue/queue.testkit.ts'
import { CallReverted, openReads, type Reads } from './reads.ts'
import { method } from './rpc/abi.ts'
import { openRpc } from './rpc/rpc.ts'
import { openToken } from './token.ts'

// @slow starts a chain

const WALLETS = 20
const owner = accountAt(0)
const wallets = Array.from({ length: WALLETS }, (_, at) => toWallet(`0x${(at + 1).toString(16).padStart(40, '0')}`))

let chain: TestChain
let token: Contract
let proxy: FaultyNode
let reads: Reads
let asked: string[][]
let close: () => Promise<void>
beforeAll(async () => {
  chain = await startTestChain()
  token = await chain.deploy(contracts.testToken, ['USD Coin', '2', owner])
  for (const [at, wallet] of wallets.entries()) {
    await chain.attempt({ from: owner, to: token, name: 'mint', args: [wallet, BigInt(at + 1)] })
  }
})
afterAll(() => chain.stop())
beforeEach(async () => {
  asked = []
  proxy = await startProxy(chain.url, { before: (calls) => void asked.push(calls.map((call) => call.method)) })
  const rpc = openRpc({ urls: [proxy.url] })
  reads = openReads({ rpc, fromBlock: 0, isHeadFinal: true })
  close = rpc.close
})
afterEach(async () => {
  await close()
  await proxy.close()
})

const balances = () => {
  const { balanceOf } = openToken(reads, toWallet(token.address))
  return Promise.all(wallets.map(balanceOf))
}
const held = wallets.map((_, at) => BigInt(at + 1))

test('balances that are asked for together are one call, without a head besides', async () => {
  expect(await balances()).toEqual(held)
  expect(asked).toEqual([['eth_call']])
})

test('a node that makes no contract for a question is asked for each', async () => {
  proxy.fault = {
    ...proxy.fault,
    answer: ({ method: name, params: [call] }) =>
      name === 'eth_call' && !('to' in (call as object)) ? { error: { code: -32_602, message: 'no to' } } : undefined,
  }
  expect(await balances()).toEqual(held)
  expect(asked).toEqual([['eth_call'], ['eth_getBlockByNumber', ...wallets.map(() => 'eth_call')]])
})

test('one that fails tells its own reason, and the others their answers', async () => {
  const to = toWallet(token.address)
  const mint = method('mint', ['address', 'uint256'], [])
  const [refused, ...others] = await Promise.allSettled([
    reads.view({ to, method: mint, values: [toWallet(owner), 1n] }),
    balances(),
  ])
  expect(refused).toMatchObject({ status: 'rejected', reason: expect.any(CallReverted) })
  expect(refused).toMatchObject({ reason: { data: expect.stringMatching(/^0x08c379a0/) } })
  expect(others).toMatchObject([{ status: 'fulfilled', value: held }])
  expect(asked).toEqual([['eth_call']])
})

test('balances of a node that lies behind are not taken', async () => {
  const good = await startProxy(chain.url)
  await chain.client.mine({ blocks: 3 })
  const rpc = openRpc({ urls: [proxy.url, good.url] })
  const late = openReads({ rpc, fromBlock: 0, isHeadFinal: true })
  proxy.dead = true
  await rpc.read([])
  proxy.dead = false
  // Its block is one that the other node has left behind.
  proxy.fault = {
    change: ({ id }, answer) => ({ id, result: `0x${'0'.repeat(63)}1${String(answer.result).slice(66)}` }),
  }
  good.fault = { after: () => void asked.push(['good']) }
  const { balanceOf } = openToken(late, toWallet(token.address))
  expect(await balanceOf(wallets[4] ?? toWallet(owner))).toBe(5n)
  expect(asked).toEqual([['good']])
  await rpc.close()
  await good.close()
})
