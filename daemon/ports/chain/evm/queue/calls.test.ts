import { setTimeout as sleep } from 'node:timers/promises'
import { keccak256 } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Hex } from '../../../../../src/core/hex.ts'
import { openMemoryStore } from '../../../../store/memory/open.testkit.ts'
import {
  type Buyer,
  buyers,
  type FaultyNode,
  gasKey,
  type Opened,
  openQueue,
  openStage,
  order,
  type Stage,
  startProxy,
} from './queue.testkit.ts'
import { queueCollections } from './rows.ts'

// @slow starts a chain

/* What payments ask of a node, to the call: by number, as times depend on the machine. */

const CROWD = 16
const NEVER = 600_000

let stage: Stage
let all: Buyer[]
let proxy: FaultyNode
let asked: string[][]
const ended: (() => Promise<void>)[] = []
beforeAll(async () => {
  stage = await openStage()
  all = await buyers(stage, CROWD)
})
afterAll(() => stage.chain.stop())
beforeEach(async () => {
  asked = []
  proxy = await startProxy(stage.chain.url, { after: mined })
  ended.push(proxy.close)
})
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end()
})

/** Notes what was asked. A send is answered once its block is there: nodes differ in which comes first. */
async function mined(calls: readonly { readonly method: string; readonly params: readonly unknown[] }[]) {
  asked.push(calls.map(({ method, params }) => (method === 'eth_getBlockByNumber' ? `${params[0]}` : method)))
  for (const { method, params } of calls) {
    if (method !== 'eth_sendRawTransaction') continue
    const hash = keccak256(params[0] as Hex)
    while (!(await stage.chain.client.getTransactionReceipt({ hash }).catch(() => undefined))) await sleep(1)
  }
  return undefined
}

async function open(timings: Parameters<typeof openQueue>[1]['timings'] = {}): Promise<Opened> {
  const opened = await openQueue(stage, {
    store: openMemoryStore([...queueCollections]),
    key: await gasKey(stage),
    urls: [proxy.url],
    timings: { pollMs: NEVER, followMs: NEVER, resendMs: NEVER, ...timings },
  })
  ended.push(opened.close)
  await opened.queue.start()
  // The first one also looks at balance and tip.
  await pay(opened, 1)
  asked.length = 0
  return opened
}

async function pay({ queue }: Opened, count: number): Promise<void> {
  const orders = await Promise.all(all.slice(0, count).map((buyer) => order(stage, buyer)))
  const results = await Promise.all(orders.map((one) => queue.settle(one)))
  expect(results.filter(({ ok }) => !ok)).toEqual([])
}

const payment = [['latest', 'eth_call'], ['eth_sendRawTransaction'], ['latest', 'eth_getTransactionReceipt']]

test('one payment: a look with its trial, the send, a look with its receipt', async () => {
  const opened = await open()
  for (let each = 0; each < 3; each += 1) {
    asked.length = 0
    await pay(opened, 1)
    expect(asked).toEqual(payment)
  }
})

test('many at once ask for no more than one, the code of every payer included', async () => {
  const opened = await open()
  await pay(opened, CROWD)
  asked.length = 0
  await pay(opened, CROWD)
  expect(asked).toEqual(payment)
})

test('blocks that were seen as the head are not asked for again to know that they are still there', async () => {
  const opened = await open({ followMs: 50 })
  const first = await stage.chain.client.getBlockNumber()
  for (let each = 0; each < 10; each += 1) await pay(opened, 1)
  const follows = () => asked.filter((calls) => calls.length === 2 && calls.every((call) => /^(latest|0x)/.test(call)))
  await expect.poll(() => follows().length).toBeGreaterThan(0)
  const last = await stage.chain.client.getBlockNumber()
  expect(last - first).toBe(10n)
  // The head, and the head of the time before: never a block for each payment.
  expect(asked.filter((calls) => calls.filter((call) => call.startsWith('0x')).length > 1)).toEqual([])
})

test('a node that makes no contract for a question is asked for code and trial apart', async () => {
  const opened = await open()
  proxy.fault = {
    ...proxy.fault,
    answer: ({ method, params: [call] }) =>
      method === 'eth_call' && !(call as { to?: string }).to
        ? { error: { code: -32_602, message: 'no to' } }
        : undefined,
  }
  await pay(opened, 2)
  const trials = asked.filter((calls) => calls.includes('eth_call'))
  expect(trials).toEqual([
    ['latest', 'eth_call'],
    ['latest', 'eth_getCode', 'eth_getCode', 'eth_call'],
  ])
})
