import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { openMemoryStore } from '../../../../store/memory/open.testkit.ts'
import { accountAt } from '../anvil/anvil.testkit.ts'
import {
  type Buyer,
  buyers,
  type GasKey,
  GWEI,
  gasKey,
  openQueue,
  openStage,
  order,
  type Stage,
} from './queue.testkit.ts'
import { queueCollections } from './rows.ts'

// @slow starts a chain

let stage: Stage
let all: Buyer[]
const ended: (() => Promise<void>)[] = []
beforeAll(async () => {
  stage = await openStage()
  all = await buyers(stage, 8)
})
afterAll(() => stage.chain.stop())
afterEach(async () => {
  for (const end of ended.splice(0)) await end()
})

async function start(key: GasKey, change: Parameters<typeof openQueue>[1]['change'] = {}) {
  const store = openMemoryStore([...queueCollections])
  const opened = await openQueue(stage, { store, key, urls: [stage.chain.url], change })
  ended.push(opened.close)
  await opened.queue.start()
  return opened.queue
}

async function spend(key: GasKey): Promise<void> {
  await stage.chain.client.impersonateAccount({ address: key.address })
  await stage.chain.sent({ from: key.address, to: accountAt(1), data: '0x' })
}

const pay = (queue: Awaited<ReturnType<typeof start>>, payers = all) =>
  Promise.all(payers.map(async (one) => queue.settle(await order(stage, one))))

test('a base fee a hundred times as high is paid by replacing what is on its way', async () => {
  const { client } = stage.chain
  const queue = await start(await gasKey(stage))
  const paid = await stage.paid()
  await client.setAutomine(false)
  const waiting = pay(queue)
  await expect.poll(() => queue.status().inFlight).toBeGreaterThan(0)
  const { baseFeePerGas } = await client.getBlock()
  await client.setNextBlockBaseFeePerGas({ baseFeePerGas: (baseFeePerGas ?? GWEI) * 100n })
  await client.mine({ blocks: 1 })
  await expect.poll(() => queue.status().replaced).toBeGreaterThan(0)
  await client.setAutomine(true)
  await client.mine({ blocks: 1 })
  expect((await waiting).filter(({ ok }) => !ok)).toEqual([])
  expect(await stage.paid()).toBe(paid + 8_000n)
  await client.setNextBlockBaseFeePerGas({ baseFeePerGas: GWEI })
  await client.mine({ blocks: 1 })
})

test('above the highest fee allowed everything waits and says so; nothing is lost', async () => {
  const { client } = stage.chain
  const queue = await start(await gasKey(stage), { maxFee: 20n * GWEI })
  const paid = await stage.paid()
  await client.setNextBlockBaseFeePerGas({ baseFeePerGas: 100n * GWEI })
  await client.mine({ blocks: 1 })
  const waiting = pay(queue)
  await expect.poll(() => queue.status().held).toBe('fee')
  expect(await stage.paid()).toBe(paid)
  await client.setNextBlockBaseFeePerGas({ baseFeePerGas: GWEI })
  await client.mine({ blocks: 1 })
  expect((await waiting).filter(({ ok }) => !ok)).toEqual([])
  expect(await stage.paid()).toBe(paid + 8_000n)
  expect(queue.status().held).toBe(undefined)
})

test('without gas everything waits and says so, and goes on once there is some', async () => {
  const key = await gasKey(stage, 0n)
  const queue = await start(key)
  const paid = await stage.paid()
  const waiting = pay(queue)
  await expect.poll(() => queue.status().held).toBe('gas')
  expect(queue.status()).toMatchObject({ inFlight: 0, gasBalance: 0n })
  expect(await stage.paid()).toBe(paid)
  await stage.chain.client.setBalance({ address: key.address, value: 10n ** 20n })
  expect((await waiting).filter(({ ok }) => !ok)).toEqual([])
  expect(await stage.paid()).toBe(paid + 8_000n)
})

test('a key that was used elsewhere meanwhile is refused at the next start', async () => {
  const key = await gasKey(stage)
  const store = openMemoryStore([...queueCollections])
  const first = await openQueue(stage, { store, key, urls: [stage.chain.url] })
  await first.queue.start()
  expect(await pay(first.queue, all.slice(0, 1))).toMatchObject([{ ok: true }])
  await first.close()
  await spend(key)
  const second = await openQueue(stage, { store, key, urls: [stage.chain.url] })
  ended.push(second.close)
  await expect(second.queue.start()).rejects.toThrow('2 transactions on the chain, 1 in this folder')
})

test('nonces that somebody else takes are given up, and what they carried is paid once', async () => {
  const key = await gasKey(stage)
  const queue = await start(key)
  const paid = await stage.paid()
  expect(await pay(queue, all.slice(0, 1))).toMatchObject([{ ok: true }])
  await spend(key)
  await spend(key)
  expect((await pay(queue)).filter(({ ok }) => !ok)).toEqual([])
  expect(queue.status().foreignNonces).toBeGreaterThan(0)
  expect(await stage.paid()).toBe(paid + 9_000n)
})

test('two queues on one key, with the same orders and with their own, pay each once', async () => {
  const key = await gasKey(stage)
  const queues = [await start(key), await start(key)]
  const paid = await stage.paid()
  const shared = await Promise.all(all.map((buyer) => order(stage, buyer)))
  const own = await Promise.all(queues.map(() => Promise.all(all.map((buyer) => order(stage, buyer)))))
  const results = await Promise.all(
    queues.flatMap((queue, at) => [...(own[at] ?? []), ...shared].map((signed) => queue.settle(signed))),
  )
  expect(results.filter(({ ok }) => !ok)).toEqual([])
  expect(await stage.paid()).toBe(paid + 24_000n)
  expect(queues.map((queue) => queue.status().foreignNonces).some((foreign) => foreign > 0)).toBe(true)
})
