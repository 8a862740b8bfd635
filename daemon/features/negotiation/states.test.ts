import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Escrow, openEscrow } from '../../../fixtures/market/escrow.ts'
import { dump, expectUnchanged, jobIn } from '../../../fixtures/market/job-states.ts'
import type { Answer } from '../../../fixtures/market/marketplace.ts'
import { openTalk } from '../../../fixtures/market/negotiation.ts'
import type { Person } from '../../../fixtures/market/people.ts'
import type { JobStatus } from '../../../src/model/job.ts'
import { threadStatuses } from '../../../src/model/words.ts'
import { deliveryWorker } from '../webhooks/worker.ts'

// @slow every act in every state of a negotiation

/* Every row of a conversation, in every state of it, by either side: what the table says, or a 409 that changes nothing. */

let market: Escrow
let agent: Person
beforeAll(async () => {
  market = await openEscrow()
  agent = await market.agent({ balance: '50.00' })
})
afterAll(async () => {
  expect(await market.faults()).toEqual([])
  await market.close()
})

type State = (typeof threadStatuses)[number] | 'cancelled before a job'
const states: readonly State[] = [...threadStatuses, 'cancelled before a job']
const jobStates: Partial<Record<State, JobStatus>> = {
  accepted: 'dispatched',
  in_progress: 'in_progress',
  completed: 'completed',
  verified: 'verified',
  disputed: 'disputed',
  cancelled: 'cancelled',
}

/** A conversation as it stands in a state. @returns its id */
async function threadIn(state: State): Promise<string> {
  const status = jobStates[state]
  if (status) return (await jobIn(market, { status, buyer: agent })).thread
  const talk = await openTalk(market, { agent })
  if (state !== 'inquiry') await talk.propose('0.10')
  if (state === 'cancelled before a job') await agent.call('POST', talk.at('decline'), {})
  return talk.thread
}

type Side = 'buyer' | 'provider'
type Ask = {
  readonly name: string
  /** Whose row it is; anybody else is a 403. */
  readonly by: readonly Side[]
  readonly body: object
  readonly paid?: true
  /** Where it is allowed, and where it leads. */
  readonly leads: Partial<Record<State, State>> | ((side: Side) => Partial<Record<State, State>>)
}

const both: readonly Side[] = ['buyer', 'provider']
const complaint = { reason: 'bad', category: 'quality' }
const asks: readonly Ask[] = [
  {
    name: 'propose',
    by: ['provider'],
    body: { price: '0.20' },
    leads: { inquiry: 'negotiating', negotiating: 'negotiating' },
  },
  { name: 'accept', by: ['buyer'], body: {}, paid: true, leads: { negotiating: 'accepted' } },
  {
    name: 'decline',
    by: both,
    body: {},
    leads: (side) => ({
      inquiry: 'cancelled',
      negotiating: 'cancelled',
      accepted: 'cancelled',
      ...(side === 'provider' ? { in_progress: 'cancelled' } : {}),
    }),
  },
  {
    name: 'update',
    by: ['provider'],
    body: { status: 'in_progress' },
    leads: { accepted: 'in_progress', in_progress: 'in_progress' },
  },
  { name: 'verify', by: ['buyer'], body: {}, paid: true, leads: { completed: 'verified' } },
  { name: 'dispute', by: ['buyer'], body: complaint, leads: { completed: 'disputed' } },
  {
    name: 'messages',
    by: both,
    body: { message: 'hello' },
    leads: Object.fromEntries(states.filter((one) => !one.startsWith('cancelled')).map((one) => [one, one])),
  },
]

function send({ name, body, paid }: Ask, thread: string, side: Side): Promise<Answer> {
  const path = `/v1/threads/${thread}/${name}`
  const who = side === 'buyer' ? agent : market.provider
  return paid ? who.pay(path, { body }) : who.call('POST', path, body)
}

describe.each(states)('a conversation that is %s', (state) => {
  const status = state === 'cancelled before a job' ? 'cancelled' : state

  test.each(asks.flatMap((ask) => both.map((side) => [ask.name, side, ask] as const)))(
    '%s by the %s',
    async (_, side, ask) => {
      const thread = await threadIn(state)
      await market.faults()
      await deliveryWorker.of(market.ctx()).idle()
      const before = await dump(market.ctx().store)
      const inWallet = await market.onChain(agent)
      const answer = await send(ask, thread, side)
      const leads = typeof ask.leads === 'function' ? ask.leads(side) : ask.leads
      const isTheirs = ask.by.includes(side)
      if (isTheirs && leads[state]) {
        expect([answer.status, await market.threadStatus(thread)]).toEqual([200, leads[state]])
        return
      }
      // A row that is the other side's may be refused for that, or for the state, whichever is seen first.
      expect(isTheirs ? [409] : [403, 409]).toContain(answer.status)
      if (answer.status === 409 && ask.name !== 'messages') {
        expect([answer.body.code, Array.isArray(answer.body.allowed)]).toEqual(['invalid_transition', true])
        expect(answer.body.allowed).not.toContain(ask.name)
      }
      expect([await market.threadStatus(thread), await market.onChain(agent)]).toEqual([status, inWallet])
      await expectUnchanged(market.ctx().store, before)
    },
  )
})
