import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { openMemoryStore } from '../../../../store/memory/open.testkit.ts'
import {
  type Buyer,
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
} from './queue.testkit.ts'
import { queueCollections } from './rows.ts'

// @slow starts a chain

const BUYERS = 16
const EACH = 2
const GOLDEN = (Math.sqrt(5) - 1) / 2

let stage: Stage
let all: Buyer[]
const ended: (() => Promise<void>)[] = []
beforeAll(async () => {
  stage = await openStage()
  all = await buyers(stage, BUYERS)
})
afterAll(() => stage.chain.stop())
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end()
})

async function through(
  proxies: readonly FaultyNode[],
  change: Parameters<typeof openQueue>[1]['change'] = {},
): Promise<Opened> {
  const store = openMemoryStore([...queueCollections])
  const opened = await openQueue(stage, {
    store,
    key: await gasKey(stage),
    urls: proxies.map(({ url }) => url),
    change,
  })
  for (const proxy of proxies) ended.push(proxy.close)
  ended.push(opened.close)
  return opened
}

/** Each buyer pays one after the other; everything is paid, once. */
async function expectAllPaid({ queue }: Opened): Promise<void> {
  const paid = await stage.paid()
  const results = await Promise.all(
    all.map(async (buyer) => {
      const own = []
      for (let each = 0; each < EACH; each++) own.push(await queue.settle(await order(stage, buyer)))
      return own
    }),
  )
  expect(results.flat().filter(({ ok }) => !ok)).toEqual([])
  expect(await stage.paid()).toBe(paid + BigInt(BUYERS * EACH) * 1_000n)
}

/** True one time in so many, in no rhythm that requests could fall into: the same faults in each run. */
function every(nth: number): () => boolean {
  let asked = 0
  return () => (++asked * GOLDEN) % 1 < 1 / nth
}

type Calls = Parameters<NonNullable<Fault['before']>>[0]
const isSend = (calls: Calls) => calls.some(({ method }) => method === 'eth_sendRawTransaction')
const hasReceipts = (calls: Calls) => calls.some(({ method }) => method === 'eth_getTransactionReceipt')

const faults: Record<string, () => Fault> = {
  'sends whose answer is lost': () => {
    const hit = every(3)
    return { after: (calls) => (isSend(calls) && hit() ? 'cut' : undefined) }
  },
  'connections cut before a send': () => {
    const hit = every(3)
    return { before: (calls) => (isSend(calls) && hit() ? 'cut' : undefined) }
  },
  'too many requests': () => {
    const hit = every(5)
    return { before: () => (hit() ? 429 : undefined) }
  },
  'failing reads': () => {
    const hit = every(5)
    return { before: (calls) => (!isSend(calls) && hit() ? 500 : undefined) }
  },
  'receipts that cannot be read for a while': () => {
    let from: number | undefined
    return {
      before: (calls) => {
        if (!hasReceipts(calls)) return undefined
        from ??= Date.now()
        return Date.now() - from < 1_500 ? 503 : undefined
      },
    }
  },
  'internal errors on send': () => {
    const hit = every(5)
    const error = { code: -32_603, message: 'internal error' }
    return { answer: ({ method }) => (method === 'eth_sendRawTransaction' && hit() ? { error } : undefined) }
  },
  'a node that takes transactions and forgets them': () => {
    const hit = every(4)
    const result = `0x${'ab'.repeat(32)}`
    return { answer: ({ method }) => (method === 'eth_sendRawTransaction' && hit() ? { result } : undefined) }
  },
  'receipts that are null for mined transactions': () => {
    const hit = every(2)
    return {
      change: ({ id, method }, answer) =>
        method === 'eth_getTransactionReceipt' && hit() ? { id, result: null } : answer,
    }
  },
  'answers that are no JSON': () => {
    const hit = every(4)
    return { before: () => (hit() ? 200 : undefined) }
  },
}

test.each(Object.entries(faults))('%s: everything is paid once', async (_, fault) => {
  const proxy = await startProxy(stage.chain.url)
  const opened = await through([proxy])
  await opened.queue.start()
  proxy.fault = fault()
  await expectAllPaid(opened)
})

test('a transaction count that runs ahead of receipts gives no nonce up too soon', async () => {
  const proxy = await startProxy(stage.chain.url)
  const opened = await through([proxy])
  await opened.queue.start()
  const first = new Map<unknown, number>()
  proxy.fault = {
    change: ({ id, method, params }, answer) => {
      if (method !== 'eth_getTransactionReceipt') return answer
      const from = first.get(params[0]) ?? Date.now()
      first.set(params[0], from)
      return Date.now() - from < 400 ? { id, result: null } : answer
    },
  }
  await expectAllPaid(opened)
  expect(opened.queue.status().foreignNonces).toBe(0)
})

test('a node that never tells a receipt: the event says that it was paid', async () => {
  const proxy = await startProxy(stage.chain.url)
  const opened = await through([proxy])
  await opened.queue.start()
  const hidden = new Set<unknown>()
  proxy.fault = {
    change: ({ id, method, params }, answer) => {
      if (method !== 'eth_getTransactionReceipt' || opened.queue.status().foreignNonces > 0) return answer
      hidden.add(params[0])
      return { id, result: null }
    },
  }
  const paid = await stage.paid()
  const result = await opened.queue.settle(await order(stage, all[0] as Buyer))
  expect(result).toMatchObject({ ok: true })
  expect(hidden).toContain(result.ok && result.transaction)
  expect(await stage.paid()).toBe(paid + 1_000n)
})

test('a second node that is dead, and one that lies 50 blocks behind, change nothing', async () => {
  const good = await startProxy(stage.chain.url)
  const dead = await startProxy(stage.chain.url)
  const old = await startProxy(stage.chain.url)
  await stage.chain.client.mine({ blocks: 60 })
  const opened = await through([old, dead, good])
  await opened.queue.start()
  dead.dead = true
  old.fault = {
    change: ({ id, method, params }, answer) => {
      if (method === 'eth_getBlockByNumber' && params[0] === 'latest') {
        const block = answer.result as { number: string }
        return { id, result: { ...block, number: `0x${(Number(block.number) - 50).toString(16)}` } }
      }
      return method === 'eth_getTransactionReceipt' ? { id, result: null } : answer
    },
  }
  await expectAllPaid(opened)
})

test('where safe and finalized are unknown, blocks are counted', async () => {
  const proxy = await startProxy(stage.chain.url, {
    answer: ({ method, params }) => {
      const isTag = method === 'eth_getBlockByNumber' && (params[0] === 'safe' || params[0] === 'finalized')
      return isTag ? { error: { code: -39_001, message: 'unknown block' } } : undefined
    },
  })
  const opened = await through([proxy], { finality: { confirmed: 'safe', final: 'finalized' } })
  await opened.queue.start()
  const waiting = opened.queue.settle({ ...(await order(stage, all[0] as Buyer)), until: 'confirmed' })
  const first = await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 500, 'waits'))])
  expect(first).toBe('waits')
  await stage.chain.client.mine({ blocks: 160 })
  expect(await waiting).toMatchObject({ ok: true })
})

test('another chain is refused at start', async () => {
  const proxy = await startProxy(stage.chain.url, {
    answer: ({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : undefined),
  })
  const { queue } = await through([proxy])
  await expect(queue.start()).rejects.toThrow('on chain 1, not 31337')
})
