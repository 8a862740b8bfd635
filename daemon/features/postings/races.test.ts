import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chainWith, gate } from '../../../fixtures/kit/faults.ts'
import { type Answer, signPayment } from '../../../fixtures/market/marketplace.ts'
import { type Person, registered } from '../../../fixtures/market/people.ts'
import { BID_PRICE, openRequests, type Requests } from '../../../fixtures/market/postings.ts'
import { type Hex, toWallet } from '../../../src/core/hex.ts'
import { MAX_WAITING } from '../../kernel/keyed-mutex.ts'
import { jobs } from '../jobs/rows.ts'
import { account } from '../ledger/legs.ts'
import { ledger } from '../ledger/rows.ts'
import { payments } from '../payments/rows.ts'
import { mutexKey } from './rows.ts'

// @slow every two acts at once

/* Thirty-two callers at once on one request: one of them wins, its money moves once, and no other was used. */

const CALLERS = 32
const HALF = CALLERS / 2

/** A chain answers late: what is checked before a settlement may have changed when it is done. */
const SETTLEMENT_MS = 5
/** Where it waits for the test, while there is one. */
let door: ReturnType<typeof gate> | undefined
const slowChain = chainWith((real) => ({
  settle: async (...payment) => {
    await (door?.wait() ?? new Promise((done) => setTimeout(done, SETTLEMENT_MS)))
    return real.settle(...payment)
  },
}))

let requests: Requests
let rival: { who: Person; service: string }
beforeAll(async () => {
  requests = await openRequests({ chain: slowChain })
  const who = await registered(requests.market.market, { type: 'provider' })
  const body = { name: 'Rival', description: 'Also does it.', price: '1.00', fulfillment_type: 'human' }
  rival = { who, service: (await who.call('POST', '/v1/services', body)).body.id }
})
afterAll(async () => {
  expect(await requests.market.faults()).toEqual([])
  await requests.close()
})

type Call = { readonly send: () => Promise<Answer>; readonly nonce: Hex | null }

const free = (send: Call['send'], count: number): Call[] => Array.from({ length: count }, () => ({ send, nonce: null }))

/** Awards of one bid, each with a signature of its own or all from the balance, ready to go off together. */
async function awards(posting: string, bid: string, { from, count }: Paying): Promise<Call[]> {
  const { market, poster } = requests
  const path = `/v1/postings/${posting}/award`
  const body = { bid_id: bid }
  if (from === 'balance') {
    return free(() => market.market.call('POST', path, { body, headers: { 'X-BALANCE-AUTH': poster.key } }), count)
  }
  const offer = await market.market.call('POST', path, { body })
  return Promise.all(
    Array.from({ length: count }, async () => {
      const headers = await signPayment(poster.account, offer)
      const { payload } = JSON.parse(Buffer.from(Object.values(headers)[0] as string, 'base64').toString())
      return { send: () => market.market.call('POST', path, { body, headers }), nonce: payload.authorization.nonce }
    }),
  )
}

type Paying = { readonly from: 'x402' | 'balance'; readonly count: number }

/** All of them in turn; who begins changes from round to round. */
async function together(groups: readonly (readonly Call[])[], round: number): Promise<Answer[][]> {
  const order = round % 2 === 0 ? groups : groups.toReversed()
  const longest = Math.max(...groups.map((group) => group.length))
  const sent = new Map<Call, Promise<Answer>>()
  for (let at = 0; at < longest; at += 1) {
    for (const group of order) {
      const call = group[at]
      if (call) sent.set(call, call.send())
    }
  }
  return Promise.all(groups.map((group) => Promise.all(group.map((call) => sent.get(call) as Promise<Answer>))))
}

const won = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 200).length
const refusals = (answers: readonly Answer[]) => [
  ...new Set(answers.filter(({ status }) => status !== 200).map((one) => `${one.status} ${one.body.code}`)),
]

/** How many of the signatures the chain has seen. */
async function usedOf(calls: readonly Call[]): Promise<number> {
  const payer = toWallet(requests.poster.account.address)
  const nonces = calls.flatMap(({ nonce }) => nonce ?? [])
  const states = await Promise.all(nonces.map((one) => requests.market.ctx().chain.authorizationState(payer, one)))
  return states.filter(({ used }) => used).length
}

async function jobsOf(posting: string): Promise<string[]> {
  const { rows } = await requests.market.ctx().store.table(jobs).page('newest', [], { limit: 1_000 })
  return rows.filter((job) => job.posting_id === posting).map(({ id }) => id)
}

/** Kinds of the transactions that moved the money of these jobs. */
async function moves(ids: readonly string[]): Promise<string[]> {
  const { rows } = await requests.market.ctx().store.table(ledger).page('seq', [], { limit: 1_000, order: 'desc' })
  const names = ids.map(account.escrow)
  return rows.filter((row) => row.lines.some((line) => names.includes(line.account))).map((row) => row.kind)
}

async function open(): Promise<{ posting: string; one: string; other: string }> {
  const posting = await requests.post()
  const one = await requests.bid(posting)
  return { posting, one, other: await requests.bid(posting, { service_id: rival.service }, rival.who) }
}

type Money = { wallet: bigint; balance: bigint }

async function money(): Promise<Money> {
  const { market, poster } = requests
  return { wallet: await market.onChain(poster), balance: await market.booked(account.balance(poster.id)) }
}

/** What was taken since, wherever it was paid from. */
async function spentSince(before: Money): Promise<bigint> {
  expect(await requests.market.faults()).toEqual([])
  const now = await money()
  return before.wallet - now.wallet + before.balance - now.balance
}

