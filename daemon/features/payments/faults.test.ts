import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { chainWith, gate, movableClock } from '../../../fixtures/kit/faults.ts'
import { balanceOfAccount, member, openPayments, payFor, soundBooks } from '../../../fixtures/kit/money.ts'
import { type Marketplace, openMarketplace, signPayment } from '../../../fixtures/market/marketplace.ts'
import { AppError } from '../../../src/core/error.ts'
import { MINUTE_MS, unixSeconds } from '../../../src/core/time.ts'
import { writePlatform } from '../../kernel/switches.ts'
import type { Ports } from '../../outside.ts'
import type { ChainStatus, SettleResult } from '../../ports/chain/chain.ts'
import { commit } from '../../store/draw.ts'
import type { Store, Tx } from '../../store/port.ts'
import { jobs } from '../jobs/rows.ts'
import { account } from '../ledger/legs.ts'
import { FULFIL_PATIENCE_MS } from './settle.ts'

const PRICE = 10_000n // @slow a fault at every step of every kind of sale

let market: Marketplace
afterEach(() => market.close())

async function open(ports: Ports = {}): Promise<string> {
  market = await openMarketplace({}, ports)
  return `/v1/services/${await market.serviceId('qr_code')}/purchase`
}

const body = { data: 'x' }
const inStore = chainWith(() => ({}))
const unavailable: SettleResult = { ok: false, failure: 'unavailable', sent: true }

async function jobsOf(wallet: `0x${string}`): Promise<number> {
  return market.daemon.ctx.store.table(jobs).count('buyer', [wallet])
}

test('a balance retry that comes while the first runs waits for it: one hold, one job', async () => {
  const work = gate()
  const path = await open({ firstParty: () => ({ run: async () => work.wait().then(() => 'done') }) })
  const buyer = await member(market, { balance: '1.00' })
  const headers = { 'X-BALANCE-AUTH': buyer.apiKey, 'Idempotency-Key': 'same' }
  const first = market.call('POST', path, { body, headers })
  await work.reached
  const copies = [1, 2, 3].map(() => market.call('POST', path, { body, headers }))
  await sleep(30)
  work.open()
  const answers = await Promise.all([first, ...copies])
  expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 200])
  expect(new Set(answers.map((answer) => answer.body.job_id)).size).toBe(1)
  expect(await jobsOf(buyer.wallet)).toBe(1)
  expect(await balanceOfAccount(market, account.balance(buyer.id))).toBe(1_000_000n - PRICE)
})

describe('a chain that did not say', () => {
  test('a copy that was past the replay check finishes the payment and does not wait for itself', async () => {
    const both = gate()
    const second = gate()
    let asked = 0
    let settled = 0
    const path = await open({
      isSanctioned: async () => {
        asked += 1
        const mine = asked
        if (mine === 1) await both.wait()
        both.open()
        if (mine === 2) await second.wait()
        return false
      },
      chain: chainWith((real) => ({
        settle: async (...signed) => (settled++ === 0 ? unavailable : real.settle(...signed)),
      })),
    })
    const buyer = await market.buyer('1.00')
    const headers = await signPayment(buyer.account, await market.call('POST', path, { body }))
    const first = market.call('POST', path, { body, headers })
    const late = market.call('POST', path, { body, headers })
    const pending = await Promise.race([first, late])
    expect([pending.status, pending.body.error]).toEqual([402, 'unexpected_settle_error'])
    second.open()
    expect((await Promise.all([first, late])).map((answer) => answer.status).sort()).toEqual([200, 402])
    expect(await market.daemon.ctx.chain.balanceOf(buyer.wallet)).toBe(1_000_000n - PRICE)
  })

  test('8 retries at once: one settlement, one job, the same answer for all', async () => {
    let settled = 0
    const path = await open({
      chain: chainWith((real) => ({
        settle: async (...signed) => (settled++ === 0 ? unavailable : real.settle(...signed)),
      })),
    })
    const buyer = await market.buyer('1.00')
    const headers = await signPayment(buyer.account, await market.call('POST', path, { body }))
    expect((await market.call('POST', path, { body, headers })).status).toBe(402)
    const answers = await Promise.all([...Array(8)].map(() => market.call('POST', path, { body, headers })))
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 200))
    expect(new Set(answers.map((answer) => answer.body.job_id)).size).toBe(1)
    expect(await openPayments(market)).toEqual([])
  })

  test.each(['settle', 'balanceOf'] as const)('%s that throws is a 402 with its reason, not a 500', async (name) => {
    let down = true
    const path = await open({
      chain: chainWith((real) => ({
        [name]: async (...args: never[]) => {
          if (down) throw new Error('connection reset')
          return (real[name] as (...all: never[]) => Promise<unknown>)(...args)
        },
      })),
    })
    down = false
    const buyer = await market.buyer('1.00')
    const headers = await signPayment(buyer.account, await market.call('POST', path, { body }))
    down = true
    const refused = await market.call('POST', path, { body, headers })
    expect([refused.status, refused.body.error]).toEqual([
      402,
      name === 'settle' ? 'unexpected_settle_error' : 'unexpected_verify_error',
    ])
    down = false
    expect((await market.call('POST', path, { body, headers })).status).toBe(200)
  })

  test('a start goes on when one payment cannot be finished yet', async () => {
    let down = true
    const path = await open({
      chain: chainWith((real) => ({
        settle: async (...signed) => {
          if (down) throw new AppError('unavailable', 'no chain')
          return real.settle(...signed)
        },
      })),
    })
    const buyer = await market.buyer('1.00')
    const headers = await signPayment(buyer.account, await market.call('POST', path, { body }))
    await market.call('POST', path, { body, headers })
    await market.restart()
    expect(await openPayments(market)).toHaveLength(1)
    down = false
    await market.restart()
    expect(await openPayments(market)).toEqual([])
    expect((await market.call('POST', path, { body, headers })).status).toBe(200)
  })
})

