import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { everyRow } from '../../../../store/each-page.ts'
import type { SettleResult } from '../../chain.ts'
import type { QueueStep } from './core.ts'
import {
  type Buyer,
  buyers,
  copyStore,
  dropDir,
  type Fault,
  type GasKey,
  GWEI,
  gasKey,
  openQueue,
  openStage,
  openStore,
  order,
  type Stage,
  startProxy,
  tempStoreDir,
} from './queue.testkit.ts'
import { chainSigners, chainTxs } from './rows.ts'

// @deep kills the queue at every step

const KILLS = 3
const BUYERS = 16

let stage: Stage
let all: Buyer[]
const dirs: string[] = []
beforeAll(async () => {
  stage = await openStage()
  all = await buyers(stage, BUYERS)
})
afterAll(() => stage.chain.stop())
afterEach(() => {
  for (const dir of dirs.splice(0)) dropDir(dir)
})

type Order = Awaited<ReturnType<typeof order>>
type Life = {
  readonly dir: string
  readonly key: GasKey
  readonly killAt?: QueueStep
  /** How often the step is passed before. */
  readonly killAfter?: number
  /** Of the node, until the kill. */
  readonly fault?: Fault
}

/** Lives until everything is settled, or until the process would end: then all that is left is a copy of its files. */
async function live(
  { dir, key, killAt, killAfter = 1, fault = {} }: Life,
  open: Map<Order, SettleResult>,
  signed: readonly Order[],
) {
  const proxy = await startProxy(stage.chain.url, fault)
  const store = await openStore(dir)
  const killed = Promise.withResolvers<string>()
  let isDead = false
  let passes = 0
  const step = async (at: QueueStep): Promise<void> => {
    if (isDead) await new Promise(() => undefined)
    if (at !== killAt || ++passes < killAfter) return
    isDead = true
    proxy.dead = true
    killed.resolve(copyStore(dir))
    await new Promise(() => undefined)
  }
  const { queue, close } = await openQueue(stage, {
    store,
    key,
    urls: [proxy.url],
    change: { maxBatch: 4, maxInFlight: 2, step },
  })
  const work = async (): Promise<undefined> => {
    await queue.start()
    const left = signed.filter((one) => !open.get(one)?.ok)
    await Promise.all(left.map(async (one) => open.set(one, await queue.settle(one))))
    return undefined
  }
  const next = await Promise.race([killed.promise, work()])
  if (next === undefined) await close()
  else close().catch(() => undefined)
  await store.close()
  await proxy.close()
  if (next !== undefined) dirs.push(next)
  return next
}

async function expectWhole(dir: string, key: GasKey): Promise<void> {
  const store = await openStore(dir)
  const rows = await everyRow(store.table(chainTxs), { index: 'open', prefix: [key.address.toLowerCase()], limit: 500 })
  const next = (await store.table(chainSigners).get(key.address.toLowerCase()))?.next_nonce
  await store.close()
  expect(rows.map(({ nonce }) => nonce)).toEqual(rows.map((_, at) => at))
  expect(rows.every(({ included }) => included !== null)).toBe(true)
  expect(next).toBe(rows.length)
  expect(await stage.chain.client.getTransactionCount({ address: key.address })).toBe(next)
}

async function killAndRecover(killAt: QueueStep, fault?: (kills: number) => Fault): Promise<void> {
  const key = await gasKey(stage)
  const paid = await stage.paid()
  let dir = tempStoreDir()
  dirs.push(dir)
  const results = new Map<Order, SettleResult>()
  const signed: Order[] = []
  let kills = 0
  for (; kills < KILLS; kills++) {
    for (let each = 0; each < 2; each++) signed.push(...(await Promise.all(all.map((buyer) => order(stage, buyer)))))
    const next = await live(
      { dir, key, killAt, killAfter: fault ? 1 : kills + 1, fault: fault?.(kills) ?? {} },
      results,
      signed,
    )
    if (next === undefined) break
    dir = next
  }
  expect(kills).toBe(KILLS)
  await live({ dir, key }, results, signed)
  expect([...results.values()].filter(({ ok }) => !ok)).toEqual([])
  expect(results.size).toBe(signed.length)
  expect(await stage.paid()).toBe(paid + 1_000n * BigInt(signed.length))
  await expectWhole(dir, key)
}

const steps = [
  'before_simulation',
  'before_store',
  'after_store',
  'sent_without_reply',
  'after_reply',
  'included',
  'done',
] as const

test.each(steps)('a process that ends at %s loses, doubles and skips nothing', (killAt) => killAndRecover(killAt))

/** Takes what is sent and forgets it; from then on blocks cost more than before. */
function forgetful(kills: number): Fault {
  const baseFeePerGas = `0x${(10n * GWEI * 4n ** BigInt(kills)).toString(16)}`
  let forgot = 0
  return {
    answer: ({ method }) => {
      if (method !== 'eth_sendRawTransaction') return undefined
      forgot += 1
      return { result: `0x${'ab'.repeat(32)}` }
    },
    change: ({ id, method }, answer) => {
      if (method !== 'eth_getBlockByNumber' || forgot === 0) return answer
      return { id, result: { ...(answer.result as object), baseFeePerGas } }
    },
  }
}

test('a process that ends after a replacement was stored loses, doubles and skips nothing', () =>
  killAndRecover('replacement_stored', forgetful))

/** Faults at random, of which a life sees many at once; what they hit is drawn from the seed. */
function troubled({ lost, cut, busy, forgets }: Trouble): Fault {
  let asked = 0
  const hits = (nth: number): boolean => nth > 1 && ++asked % nth === 0
  const isSend = (calls: readonly { readonly method: string }[]) => calls[0]?.method === 'eth_sendRawTransaction'
  return {
    before: (calls) => {
      if (isSend(calls) && hits(cut)) return 'cut'
      return hits(busy) ? 429 : undefined
    },
    answer: ({ method }) => {
      if (method !== 'eth_sendRawTransaction' || !hits(forgets)) return undefined
      return { result: `0x${'ab'.repeat(32)}` }
    },
    after: (calls) => (isSend(calls) && hits(lost) ? 'cut' : undefined),
  }
}

type Trouble = { readonly lost: number; readonly cut: number; readonly busy: number; readonly forgets: number }

test('whatever fails and wherever it ends, each payment moves exactly once', async () => {
  const nth = fc.constantFrom(0, 2, 3, 5, 7)
  const trouble = fc.record({ lost: nth, cut: nth, busy: fc.constantFrom(0, 5, 9), forgets: nth })
  const life = fc.record({ killAt: fc.constantFrom(...steps), killAfter: fc.integer({ min: 1, max: 6 }), trouble })
  await fc.assert(
    fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 3 }), async (lives) => {
      const key = await gasKey(stage)
      const paid = await stage.paid()
      const results = new Map<Order, SettleResult>()
      const signed: Order[] = []
      let dir = tempStoreDir()
      dirs.push(dir)
      for (const { killAt, killAfter, trouble } of lives) {
        signed.push(...(await Promise.all(all.slice(0, 8).map((buyer) => order(stage, buyer)))))
        const lived = await live({ dir, key, killAt, killAfter, fault: troubled(trouble) }, results, signed)
        dir = lived ?? dir
      }
      await live({ dir, key }, results, signed)
      expect([...results.values()].filter(({ ok }) => !ok)).toEqual([])
      expect(await stage.paid()).toBe(paid + 1_000n * BigInt(signed.length))
      await expectWhole(dir, key)
    }),
    { numRuns: 4 },
  )
})
