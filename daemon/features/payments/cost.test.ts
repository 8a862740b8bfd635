import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chainWith } from '../../../fixtures/kit/faults.ts'
import { member } from '../../../fixtures/kit/money.ts'
import { type Buyer, type Marketplace, openMarketplace, signPayment } from '../../../fixtures/market/marketplace.ts'

/* What a paid request costs, in things that can be counted: a change that makes one rise has to say why. */

type Cost = { transactions: number; rows: number; stringified: number; journalBytes: number; recoveries: number }

let market: Marketplace
let buyer: Buyer
/** Whether money moves in the store. */
let inStore = true
let transactions = 0
let rows = 0
let stringified = 0
const { stringify } = JSON
beforeAll(async () => {
  JSON.stringify = ((...asked: Parameters<typeof stringify>) => {
    stringified += 1
    return stringify(...asked)
  }) as typeof stringify // one of its two forms
  market = await openMarketplace(
    { chain: 'sandbox' },
    {
      chain: chainWith(({ settle }) => ({
        settle: Object.defineProperty((...signed: Parameters<typeof settle>) => settle(...signed), 'within', {
          get: () => (inStore ? settle.within : undefined),
        }),
      })),
      store: (opened) => ({
        ...opened,
        tx: (body) => {
          transactions += 1
          return opened.tx(body)
        },
      }),
    },
  )
  market.daemon.ctx.store.subscribe(({ writes }) => {
    rows += writes.length
  })
  buyer = await market.buyer('100.00')
})
afterAll(() => {
  JSON.stringify = stringify
  return market.close()
})

function counted(): Cost {
  const { store, recover } = market.daemon.ctx
  const { journalBytes } = store.stats()
  return { transactions, rows, stringified, journalBytes, recoveries: recover.made() }
}

type Request = { readonly path: string; readonly method: string; readonly body?: string }

/** What one request costs the daemon: work of its own that happens to run besides only adds to one of them. */
async function costOf(request: Request, headers: () => Promise<Record<string, string>>): Promise<Cost> {
  const costs: Cost[] = []
  for (let n = 0; n < 4; n += 1) {
    const sent = { ...request, headers: { 'Content-Type': 'application/json', ...(await headers()) } }
    const before = counted()
    const response = await fetch(`${market.url()}${request.path}`, sent)
    await response.arrayBuffer()
    expect(response.status).toBe(200)
    const after = counted()
    for (const name of Object.keys(after) as (keyof Cost)[]) after[name] -= before[name]
    costs.push(after)
  }
  const names = Object.keys(counted()) as (keyof Cost)[]
  return Object.fromEntries(names.map((name) => [name, Math.min(...costs.map((cost) => cost[name]))])) as Cost
}

/** Bounds of bytes leave room for the digits of sums and counters, which grow with the tests before. */
function expectAtMost(cost: Cost, bounds: Cost): void {
  for (const name of Object.keys(bounds) as (keyof Cost)[]) expect(cost[name], name).toBeLessThanOrEqual(bounds[name])
}

describe('a paid request costs no more than it did', () => {
  const qr = async (): Promise<Request> => {
    const path = `/v1/services/${await market.serviceId('qr_code')}/purchase`
    return { method: 'POST', path, body: JSON.stringify({ data: 'https://souk.example/a-page' }) }
  }
  const signed = async ({ method, path }: Request, body?: object) => {
    const offer = await market.call(method, path, body ? { body } : {})
    return () => signPayment(buyer.account, offer, { version: 2 })
  }

  test.each([true, false])('a fixed price by x402, whose money is in the store: %s', async (isInStore) => {
    inStore = isInStore
    const bought = await qr()
    const headers = await (await signed(bought, { data: 'x' }))()
    const { job_id } = (await market.call('POST', bought.path, { body: { data: 'x' }, headers })).body
    const request = { method: 'GET', path: `/v1/jobs/${job_id}` }
    const cost = await costOf(request, await signed(request))
    inStore = true
    // One of the three is the chain's own.
    const outside = { transactions: 3, rows: 10, stringified: 15, journalBytes: 6_590, recoveries: 1 }
    const within = { transactions: 1, rows: 9, stringified: 14, journalBytes: 5_230, recoveries: 1 }
    expectAtMost(cost, isInStore ? within : outside)
  })

  test('a QR code by x402', async () => {
    const request = await qr()
    const cost = await costOf(request, await signed(request, { data: 'x' }))
    expectAtMost(cost, { transactions: 2, rows: 21, stringified: 33, journalBytes: 11_300, recoveries: 1 })
  })

  test('a QR code from the balance', async () => {
    const { apiKey } = await member(market, { balance: '10.00' })
    const cost = await costOf(await qr(), async () => ({ 'X-BALANCE-AUTH': apiKey }))
    expectAtMost(cost, { transactions: 2, rows: 24, stringified: 37, journalBytes: 10_050, recoveries: 0 })
  })
})
