import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Escrow, openEscrow } from '../../../fixtures/market/escrow.ts'
import { type Answer, signPayment } from '../../../fixtures/market/marketplace.ts'
import { openTalk, type Talk } from '../../../fixtures/market/negotiation.ts'
import { jobs } from '../jobs/rows.ts'
import { account } from '../ledger/legs.ts'
import { ledger } from '../ledger/rows.ts'

// @slow every two acts at once

/* Thirty-two callers at once in one conversation: one price is paid at most, once, and it is the one that was accepted. */

const CALLERS = 32
const HALF = CALLERS / 2
const ROUNDS = 3
/** 0.10 as a proposal, to the buyer. */
const AGENT = 105_000n

let market: Escrow
let service: string
beforeAll(async () => {
  market = await openEscrow()
  service = await market.list('human', { pricing_model: 'quote_required', price: null })
})
afterAll(async () => {
  expect(await market.faults()).toEqual([])
  await market.close()
})

type Call = () => Promise<Answer>
type Method = 'x402' | 'balance'

async function negotiated(): Promise<Talk & { proposedAt: string }> {
  const talk = await openTalk(market, { service })
  const { proposal } = (await talk.propose('0.10')).body
  return { ...talk, proposedAt: proposal.proposed_at }
}

/** Accepts of one buyer, each with a payment of its own, ready to go off together. */
async function accepts(talk: Talk, method: Method, body: object = {}): Promise<Call[]> {
  const path = talk.at('accept')
  const offer = await market.market.call('POST', path)
  return Promise.all(
    Array.from({ length: HALF }, async () => {
      const headers =
        method === 'balance' ? { 'X-BALANCE-AUTH': talk.agent.key } : await signPayment(talk.agent.account, offer)
      return () => market.market.call('POST', path, { body, headers })
    }),
  )
}

const repeated = (call: (at: number) => Promise<Answer>): Call[] =>
  Array.from({ length: HALF }, (_, at) => () => call(at))

/** Both kinds of callers in turn; who begins changes from round to round. */
async function together(one: readonly Call[], other: readonly Call[], round: number): Promise<[Answer[], Answer[]]> {
  const [first, second] = round % 2 === 0 ? [one, other] : [other, one]
  const answers = await Promise.all(first.flatMap((call, at) => [call(), (second[at] as Call)()]))
  const [ofFirst, ofSecond] = [0, 1].map((side) => answers.filter((_, at) => at % 2 === side)) as [Answer[], Answer[]]
  return round % 2 === 0 ? [ofFirst, ofSecond] : [ofSecond, ofFirst]
}

const won = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 200)
const lost = (answers: readonly Answer[]) =>
  [...new Set(answers.map(({ status }) => status))].filter((one) => one !== 200)

/** What the buyer has, wherever it is, when all that goes back has gone back. */
async function purse({ agent }: Talk): Promise<bigint> {
  expect(await market.faults()).toEqual([])
  return (await market.onChain(agent)) + (await market.booked(account.balance(agent.id)))
}

async function jobsOf({ agent }: Talk) {
  const wallet = agent.account.address.toLowerCase()
  return (await market.ctx().store.table(jobs).page('buyer', [wallet], { limit: 100 })).rows
}

async function moves(id: string): Promise<string[]> {
  const { rows } = await market.ctx().store.table(ledger).page('job', [id], { limit: 100 })
  return rows.map((row) => row.kind)
}

test('accept against accept: one job, one price', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const talk = await negotiated()
    const before = await purse(talk)
    const answers = await together(await accepts(talk, 'x402'), await accepts(talk, 'balance'), round)
    expect([won(answers.flat()).length, lost(answers.flat())]).toEqual([1, [409]])
    const [job, ...more] = await jobsOf(talk)
    expect([more.length, job?.amount, before - (await purse(talk))]).toEqual([0, AGENT, AGENT])
    expect([await market.escrowed(job?.id ?? ''), await moves(job?.id ?? '')]).toEqual([AGENT, ['escrow_hold']])
    expect(await market.threadStatus(talk.thread)).toBe('accepted')
  }
})

test.each(['x402', 'balance'] as const)(
  'accept by %s against decline: nothing, or a job that is cancelled',
  async (method) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const talk = await negotiated()
      const before = await purse(talk)
      const decline = repeated((at) => talk[at % 2 === 0 ? 'agent' : 'provider'].call('POST', talk.at('decline'), {}))
      const [accepted, declined] = await together(await accepts(talk, method), decline, round)
      // Who declines after the accept cancels the job: then both have won.
      expect([won(declined).length, lost(declined), lost(accepted)]).toEqual([1, [409], [409]])
      const [job, ...more] = await jobsOf(talk)
      expect([more.length, won(accepted).length]).toEqual([0, job ? 1 : 0])
      if (job) expect([job.status, await moves(job.id)]).toEqual(['cancelled', ['escrow_hold', 'refund']])
      expect([await market.threadStatus(talk.thread), await purse(talk)]).toEqual(['cancelled', before])
    }
  },
)

test.each(['x402', 'balance'] as const)(
  'accept by %s against propose: the price that was asked for, or none',
  async (method) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const talk = await negotiated()
      const before = await purse(talk)
      const dearer = repeated((at) => talk.propose(`0.${20 + at}`))
      const bound = { proposed_at: talk.proposedAt }
      const [accepted, proposed] = await together(await accepts(talk, method, bound), dearer, round)
      const [job, ...more] = await jobsOf(talk)
      expect([more.length, won(accepted).length]).toEqual([0, job ? 1 : 0])
      expect(lost(accepted).every((status) => status === 409 || (method === 'x402' && status === 402))).toBe(true)
      expect(lost(proposed).every((status) => job !== undefined && status === 409)).toBe(true)
      expect([job?.amount ?? 0n, before - (await purse(talk))]).toEqual(job ? [AGENT, AGENT] : [0n, 0n])
      expect(await market.threadStatus(talk.thread)).toBe(job ? 'accepted' : 'negotiating')
    }
  },
)

test('accept from the balance of whatever is offered pays exactly what the job then costs', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const talk = await negotiated()
    const before = await purse(talk)
    const dearer = repeated((at) => talk.propose(`0.${20 + at}`))
    await together(await accepts(talk, 'balance'), dearer, round)
    const [job, ...more] = await jobsOf(talk)
    const { proposal } = (await talk.agent.call('GET', talk.at())).body
    const paid = before - (await purse(talk))
    expect([more.length, job?.amount ?? 0n]).toEqual([0, paid])
    if (job)
      expect([proposal.status, `${Number(job.amount) / 1e6}`]).toEqual(['accepted', `${Number(proposal.agent_price)}`])
  }
})
