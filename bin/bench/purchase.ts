import { z } from 'zod'
import { defineCollection, type Store, type Tx } from '../../daemon/store/port.ts'
import { Micro } from '../../src/core/codecs.ts'
import { usdc } from '../../src/core/money.ts'

/** Collections shaped like those a purchase touches, with the indexes such rows have. */
export const jobs = defineCollection('jobs', {
  schema: z.object({
    id: z.string(),
    version: z.number(),
    buyer: z.string(),
    provider: z.string(),
    status: z.enum(['paid', 'done']),
    created_at: z.number(),
    price: Micro,
    input: z.record(z.string(), z.unknown()),
  }),
  key: 'id',
  indexes: [
    { name: 'buyer', fields: ['buyer', 'created_at'], order: 'desc' },
    { name: 'provider', fields: ['provider', 'created_at'], order: 'desc' },
    { name: 'status', fields: ['status', 'created_at'], order: 'desc' },
  ],
})

const payments = defineCollection('payments', {
  schema: z.object({
    id: z.string(),
    version: z.number(),
    payer: z.string(),
    open: z.boolean(),
    created_at: z.number(),
    amount: Micro,
    answer: z.string(),
  }),
  key: 'id',
  indexes: [{ name: 'open', fields: ['created_at'], where: { field: 'open', equals: true } }],
})

const ledger = defineCollection('ledger', {
  schema: z.object({
    id: z.string(),
    version: z.number(),
    at: z.number(),
    ref: z.string(),
    postings: z.array(z.object({ account: z.string(), delta: Micro })),
  }),
  key: 'id',
  indexes: [{ name: 'at', fields: ['at'] }],
})

const accounts = defineCollection('accounts', {
  schema: z.object({ id: z.string(), version: z.number(), balance: Micro, sales: z.number() }),
  key: 'id',
  indexes: [],
})

export const purchaseCollections = [jobs, payments, ledger, accounts]

const BUYERS = 997
const PROVIDERS = 211
const hex = (n: number, digits: number): string => n.toString(16).padStart(digits, '0')
/** Scatters nonces over the key space, as real ones are. */
const scatter = (n: number): number => Math.imul(n, 2_654_435_761) >>> 0

const INPUT = { prompt: 'x'.repeat(420), options: { depth: 3, format: 'markdown', tags: ['a', 'b', 'c'] } }
const ANSWER = JSON.stringify({ job: 'y'.repeat(480) })
export const PURCHASE_PRICE_MICRO = 525_000n
const PRICE = usdc(PURCHASE_PRICE_MICRO)

/** Key of the payment of a purchase: 32 bytes as hex, like a nonce. */
export function paymentId(n: number): string {
  return `${hex(scatter(n), 32)}${hex(n, 32)}`
}

/** Buyer of a purchase. */
export function buyerOf(n: number): string {
  return `0x${hex(n % BUYERS, 40)}`
}

/** One purchase: 5 rows in 4 collections, about 2 KB of JSON. */
export async function purchase(t: Tx, n: number): Promise<void> {
  const buyer = buyerOf(n)
  const provider = `p_${hex(n % PROVIDERS, 16)}`
  if (
    !(await t
      .table(payments)
      .insertIfAbsent({ id: paymentId(n), payer: buyer, open: true, created_at: n, amount: PRICE, answer: ANSWER }))
  )
    return
  await t.table(jobs).insert({
    id: `job_${hex(n, 16)}`,
    buyer,
    provider,
    status: 'paid',
    created_at: n,
    price: PRICE,
    input: INPUT,
  })
  await t.table(ledger).insert({
    id: `post_${hex(n, 16)}`,
    at: n,
    ref: `job_${hex(n, 16)}`,
    postings: [
      { account: `buyer:${buyer}`, delta: usdc(-525_000n) },
      { account: `provider:${provider}`, delta: usdc(498_750n) },
      { account: 'platform:fees', delta: usdc(26_250n) },
    ],
  })
  await addSale(t, `provider:${provider}`, 498_750n)
  await addSale(t, 'platform:fees', 26_250n)
}

async function addSale(t: Tx, id: string, share: bigint): Promise<void> {
  const account = await t.table(accounts).getForUpdate(id)
  const { balance, sales } = account ?? { balance: usdc(0n), sales: 0 }
  await t.table(accounts).put({ id, balance: usdc(balance + share), sales: sales + 1 })
}

const PURCHASES_A_COMMIT = 250
const COMMITS_A_REPORT = 200

/** Fills a store with `records` rows, about as many of each kind as purchases make. */
export async function preload(store: Store, records: number, watch?: (purchases: number) => void): Promise<void> {
  const purchases = Math.ceil(records / 3)
  for (let from = 0; from < purchases; from += PURCHASES_A_COMMIT) {
    const numbers = Array.from({ length: Math.min(PURCHASES_A_COMMIT, purchases - from) }, (_, at) => from + at)
    await store.tx(async (t) => {
      // A database is asked once whether these rows are absent, not for each of them.
      await t.table(payments).getMany(numbers.map(paymentId))
      await t.table(jobs).getMany(numbers.map((n) => `job_${hex(n, 16)}`))
      await t.table(ledger).getMany(numbers.map((n) => `post_${hex(n, 16)}`))
      for (const n of numbers) await purchase(t, n)
    })
    const done = from + numbers.length
    if (done === purchases || (done / PURCHASES_A_COMMIT) % COMMITS_A_REPORT === 0) watch?.(done)
  }
}

/** Touches every index once: they are built when they are first read. */
export async function readIndexes(store: Store): Promise<void> {
  for (const { name } of jobs.indexes) await store.table(jobs).count(name, [])
  for (const { name } of payments.indexes) await store.table(payments).count(name, [])
  for (const { name } of ledger.indexes) await store.table(ledger).count(name, [])
}