test('on a real chain a refused settlement stays open until nobody can submit it any more', async () => {
  let wallOffset = 0
  let finalOffset = 0
  let refusals = 1
  const path = await open({
    clock: { now: () => Date.now(), wall: () => Date.now() + wallOffset },
    chain: chainWith((real) => ({
      settle: async (...signed) =>
        refusals-- > 0 ? { ok: false, failure: 'insufficient_funds', sent: true } : real.settle(...signed),
      authorizationState: async (...asked) => {
        const timestamp = unixSeconds(Date.now() + finalOffset)
        return { ...(await real.authorizationState(...asked)), asOf: { block: 1, timestamp, finality: 'final' } }
      },
    })),
  })
  const [patient, gone] = [await market.buyer('1.00'), await market.buyer('1.00')]
  const offer = await market.call('POST', path, { body })
  const send = (headers: Record<string, string>) => market.call('POST', path, { body, headers })
  const again = await signPayment(patient.account, offer)
  expect([(await send(again)).status, (await send(again)).status]).toEqual([402, 200])

  refusals = 2
  const never = await signPayment(gone.account, offer)
  expect((await send(never)).status).toBe(402)
  await market.restart()
  expect((await openPayments(market)).map((payment) => payment.state)).toEqual(['settling'])
  // By the wall it has expired, but no block that is never undone says so yet.
  wallOffset = 10 * MINUTE_MS
  refusals = 1
  await market.restart()
  expect((await openPayments(market)).map((payment) => payment.state)).toEqual(['settling'])
  finalOffset = 10 * MINUTE_MS
  refusals = 1
  await market.restart()
  expect(await openPayments(market)).toEqual([])
  expect(await market.daemon.ctx.chain.balanceOf(gone.wallet)).toBe(1_000_000n)
})

test('while the chain is down nobody is asked for a signature, and balances pay on', async () => {
  let health: ChainStatus['health'] = 'ok'
  const seen = {
    ...{ faults: [], head: null, gas: null, oldestSeconds: null, lastError: null },
    ...{ nodes: [], held: null, tokenPaused: false, foreignNonces: 0, failed: 0 },
    ...{ lagBlocks: 0, waiting: 0, inFlight: 0, resent: 0, replaced: 0, reorged: 0, reversed: 0 },
  }
  const path = await open({ chain: chainWith(() => ({ status: () => ({ ...seen, health }) })) })
  const buyer = await market.buyer('1.00')
  const early = await signPayment(buyer.account, await market.call('POST', path, { body }))
  const key = await member(market, { balance: '1.00' })
  health = 'degraded'
  expect((await market.call('POST', path, { body })).status).toBe(402)
  health = 'down'
  const asked = await market.call('POST', path, { body })
  expect([asked.status, asked.body.code, asked.headers.get('Retry-After')]).toEqual([503, 'unavailable', '15'])
  expect((await market.call('POST', path, { body, headers: early })).status).toBe(503)
  expect((await market.call('POST', path, { body, headers: { 'X-BALANCE-AUTH': key.apiKey } })).status).toBe(200)
  health = 'ok'
  expect((await market.call('POST', path, { body, headers: early })).status).toBe(200)
  // Who has paid gets the answer.
  health = 'down'
  expect((await market.call('POST', path, { body, headers: early })).status).toBe(200)
})

