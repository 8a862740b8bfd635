import { afterAll, beforeAll, expect, test } from 'vitest'
import { runOf } from '../../../fixtures/kit/crash.ts'
import { chainWith } from '../../../fixtures/kit/faults.ts'
import { credit, soundBooks } from '../../../fixtures/kit/money.ts'
import { noTicks } from '../../../fixtures/kit/time.ts'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { type Person, registered } from '../../../fixtures/market/people.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import type { ChainStatus } from '../../ports/chain/chain.ts'
import { commit } from '../../store/draw.ts'
import { autoRefund } from '../payments/auto-refund.ts'
import { gasDays } from './rows.ts'
import { GAS_ACTS_A_DAY, GAS_ACTS_TOLD } from './withdrawals.ts'

/* On a chain a stranger could burn the operator's gas for nothing: acts without a fee are bounded (decisions §4 Gas). */

const START = Date.UTC(2026, 5, 1, 12)

let market: Marketplace
let now = START
const listing = { name: 'By hand', description: 'x', price: '0.10', fulfillment_type: 'human' }
/** A ledger of the store that says of itself that it is a chain. */
const healthy: ChainStatus = {
  ...{ health: 'ok' as const, faults: [], nodes: [], head: null, lagBlocks: 0, gas: null, waiting: 0, inFlight: 0 },
  ...{ oldestSeconds: null, held: null, tokenPaused: false, foreignNonces: 0, failed: 0, resent: 0, replaced: 0 },
  ...{ reorged: 0, reversed: 0, lastError: null },
}

beforeAll(async () => {
  const chain = chainWith(() => ({ status: () => healthy }))
  const clock = { now: () => now, wall: () => now }
  market = await openMarketplace({}, { chain, clock, ticker: noTicks })
})
afterAll(async () => {
  await soundBooks(market)
  await market.close()
})

async function holder(balance: string): Promise<Person> {
  const person = await registered(market, { type: 'agent' })
  await credit(market, person.id, balance)
  return person
}

async function withdraw(person: Person, amount: string) {
  const answer = await person.call('POST', '/v1/balance/withdraw', { amount })
  await runOf(autoRefund, market.daemon.ctx)
  return answer
}

test('a wallet withdraws and cancels so many times a day, and its money stays whole', async () => {
  const who = await holder('50.00')
  const provider = await registered(market, { type: 'provider' })
  const { id: service } = (await provider.call('POST', '/v1/services', listing)).body
  const buy = async () => (await who.pay(`/v1/services/${service}/purchase`, { body: {} })).body
  const decline = (person: Person, thread: string) => person.call('POST', `/v1/threads/${thread}/decline`, {})
  const cancelled = await buy()
  expect((await decline(who, cancelled.thread_id)).status).toBe(200)
  for (let count = 1; count < GAS_ACTS_A_DAY; count += 1) expect((await withdraw(who, '1.00')).status).toBe(200)
  const before = (await who.call('GET', '/v1/balance')).body.balance
  const refused = await withdraw(who, '1.00')
  expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([
    429,
    'rate_limited',
    String(DAY_MS / 2_000),
  ])
  expect((await who.call('GET', '/v1/balance')).body.balance).toBe(before)
  const open = await buy()
  expect((await decline(who, open.thread_id)).status).toBe(429)
  expect((await who.call('GET', `/v1/jobs/${open.job_id}`)).body.status).toBe('dispatched')
  // What the provider gives back is bounded by nothing that the buyer did.
  expect((await decline(provider, open.thread_id)).status).toBe(200)
  now += DAY_MS / 2
  expect((await withdraw(who, '1.00')).status).toBe(200)
})

test('less than a dollar leaves a balance on a chain only where it empties it, once a day', async () => {
  const who = await holder('5.00')
  const small = await withdraw(who, '0.99')
  expect([small.status, small.body.error]).toEqual([400, expect.stringContaining('at least 1.00')])
  expect((await withdraw(who, '4.50')).status).toBe(200)
  expect((await withdraw(who, '0.50')).status).toBe(200)
  await credit(market, who.id, '0.25')
  expect((await withdraw(who, '0.25')).status).toBe(429)
  expect((await who.call('GET', '/v1/balance')).body.balance).toBe('0.25')
})

test('many of them in a day are told to the operator', async () => {
  const told = async () =>
    (await market.admin('GET', '/dashboard/api/admin/attention')).body.items.filter(
      ({ sentence }: { sentence: string }) => sentence.includes('which cost gas'),
    )
  expect(await told()).toEqual([])
  await commit(market.daemon.ctx, async (t) => {
    const id = `${Math.floor(now / DAY_MS)}:many`
    await t.table(gasDays).getForUpdate(id)
    await t.table(gasDays).put({ id, day: Math.floor(now / DAY_MS), acts: GAS_ACTS_TOLD, emptied: false })
  })
  expect(await told()).toMatchObject([{ kind: 'chain', fix: 'souk chain queue --all' }])
})
