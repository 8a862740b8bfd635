import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { crashAtEachStep, runOf, sides } from '../../../fixtures/kit/crash.ts'
import { chainWith, movableClock } from '../../../fixtures/kit/faults.ts'
import { balanceOfAccount, payFor, soundBooks } from '../../../fixtures/kit/money.ts'
import { noTicks } from '../../../fixtures/kit/time.ts'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { DELISTED, damaged, LISTED, listOf, sample, successor, WALLETS } from '../../../fixtures/sdn/samples.ts'
import { checksumAddress, type Wallet } from '../../../src/core/hex.ts'
import { usdc } from '../../../src/core/money.ts'
import { DAY_MS, HOUR_MS } from '../../../src/core/time.ts'
import type { Config } from '../../../src/model/start.ts'
import { background } from '../../kernel/context.ts'
import type { Ports } from '../../outside.ts'
import { commit } from '../../store/draw.ts'
import { account, legsOf } from '../ledger/legs.ts'
import { post } from '../ledger/post.ts'
import { openRefund, runPayouts } from '../payouts/payouts.ts'
import { ofacSdnRefresh } from './ofac-sdn-refresh.ts'
import { compliance } from './sanctions.ts'

// @slow every act of somebody who is listed

let folder: string
let source: string
let market: Marketplace
const time = movableClock()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'souk-sdn-'))
  source = join(folder, 'SDN.XML')
})
afterEach(() => market.close())
afterAll(() => rm(folder, { recursive: true }))

/** A marketplace over a source that holds this text. */
async function open(text: string | Buffer, options: Partial<Config> = {}, ports: Ports = {}): Promise<void> {
  await writeFile(source, text)
  market = await openMarketplace({ sdnSource: source, ...options }, { clock: time.clock, ticker: noTicks, ...ports })
}

const ctx = () => market.daemon.ctx
const health = async () => (await market.call('GET', '/health')).body.compliance.sdn
const refresh = () => runOf(ofacSdnRefresh, ctx())
const path = '/dashboard/api/admin/sdn'
const add = (wallet: string, reason = 'on purpose') => market.admin('POST', path, { body: { wallet, reason } })
const remove = (wallet: string) => market.admin('DELETE', `${path}/${wallet}`)
const newWallet = () => `0x${randomBytes(20).toString('hex')}` as Wallet

describe('without a source', () => {
  test('the synthetic sample is held, and health names it so, with every field', async () => {
    market = await openMarketplace()
    expect(await health()).toEqual({
      last_updated: expect.stringMatching(/Z$/),
      last_checked: expect.stringMatching(/Z$/),
      source: 'synthetic sample, not the real list',
      ofac_publish_date: '2026-01-15',
      ofac_evm_count: WALLETS.length,
      total: WALLETS.length,
      added: WALLETS.length,
      manual_only: 0,
      last_status: 'ok',
      stale: false,
    })
    expect(await compliance.of(ctx()).isSanctioned(LISTED as Wallet)).toBe(true)
    expect(await compliance.of(ctx()).isSanctioned(newWallet())).toBe(false)
  })
})

