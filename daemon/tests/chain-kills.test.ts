import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Child, startChild } from '../../fixtures/kit/child.ts'
import { runs } from '../../fixtures/kit/depth.ts'
import { listing, openPayments, soundBooks } from '../../fixtures/kit/money.ts'
import { devnetOfTests } from '../../fixtures/kit/test-chain.ts'
import {
  type Answer,
  type Buyer,
  callsTo,
  type Marketplace,
  openMarketplace,
  signPayment,
} from '../../fixtures/market/marketplace.ts'
import type { Place, Point } from '../../fixtures/payments/mortal-market.ts'
import { jobs } from '../features/jobs/rows.ts'
import { createDaemon } from '../index.ts'
import { chainTxs } from '../ports/chain/evm/queue/rows.ts'
import { everyRow } from '../store/each-page.ts'

// @deep a marketplace on a chain is killed between its books and its queue

const BUYERS = 16
const KILLS = runs(3, 1)
/** Payments that get past the place before the first, second and third kill: none, four, eight. */
const PAST = 4
const FUNDS = 1_000_000n
const ASK_AGAIN_MS = 100

/** Half of the buyers get what settles last, half what settles first and waits in escrow. */
const goods = { instant: { price: 10_000n }, order: { price: 105_000n } } as const
type Good = { readonly path: string; readonly price: bigint }

let market: Marketplace
let bought: readonly Good[]
const lives: Child[] = []

beforeAll(async () => {
  market = await openMarketplace(await devnetOfTests())
  bought = [
    { path: `/v1/services/${await market.serviceId('qr_code')}/purchase`, ...goods.instant },
    { path: `/v1/services/${(await listing(market)).id}/purchase`, ...goods.order },
  ]
})
afterAll(async () => {
  for (const child of lives) await child.kill()
  await market.close()
})

type Life = ReturnType<typeof callsTo> & { readonly child: Child }

async function live(point?: Point): Promise<Life> {
  const child = startChild('../payments/mortal-market.ts', { config: market.config, point })
  lives.push(child)
  const { url } = JSON.parse(await child.line())
  return { child, ...callsTo(() => url, market.dir) }
}

type Order = { readonly buyer: Buyer; readonly good: Good; readonly headers: Record<string, string> }
const body = { data: 'survives' }

/** What each buyer has signed and sends, as often as it takes. */
async function signed({ call }: Life, buyers: readonly Buyer[]): Promise<Order[]> {
  return Promise.all(
    buyers.map(async (buyer, at) => {
      const good = bought[at % bought.length] as Good // within bounds
      const offer = await call('POST', good.path, { body })
      return { buyer, good, headers: await signPayment(buyer.account, offer) }
    }),
  )
}

function send({ call }: Life, { good, headers }: Order): Promise<Answer | undefined> {
  // The connection breaks with the process.
  return call('POST', good.path, { body, headers }).catch(() => undefined)
}

/** Asks as a buyer does who was told that it is under way. */
async function untilAnswered(life: Life, order: Order): Promise<Answer> {
  for (;;) {
    const answer = await send(life, order)
    if (!answer) throw new Error('the marketplace that was to live is gone')
    if (answer.status === 200) return answer
    expect([answer.status, answer.body.error.code]).toEqual([503, 'settlement_pending'])
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS))
  }
}

/** Every nonce of the gas key was used, and by what is in a block. */
async function expectNoGap(): Promise<void> {
  const table = market.daemon.ctx.store.table(chainTxs)
  const rows = await everyRow(table, { index: 'newest', prefix: [], limit: 500 })
  expect(rows.map(({ nonce }) => nonce)).toEqual(rows.map((_, at) => (rows[0]?.nonce ?? 0) - at))
  expect(rows.filter(({ included }) => included === null)).toEqual([])
}

const places: readonly Place[] = ['before the queue', 'before it is settled', 'before its answer']

test.each(places)('killed %s with 16 buyers: each pays once and gets what it paid for', async (place) => {
  const buyers = await Promise.all(Array.from({ length: BUYERS }, () => market.buyer('1.00')))
  await market.daemon.stop()
  const orders: Order[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    const life = await live({ place, after: kill * PAST })
    const round = await signed(life, buyers)
    orders.push(...round)
    process.kill(life.child.pid, 'SIGUSR2')
    expect(await life.child.line()).toBe('armed')
    await Promise.all(round.map((order) => send(life, order)))
    await expect(life.child.line(), 'it lives on').rejects.toThrow('ended')
  }
  const last = await live()
  const answers = await Promise.all(orders.map((order) => untilAnswered(last, order)))
  expect(new Set(answers.map(({ body: { job_id } }) => job_id)).size).toBe(orders.length)
  await last.child.kill()

  market.daemon = await createDaemon(market.config)
  const { chain, store } = market.daemon.ctx
  for (const [at, { wallet }] of buyers.entries()) {
    const { price } = bought[at % bought.length] as Good // within bounds
    expect(await chain.balanceOf(wallet)).toBe(FUNDS - BigInt(KILLS) * price)
    expect(await store.table(jobs).count('buyer', [wallet])).toBe(KILLS)
  }
  expect(await openPayments(market)).toEqual([])
  await soundBooks(market)
  await expectNoGap()
})