describe('an effect that fails for a fault of ours', () => {
  const { clock, advance } = movableClock()
  let isBroken = true

  /** A store whose table of jobs takes no rows while it is broken. */
  function brittle(opened: Store): Store {
    const breaking = (t: Tx): Tx => ({
      table: (collection) => {
        const table = t.table(collection)
        if (!isBroken || collection.name !== jobs.name) return table
        return { ...table, insert: () => Promise.reject(new Error('no room')) }
      },
    })
    return { ...opened, tx: (body) => opened.tx((t) => body(breaking(t))) }
  }

  /** A chain whose money lies elsewhere: what it has settled is not undone with our transaction. */
  const elsewhere = chainWith((real) => ({ settle: (...signed) => real.settle(...signed) }))

  test('charges nobody where the money lies in the store: the same payment buys it later', async () => {
    isBroken = true
    const path = await open({ clock, store: brittle, chain: inStore })
    const buyer = await market.buyer('0.011')
    const headers = await signPayment(buyer.account, await market.call('POST', path, { body }))
    expect((await market.call('POST', path, { body, headers })).status).toBe(500)
    expect(await openPayments(market)).toEqual([])
    expect(await market.daemon.ctx.chain.balanceOf(buyer.wallet)).toBe(11_000n)
    await soundBooks(market)
    isBroken = false
    expect((await market.call('POST', path, { body, headers })).status).toBe(200)
    expect([await jobsOf(buyer.wallet), await market.daemon.ctx.chain.balanceOf(buyer.wallet)]).toEqual([1, 1_000n])
    await soundBooks(market)
  })

  async function settledOnly() {
    isBroken = true
    const path = await open({ clock, store: brittle, chain: elsewhere })
    const buyer = await market.buyer('0.011')
    const headers = await signPayment(buyer.account, await market.call('POST', path, { body }))
    expect((await market.call('POST', path, { body, headers })).status).toBe(500)
    expect((await openPayments(market)).map((payment) => payment.state)).toEqual(['settled'])
    await soundBooks(market)
    return { path, buyer, headers }
  }

  test('leaves the payment settled: its money is not promised twice, and a retry gets the effect', async () => {
    const { path, buyer, headers } = await settledOnly()
    expect((await payFor(market, buyer, { path: '/v1/discover', body: {} })).status).toBe(200)
    isBroken = false
    expect((await market.call('POST', path, { body, headers })).status).toBe(200)
    expect([await jobsOf(buyer.wallet), await market.daemon.ctx.chain.balanceOf(buyer.wallet)]).toEqual([1, 0n])
  })

  test('ends in a refund when it goes on failing, and the retry is told so', async () => {
    const { path, buyer, headers } = await settledOnly()
    await market.restart()
    expect(await openPayments(market)).toHaveLength(1)
    advance(FULFIL_PATIENCE_MS)
    await market.restart()
    expect(await openPayments(market)).toEqual([])
    expect(await market.daemon.ctx.chain.balanceOf(buyer.wallet)).toBe(11_000n)
    const told = await market.call('POST', path, { body, headers })
    expect([told.status, told.body.code, told.body.refunded]).toEqual([500, 'internal', true])
    await soundBooks(market)
  })
})

test('money that just moved for one purchase is not counted as promised too', async () => {
  const moved = gate()
  let settled = 0
  const path = await open({
    chain: chainWith((real) => ({
      settle: async (...signed) => {
        const result = await real.settle(...signed)
        if (settled++ === 0) await moved.wait()
        return result
      },
    })),
  })
  const buyer = await market.buyer('0.02')
  const offer = await market.call('POST', path, { body })
  const pay = async () => market.call('POST', path, { body, headers: await signPayment(buyer.account, offer) })
  const first = pay()
  await moved.reached
  const second = pay()
  await sleep(100)
  moved.open()
  expect([(await first).status, (await second).status]).toEqual([200, 200])
})

