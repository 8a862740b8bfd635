import { afterEach, beforeEach, expect, test } from 'vitest'
import { openMemoryStore } from '../../../store/memory/open.testkit.ts'
import type { Store } from '../../../store/port.ts'
import {
  buyers,
  type Fault,
  type FaultyNode,
  gasKey,
  type Opened,
  openQueue,
  openStage,
  order,
  type Stage,
  startProxy,
} from './queue/queue.testkit.ts'
import { chainTxs, queueCollections } from './queue/rows.ts'
import { openReads } from './reads.ts'
import { openRpc } from './rpc/rpc.ts'
import { RpcUnavailableError } from './rpc/values.ts'

// @deep three kinds of node, each with a chain that is undone

const EPOCH = 4
/** What counts where the words are not known: blocks below the head. */
const [SAFE, FINAL] = [150, 900]
const finality = { confirmed: 'safe', final: 'finalized' } as const
const patience = { interval: 50 }

let stage: Stage
let node: FaultyNode
let store: Store
let opened: Opened
beforeEach(async () => {
  stage = await openStage(['--slots-in-an-epoch', String(EPOCH)])
  node = await startProxy(stage.chain.url)
  store = openMemoryStore([...queueCollections])
  const timings = { keepMs: 0, followMs: 50 }
  opened = await openQueue(stage, { store, key: await gasKey(stage), urls: [node.url], change: { finality }, timings })
  await opened.queue.start()
})
afterEach(async () => {
  await opened.close()
  await node.close()
  await stage.chain.stop()
})

const mine = (blocks: number) => stage.chain.client.mine({ blocks })
const tagged = (said: object): Fault => ({
  answer: ({ method, params: [block] }) =>
    method === 'eth_getBlockByNumber' && (block === 'safe' || block === 'finalized') ? said : undefined,
})
async function state(): Promise<string | undefined> {
  return (await store.read((t) => t.table(chainTxs).page('newest', [], { limit: 1 }))).rows[0]?.state
}
async function stateOfFirst(): Promise<string | undefined> {
  return (await store.read((t) => t.table(chainTxs).page('newest', [], { limit: 2 }))).rows[1]?.state
}
async function pay(): Promise<void> {
  const [buyer] = await buyers(stage, 1)
  if (!buyer) throw new Error('nobody buys')
  expect(await opened.queue.settle(await order(stage, buyer))).toMatchObject({ ok: true })
}
/** The queue has looked at the chain a few times more. */
async function looked(): Promise<void> {
  const before = node.calls
  await expect.poll(() => node.calls - before, patience).toBeGreaterThan(8)
}
async function asOf(wanted: 'confirmed' | 'final'): Promise<number> {
  const rpc = openRpc({ urls: [node.url] })
  try {
    const told = await openReads({ rpc, fromBlock: 0, isHeadFinal: false }).asOf(wanted)
    expect(told.finality).toBe(wanted)
    return Number(await stage.chain.client.getBlockNumber()) - told.block
  } finally {
    await rpc.close()
  }
}

test.each([
  ['-32602', { error: { code: -32_602, message: 'invalid argument 0' } }],
  ['-39001', { error: { code: -39_001, message: 'Unknown block' } }],
  ['-32000', { error: { code: -32_000, message: 'safe block not found' } }],
  ['null', { result: null }],
])('a node that does not know safe and finalized (%s) is read by depth', async (_, said) => {
  node.fault = tagged(said)
  // Far above the first block, before which nothing is.
  await mine(FINAL)
  await pay()
  await looked()
  expect([await asOf('confirmed'), await asOf('final')]).toEqual([SAFE, FINAL])
  await mine(SAFE - 1)
  await looked()
  expect(await state()).toBe('included')
  await mine(1)
  await expect.poll(state, patience).toBe('confirmed')
  await mine(FINAL - SAFE - 1)
  await looked()
  expect(await state()).toBe('confirmed')
  await mine(1)
  await expect.poll(state, patience).toBe('final')
})

test('the words of a node that knows them are followed; what it cannot say for once is not guessed', async () => {
  await mine(2 * EPOCH)
  await pay()
  await looked()
  expect([await state(), await asOf('confirmed'), await asOf('final')]).toEqual(['included', EPOCH, 2 * EPOCH])
  await mine(EPOCH)
  await expect.poll(state, patience).toBe('confirmed')
  // It knew them before.
  node.fault = tagged({ error: { code: -32_000, message: 'finalized block not found' } })
  await mine(FINAL)
  await looked()
  expect(await state()).toBe('confirmed')
  node.fault = {}
  await expect.poll(state, patience).toBe('final')
})

test('a node that is only busy tells nothing about its words', async () => {
  node.fault = tagged({ error: { code: -32_005, message: 'limit exceeded' } })
  await pay()
  await mine(2 * EPOCH)
  await looked()
  expect(await state()).toBe('included')
  await expect(asOf('final')).rejects.toThrow(RpcUnavailableError)
  node.fault = {}
  await expect.poll(state, patience).toBe('final')
})

test('a reorganisation before safe is followed, and what is final stays so', async () => {
  const reorg = () => stage.chain.client.request({ method: 'anvil_reorg', params: [1, []] } as never)
  await pay()
  await reorg()
  await expect.poll(() => opened.queue.status().reorged, patience).toBe(1)
  await expect.poll(() => stage.paid(), patience).toBe(1_000n)
  await expect.poll(state, patience).toBe('included')
  await mine(2 * EPOCH + 1)
  await expect.poll(state, patience).toBe('final')
  await reorg()
  await pay()
  await looked()
  expect([await stateOfFirst(), await stage.paid(), opened.queue.status().reorged]).toEqual(['final', 2_000n, 1])
})