describe('a refresh', () => {
  test('of a damaged file keeps the list that was held, and says why', async () => {
    await open(sample)
    const before = await health()
    for (const [name, text, why] of damaged) {
      await writeFile(source, text)
      time.advance(HOUR_MS)
      await expect(refresh(), name).rejects.toThrow(why)
      const after = await health()
      expect(after.last_status, name).toContain(why)
      expect(Date.parse(after.last_checked)).toBeGreaterThan(Date.parse(before.last_checked))
      expect(after).toEqual({ ...before, last_checked: after.last_checked, last_status: after.last_status })
      expect(await compliance.of(ctx()).isSanctioned(LISTED as Wallet)).toBe(true)
    }
    await writeFile(source, sample)
    await refresh()
    expect((await health()).last_status).toBe('ok')
  })

  test('of a file that is gone names no path of this machine', async () => {
    await open(sample)
    await rm(source)
    await expect(refresh()).rejects.toThrow('the file cannot be read (ENOENT)')
    const { last_status: status, source: shown } = await health()
    expect([status.includes(folder), shown]).toEqual([false, 'file SDN.XML'])
  })

  test('of the same list changes when it was looked at, and no more', async () => {
    await open(sample)
    const before = await health()
    time.advance(HOUR_MS)
    await refresh()
    const after = await health()
    expect(after).toEqual({ ...before, added: 0, last_checked: after.last_checked })
    expect(after.last_checked).not.toBe(before.last_checked)
  })

  test('takes its successor: one is cleared, and all is there after a restart', async () => {
    await open(sample)
    await writeFile(source, successor)
    time.advance(HOUR_MS)
    await refresh()
    const after = await health()
    expect(after).toMatchObject({ ofac_publish_date: '2026-02-01', total: WALLETS.length - 1, added: 0 })
    expect(after.last_updated).toBe(after.last_checked)
    await market.restart()
    expect(await compliance.of(ctx()).isSanctioned(DELISTED as Wallet)).toBe(false)
    expect(await compliance.of(ctx()).isSanctioned(LISTED as Wallet)).toBe(true)
    expect(await health()).toEqual(after)
  })

  test('takes less than half where the operator said that it may', async () => {
    await open(sample, { sdnAcceptShrink: true })
    await writeFile(source, listOf(1))
    await refresh()
    expect(await health()).toMatchObject({ ofac_evm_count: 1, last_status: 'ok' })
  })

  test('is stale when nobody looked for two days', async () => {
    await open(sample)
    time.advance(2 * DAY_MS - HOUR_MS)
    expect((await health()).stale).toBe(false)
    time.advance(2 * HOUR_MS)
    expect((await health()).stale).toBe(true)
    await refresh()
    expect((await health()).stale).toBe(false)
  })

  test.each(sides)('may die %s its step: the list is the old one or the new one', async (side) => {
    await open(sample)
    let turn = 0
    const steps = await crashAtEachStep(ofacSdnRefresh, ctx(), {
      side,
      async arrange() {
        turn += 1
        await writeFile(source, listOf(5 + turn))
      },
      async check() {
        expect(await health()).toMatchObject({ ofac_evm_count: 5 + turn, total: 5 + turn, last_status: 'ok' })
      },
    })
    expect(steps).toBe(1)
  })

  test('of another source is not compared with the list of the one before', async () => {
    market = await openMarketplace()
    expect((await health()).ofac_evm_count).toBe(WALLETS.length)
    await writeFile(source, listOf(1, { date: '01/01/2025' }))
    Object.assign(market.config, { sdnSource: source })
    await market.restart()
    expect(await health()).toMatchObject({ source: 'file SDN.XML', ofac_evm_count: 1, last_status: 'ok' })
    Object.assign(market.config, { sdnSource: join(folder, 'absent.xml') })
    await market.restart()
    expect(await health()).toMatchObject({ ofac_evm_count: 1, last_status: expect.stringContaining('ENOENT') })
  })
})

