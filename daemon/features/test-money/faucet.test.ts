import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openMarketplace } from '../../../fixtures/market/marketplace.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import { usdc } from '../../../src/core/money.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import { GRANT, takeGrant } from './faucet.ts'
import { grantDays } from './rows.ts'

// @story one day of a faucet, and what it gives to one address

/* Test money for strangers, without an admin key and within bounds. */

type Market = Awaited<ReturnType<typeof openMarketplace>>
const walletOf = (n: number) => `0x${n.toString(16).padStart(40, '0')}` as Wallet
const ask = (market: Market, wallet: Wallet, headers: Record<string, string> = {}) =>
  market.call('POST', '/v1/faucet', { body: { wallet }, headers })

describe('a marketplace that only this machine can reach', () => {
  let market: Market
  beforeAll(async () => {
    market = await openMarketplace()
  })
  afterAll(() => market.close())

  test('gives anybody ten dollars, which can be spent', async () => {
    const { status, body } = await ask(market, walletOf(1))
    expect(status).toBe(200)
    expect(body).toMatchObject({ credited: '10.00', balance: '10.00', remaining_today: '90.00' })
    expect(await market.daemon.ctx.chain.balanceOf(walletOf(1))).toBe(GRANT)
  })

  test('gives a wallet a hundred a day, also over a restart, and says when there is more', async () => {
    const wallet = walletOf(2)
    for (let n = 0; n < 10; n += 1) expect((await ask(market, wallet)).status).toBe(200)
    await market.restart()
    const refused = await ask(market, wallet)
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await market.daemon.ctx.chain.balanceOf(wallet)).toBe(usdc(100_000_000n))
  })

  test('gives many wallets of one network address no more than a thousand a day', async () => {
    let last = 200
    for (let n = 100; last === 200 && n < 210; n += 1) last = (await ask(market, walletOf(n))).status
    expect(last).toBe(429)
    const given = (await market.daemon.ctx.store.table(grantDays).page('day', [], { limit: 500 })).rows
    expect(given.find(({ id }) => id.includes(':address:'))?.granted).toBe(usdc(1_000_000_000n))
    // Who comes through a proxy of this machine from elsewhere is somebody else.
    const other = await ask(market, walletOf(999), { 'X-Forwarded-For': '203.0.113.9' })
    expect(other.status).toBe(200)
  })
})

describe('a marketplace that others can reach', () => {
  test.each([[{ publicUrl: 'https://souk.example.org' }], [{ host: '0.0.0.0' }]])(
    'gives nothing with %j, unless its operator says so',
    async (reach) => {
      for (const [publicFaucet, expected] of [
        [false, 403],
        [true, 200],
      ] as const) {
        const market = await openMarketplace({ ...reach, publicFaucet })
        try {
          expect((await ask(market, walletOf(3))).status).toBe(expected)
        } finally {
          await market.close()
        }
      }
    },
  )
})

/** What the bounds of a day allow, reckoned by itself: whether a grant is left for both of them, which it then takes. */
function openDay() {
  const counts = new Map<string, number>()
  const count = (of: string) => counts.get(of) ?? 0
  return {
    all: () => count('all'),
    grant: (wallet: number, address: number): boolean => {
      const names = [`wallet ${wallet}`, `address ${address}`, 'all'] as const
      const isLeft = count(names[0]) < 10 && count(names[1]) < 100 && count('all') < 1_000
      if (isLeft) for (const name of names) counts.set(name, count(name) + 1)
      return isLeft
    },
  }
}

const calls = fc.record({ wallet: fc.nat(130), address: fc.nat(12), times: fc.nat(12) })

test('however often who asks from where, no bound of a day is passed and a refusal takes nothing', async () => {
  const market = await openMarketplace({ seed: undefined })
  const { store } = market.daemon.ctx
  let date = 20_000
  await fc.assert(
    fc.asyncProperty(fc.array(calls, { maxLength: 150 }), async (asked) => {
      date += 1
      const day = openDay()
      for (const { wallet, address } of asked.flatMap((one) => Array.from({ length: one.times }, () => one))) {
        const asking = { wallet: walletOf(wallet), address: String(address), wall: date * DAY_MS }
        const got = await store.tx((t) => takeGrant(t, asking)).catch(() => undefined)
        expect(got !== undefined).toBe(day.grant(wallet, address))
      }
      const all = await store.table(grantDays).get(`${date}:all`)
      expect(all?.granted ?? 0n).toBe(BigInt(day.all()) * GRANT)
    }),
    { numRuns: 20 },
  )
  await market.close()
})