describe.each(['x402', 'balance'] as const)('paid by %s', (from) => {
  test('two bids of one request awarded at once: one job', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { posting, one, other } = await open()
      const before = await money()
      const calls = [
        await awards(posting, one, { from, count: HALF }),
        await awards(posting, other, { from, count: HALF }),
      ]
      const answers = (await together(calls, round)).flat()
      expect([won(answers), refusals(answers)]).toEqual([1, ['409 invalid_transition']])
      const made = await jobsOf(posting)
      expect([made.length, await moves(made), await usedOf(calls.flat())]).toEqual([
        1,
        ['escrow_hold'],
        from === 'x402' ? 1 : 0,
      ])
      expect(await spentSince(before)).toBe(BID_PRICE.agent)
      const states = [(await requests.bidRow(one)).status, (await requests.bidRow(other)).status].sort()
      expect([states, (await requests.posting(posting)).status]).toEqual([['accepted', 'rejected'], 'awarded'])
    }
  })

  test.each([0, 1, 2, 3])('cancel against award, round %i', async (round) => {
    const { posting, one } = await open()
    const cancels = free(() => requests.poster.call('POST', `/v1/postings/${posting}/cancel`), HALF)
    const isAwarded = await raced({
      posting,
      ends: cancels,
      paying: await awards(posting, one, { from, count: HALF }),
      round,
    })
    expect((await requests.posting(posting)).status).toBe(isAwarded ? 'awarded' : 'cancelled')
  })

  test.each([0, 1, 2, 3])('withdrawal of the bid against its award, round %i', async (round) => {
    const { posting, one } = await open()
    const path = `/v1/postings/${posting}/bids/${one}`
    const ends = free(() => requests.market.provider.call('DELETE', path), HALF)
    const isAwarded = await raced({ posting, ends, paying: await awards(posting, one, { from, count: HALF }), round })
    expect([(await requests.bidRow(one)).status, (await requests.posting(posting)).bid_count]).toEqual(
      isAwarded ? ['accepted', 2] : ['withdrawn', 1],
    )
  })
})

type Race = {
  readonly posting: string
  readonly ends: readonly Call[]
  readonly paying: readonly Call[]
  readonly round: number
}

/** One of all these calls wins; only an award that won has moved money, and used one signature. @returns whether it did */
async function raced({ posting, ends, paying, round }: Race): Promise<boolean> {
  const before = await money()
  const [ended = [], awarded = []] = await together([ends, paying], round)
  const awards = won(awarded)
  expect([won(ended) + awards, refusals([...ended, ...awarded])]).toEqual([1, ['409 invalid_transition']])
  const signatures = paying[0]?.nonce === null ? 0 : awards
  expect([await usedOf(paying), (await jobsOf(posting)).length]).toEqual([signatures, awards])
  expect(await spentSince(before)).toBe(BigInt(awards) * BID_PRICE.agent)
  return awards === 1
}

describe.each(['x402', 'balance'] as const)('paid by %s', (from) => {
  test('who finds all places before a request taken is told to come again, with nothing reserved or held', async () => {
    const { posting, one } = await open()
    const { mutex, store } = requests.market.ctx()
    const [paying] = await awards(posting, one, { from, count: 1 })
    const before = await money()
    const full = gate()
    const others = Array.from({ length: MAX_WAITING }, () => mutex.run(mutexKey(posting), full.wait))
    const reserved = () => store.table(payments).count('open', [])
    const refused = await paying?.send()
    expect([refused?.status, refused?.body.code, refused?.headers.get('retry-after')]).toEqual([
      503,
      'unavailable',
      '1',
    ])
    expect([await reserved(), await spentSince(before)]).toEqual([0, 0n])
    full.open()
    await Promise.all(others)
    expect((await paying?.send())?.status).toBe(200)
    expect([await reserved(), await spentSince(before)]).toEqual([0, BID_PRICE.agent])
  })
})

test('who ends a request while an award of it is being paid comes too late', async () => {
  const { posting, one, other } = await open()
  const before = await money()
  const [paying] = await awards(posting, one, { from: 'x402', count: 1 })
  door = gate()
  const awarded = paying?.send()
  await door.reached
  const ends = [
    requests.poster.call('POST', `/v1/postings/${posting}/cancel`),
    requests.market.provider.call('DELETE', `/v1/postings/${posting}/bids/${one}`),
    rival.who.call('DELETE', `/v1/postings/${posting}/bids/${other}`),
  ]
  // Reads go on, and give the others time to be done, if they could.
  for (let read = 0; read < CALLERS; read += 1) {
    const { body } = await requests.market.market.call('GET', `/v1/postings/${posting}`)
    expect([body.status, body.bid_count]).toEqual(['open', 2])
  }
  door.open()
  door = undefined
  expect([(await awarded)?.status, refusals(await Promise.all(ends))]).toEqual([200, ['409 invalid_transition']])
  expect(await spentSince(before)).toBe(BID_PRICE.agent)
})

test('one provider bids from many callers: one bid stands', async () => {
  const posting = await requests.post()
  const body = { price_usd: 8, eta_hours: 1, service_id: requests.service }
  const calls = free(() => requests.market.provider.call('POST', `/v1/postings/${posting}/bids`, body), CALLERS)
  const answers = (await together([calls], 0)).flat()
  expect([won(answers), refusals(answers), (await requests.posting(posting)).bid_count]).toEqual([
    1,
    ['409 conflict'],
    1,
  ])
})