describe('over the web', () => {
  let server: Server
  let answer: { status: number; body: string }
  const web = { exempt: ({ host }: { host: string }) => host === '127.0.0.1' }

  async function openServed(): Promise<string> {
    server = createServer((_, res) => res.writeHead(answer.status).end(answer.body)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/list/SDN.XML?key=secret`
  }
  const settled = async () => {
    while (background.of(ctx()).size > 0) await Promise.all(background.of(ctx()))
  }

  test('a list is read; an error page and a silent server keep it; the key in its address is not shown', async () => {
    answer = { status: 200, body: sample }
    market = await openMarketplace({ sdnSource: await openServed() }, { clock: time.clock, web, ticker: noTicks })
    await settled()
    expect(await health()).toMatchObject({ ofac_evm_count: WALLETS.length, last_status: 'ok' })
    expect((await health()).source).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/list\/SDN\.XML$/)
    answer = { status: 503, body: sample }
    await expect(refresh()).rejects.toThrow('the source returned status 503')
    server.close()
    await expect(refresh()).rejects.toThrow('does not accept a connection')
    expect(await health()).toMatchObject({ ofac_evm_count: WALLETS.length })
  })

  test('a private place is not asked', async () => {
    market = await openMarketplace({ sdnSource: 'http://127.0.0.1/SDN.XML' }, { ticker: noTicks })
    await settled()
    expect((await health()).last_status).toMatch(/^kept the current list: /)
    expect((await health()).total).toBe(0)
  })
})

describe('by hand', () => {
  test('a wallet is added and removed, by name, once, and logged', async () => {
    await open(sample)
    const wallet = newWallet()
    const first = await add(wallet, 'a court order')
    expect(first.body).toMatchObject({ listed: false, manual: true, reason: 'a court order', changed: true })
    expect(first.body.wallet).toBe(checksumAddress(wallet))
    expect((await add(checksumAddress(wallet), 'again')).body).toMatchObject({
      reason: 'a court order',
      changed: false,
    })
    expect(await health()).toMatchObject({ total: WALLETS.length + 1, manual_only: 1 })
    expect(await compliance.of(ctx()).isSanctioned(wallet)).toBe(true)
    const manual = (await market.admin('GET', `${path}?manual=true`)).body
    expect(manual.wallets.map((row: { wallet: string }) => row.wallet)).toEqual([checksumAddress(wallet)])
    const one = (await market.admin('GET', `${path}?wallet=${wallet}`)).body
    expect([one.total, one.wallets[0].manual, one.sdn.total]).toEqual([1, true, WALLETS.length + 1])
    expect((await remove(checksumAddress(wallet))).body).toEqual({ wallet: checksumAddress(wallet), sanctioned: false })
    expect((await remove(wallet)).status).toBe(404)
    expect((await remove('0x12')).body.code).toBe('invalid_request')
    expect(await compliance.of(ctx()).isSanctioned(wallet)).toBe(false)
    const { acts } = (await market.admin('GET', '/dashboard/api/admin/log')).body
    expect(acts.slice(0, 3)).toMatchObject([
      { act: 'sdn.remove', subject: { kind: 'wallet', id: wallet }, changed: true },
      { act: 'sdn.add', changed: false, reason: 'again' },
      { act: 'sdn.add', changed: true, reason: 'a court order' },
    ])
  })

  test('what is on the list and added by hand stays until both are gone', async () => {
    await open(sample)
    await add(DELISTED)
    expect(await health()).toMatchObject({ total: WALLETS.length, manual_only: 0 })
    await writeFile(source, successor)
    await refresh()
    expect(await health()).toMatchObject({ total: WALLETS.length, manual_only: 1, ofac_evm_count: WALLETS.length - 1 })
    await add(LISTED)
    expect((await remove(LISTED)).body.sanctioned).toBe(true)
    await remove(DELISTED)
    expect(await compliance.of(ctx()).isSanctioned(DELISTED as Wallet)).toBe(false)
  })

  test('a listing of a wallet survives refreshes and restarts', async () => {
    await open(sample)
    const wallet = newWallet()
    await add(wallet)
    await refresh()
    await market.restart()
    expect(await compliance.of(ctx()).isSanctioned(wallet)).toBe(true)
  })
})

describe('who is sanctioned', () => {
  const counted = async () => (await market.call('GET', '/health')).body.launch.gate_refusals_24h.sanctioned ?? 0

  test('cannot register, pay or be paid: 403, nothing moves, and each refusal is counted', async () => {
    await open(sample)
    const buyer = await market.buyer('5.00')
    await add(checksumAddress(buyer.wallet))
    const purchase = `/v1/services/${await market.serviceId('qr_code')}/purchase`
    const asked = [
      await payFor(market, buyer, { path: '/v1/register', body: { name: 'x', type: 'agent' } }),
      await payFor(market, buyer, { path: purchase, body: { data: 'x' } }),
      await payFor(market, buyer, { path: '/v1/discover', version: 2 }),
    ]
    expect(asked.map(({ status, body }) => [status, body.code])).toEqual(asked.map(() => [403, 'sanctioned']))
    expect(await ctx().chain.balanceOf(buyer.wallet)).toBe(5_000_000n)
    expect(await counted()).toBe(asked.length)
    await remove(buyer.wallet)
    expect((await payFor(market, buyer, { path: purchase, body: { data: 'x' } })).status).toBe(200)
  })

  test('gets no payout: it is kept, and goes out as soon as it is cleared', async () => {
    await open(sample)
    const wallet = newWallet()
    await owe(wallet)
    await add(wallet)
    await runPayouts(ctx())
    expect(await balanceOfAccount(market, account.blocked(wallet))).toBe(70_000n)
    await soundBooks(market)
    const fixes = async () => {
      const { items } = (await market.admin('GET', '/dashboard/api/admin/attention')).body
      return items.flatMap(({ kind, fix }: { kind: string; fix: string }) => (kind === 'payout' ? [fix] : []))
    }
    // To try again helps only once the wallet is cleared.
    expect(await fixes()).toEqual([expect.stringMatching(/^souk why out_/)])
    time.advance(HOUR_MS)
    await remove(wallet)
    expect(await fixes()).toEqual(['souk crons run provider-settlement'])
    await runPayouts(ctx())
    expect(await fixes()).toEqual([])
    expect(await ctx().chain.balanceOf(wallet)).toBe(70_000n)
    await soundBooks(market)
  })

  test('is cleared by a list that no longer has it, too', async () => {
    await open(sample)
    await owe(DELISTED as Wallet)
    await runPayouts(ctx())
    expect(await balanceOfAccount(market, account.blocked(DELISTED as Wallet))).toBe(70_000n)
    await writeFile(source, successor)
    await refresh()
    await runPayouts(ctx())
    expect(await ctx().chain.balanceOf(DELISTED as Wallet)).toBe(70_000n)
  })
})

describe('where money is real', () => {
  const base = chainWith(() => ({ mode: 'base' }))

  test('nobody pays or is paid before the first list, and a list opens the doors', async () => {
    await open('no list', {}, { chain: base })
    const wallet = newWallet()
    await expect(compliance.of(ctx()).isSanctioned(wallet)).rejects.toThrow('No sanctions list is loaded yet')
    await owe(wallet)
    expect(await runPayouts(ctx())).toEqual({ confirmed: 0, waiting: 1, failed: 0 })
    expect(await health()).toMatchObject({ total: 0, last_updated: null })
    await writeFile(source, sample)
    await refresh()
    expect(await compliance.of(ctx()).isSanctioned(wallet)).toBe(false)
    expect(await runPayouts(ctx())).toEqual({ confirmed: 1, waiting: 0, failed: 0 })
    await writeFile(source, 'no list')
    await expect(refresh()).rejects.toThrow('was rejected')
    expect(await compliance.of(ctx()).isSanctioned(LISTED as Wallet)).toBe(true)
  })

  test('elsewhere a missing list closes nothing', async () => {
    await open('no list')
    expect(await compliance.of(ctx()).isSanctioned(newWallet())).toBe(false)
  })
})

/** A refund that waits to be paid out, covered by money on the chain. */
async function owe(wallet: Wallet): Promise<void> {
  const { chain, clock } = ctx()
  const amount = usdc(70_000n)
  await chain.faucet?.({ wallet: chain.payTo, amount, nowMs: clock.wall() })
  await commit(ctx(), async (t, draw) => {
    const ref = { kind: 'test', id: wallet }
    await post(t, draw, {
      kind: 'refund',
      ref,
      legs: legsOf.settledRefused({ payer: wallet, amount }),
      at: clock.now(),
    })
    await openRefund(t, draw, { wallet, ref, at: clock.now() })
  })
}

test('the sample that is shipped says that it is made up', async () => {
  market = await openMarketplace()
  expect(await readFile(new URL('../../../fixtures/sdn/sample.xml', import.meta.url), 'utf8')).toContain('made up')
})