test('the wait of one caller does not end with the other: a copy whose first caller left is answered', async () => {
  const work = gate()
  let runs = 0
  const run = async (_input: unknown, signal: AbortSignal): Promise<string> => {
    runs += 1
    if (runs > 1) return 'done'
    void work.wait()
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new AppError('provider_failed', 'cancelled')))
    })
  }
  const path = await open({ firstParty: () => ({ run }) })
  const buyer = await market.buyer('1.00')
  const headers = await signPayment(buyer.account, await market.call('POST', path, { body }))
  const leave = new AbortController()
  const first = fetch(`${market.url()}${path}`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    signal: leave.signal,
  }).catch(() => 'gone')
  await work.reached
  const copy = market.call('POST', path, { body, headers })
  await sleep(50)
  leave.abort()
  expect(await first).toBe('gone')
  expect((await copy).status).toBe(200)
  expect(await market.daemon.ctx.chain.balanceOf(buyer.wallet)).toBe(1_000_000n - PRICE)
})

test('two registrations of one wallet where the money lies in the store: the second is not charged', async () => {
  await open({ chain: inStore })
  const buyer = await market.buyer('1.00')
  const request = { path: '/v1/register', body: { name: 'twin', type: 'agent' } }
  const answers = await Promise.all([payFor(market, buyer, request), payFor(market, buyer, request)])
  expect(answers.map(({ status, body }) => `${status} ${body.refunded}`).sort()).toEqual([
    '200 undefined',
    '409 undefined',
  ])
  expect(await market.daemon.ctx.chain.balanceOf(buyer.wallet)).toBe(1_000_000n - PRICE)
  expect(await openPayments(market)).toEqual([])
})

test('two registrations of one wallet that both settle: the second gets its money back on the chain', async () => {
  const both = gate()
  let settling = 0
  await open({
    chain: chainWith((real) => ({
      settle: async (...signed) => {
        settling += 1
        if (settling === 2) both.open()
        await both.wait()
        return real.settle(...signed)
      },
    })),
  })
  const buyer = await market.buyer('1.00')
  const request = { path: '/v1/register', body: { name: 'twin', type: 'agent' } }
  const answers = await Promise.all([payFor(market, buyer, request), payFor(market, buyer, request)])
  expect(answers.map(({ status, body }) => `${status} ${body.refunded}`).sort()).toEqual(['200 undefined', '409 true'])
  await market.restart()
  expect(await market.daemon.ctx.chain.balanceOf(buyer.wallet)).toBe(1_000_000n - PRICE)
  expect(await balanceOfAccount(market, account.refund(buyer.wallet))).toBe(0n)
})

test('a key of another participant beside a balance credential is refused, uncharged', async () => {
  const path = await open()
  const [payer, other] = [await member(market, { balance: '1.00' }), await member(market)]
  const headers = { 'X-BALANCE-AUTH': payer.apiKey, 'X-API-Key': other.apiKey }
  const answer = await market.call('POST', path, { body, headers })
  expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request'])
  expect(await balanceOfAccount(market, account.balance(payer.id))).toBe(1_000_000n)
})

test('while paused a new payment is told so before its key and its body are looked at', async () => {
  const path = await open()
  const buyer = await market.buyer('1.00')
  const signed = await signPayment(buyer.account, await market.call('POST', path, { body }))
  await commit(market.daemon.ctx, (t) => writePlatform(t, { paused_at: 1 }))
  while (!market.daemon.ctx.switches.now().paused) await sleep(1)
  const unknownKey = { ...signed, 'X-API-Key': `sk_${'0'.repeat(40)}` }
  const answers = [
    await market.call('POST', path, { body, headers: unknownKey }),
    await market.call('POST', path, { body: 'no object', headers: { ...signed, 'Content-Type': 'text/plain' } }),
  ]
  expect(answers.map((answer) => [answer.status, answer.body.code])).toEqual(answers.map(() => [503, 'paused']))
})

test('a stored answer found by its key needs a signature that is good now', async () => {
  const path = await open()
  const buyer = await market.buyer('1.00')
  const offer = await market.call('POST', path, { body })
  const headers = { 'Idempotency-Key': 'mine' }
  const paid = { ...headers, ...(await signPayment(buyer.account, offer)) }
  expect((await market.call('POST', path, { body, headers: paid })).status).toBe(200)
  const stale = { ...headers, ...(await signPayment(buyer.account, offer, { change: { validBefore: 1_000n } })) }
  const fresh = { ...headers, ...(await signPayment(buyer.account, offer)) }
  const [refused, served] = [
    await market.call('POST', path, { body, headers: stale }),
    await market.call('POST', path, { body, headers: fresh }),
  ]
  expect([refused.status, refused.body.error]).toEqual([402, 'invalid_exact_evm_payload_authorization_valid_before'])
  expect([served.status, served.headers.get('Idempotency-Replayed')]).toEqual([200, 'true'])
  expect(await market.daemon.ctx.chain.balanceOf(buyer.wallet)).toBe(1_000_000n - PRICE)
})
