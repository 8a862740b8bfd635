import { afterAll, beforeAll, expect, test } from 'vitest'
import { chainWith, gate } from '../../../fixtures/kit/faults.ts'
import { handClock } from '../../../fixtures/kit/time.ts'
import { type Escrow, openEscrow } from '../../../fixtures/market/escrow.ts'
import { openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { closeWindow, OFFER, openTalk, type Talk, talkIn } from '../../../fixtures/market/negotiation.ts'
import { DAY_MS } from '../../../src/core/time.ts'

/* What happens in a conversation while the buyer's payment is on its way. */

let market: Escrow
let door = gate()
let isHeld = false
beforeAll(async () => {
  const chain = chainWith((real) => ({
    settle: async (...signed) => {
      const settled = await real.settle(...signed)
      if (isHeld) await door.wait()
      return settled
    },
  }))
  market = await openEscrow({ chain })
})
afterAll(async () => {
  expect(await market.faults()).toEqual([])
  await market.close()
})

/** Accepts, and lets something happen between the payment and its effect. */
async function acceptWhile(talk: Talk, happen: () => unknown) {
  door = gate()
  isHeld = true
  const accepting = talk.accept()
  await door.reached
  isHeld = false
  await happen()
  door.open()
  return accepting
}

async function negotiated(): Promise<Talk> {
  const talk = await openTalk(market)
  await talk.propose(OFFER.price)
  return talk
}

test('a proposal that expires meanwhile was accepted in time', async () => {
  const talk = await negotiated()
  const accepted = await acceptWhile(talk, () => market.pass(8 * DAY_MS))
  expect([accepted.status, accepted.body.proposal.status, accepted.body.amount]).toEqual([200, 'accepted', '2.10'])
  expect(await market.escrowed(accepted.body.job_id)).toBe(OFFER.agent)
})

test('a proposal that is replaced meanwhile is the one that was paid for', async () => {
  const talk = await negotiated()
  const accepted = await acceptWhile(talk, () => talk.propose('20.00'))
  expect([accepted.status, accepted.body.proposal.price, accepted.body.amount]).toEqual([200, '2.00', '2.10'])
  expect(await market.escrowed(accepted.body.job_id)).toBe(OFFER.agent)
})

test.each([
  {
    what: 'is declined',
    happen: (talk: Talk) => talk.provider.call('POST', talk.at('decline'), {}),
    code: 'invalid_transition',
    status: 'cancelled',
  },
  {
    what: 'is replaced twice',
    async happen(talk: Talk) {
      await talk.propose(OFFER.price)
      await closeWindow(market, talk.thread)
      await talk.propose(OFFER.price)
    },
    code: 'conflict',
    status: 'negotiating',
  },
  {
    what: 'is accepted otherwise',
    happen: (talk: Talk) => talk.accept({ by: 'balance' }),
    code: 'invalid_transition',
    status: 'accepted',
  },
])('a proposal that $what meanwhile gives the payment back', async ({ happen, code, status }) => {
  const talk = await negotiated()
  const before = await market.onChain(talk.agent)
  const refused = await acceptWhile(talk, () => happen(talk))
  expect([refused.status, refused.body.code, refused.body.refunded]).toEqual([409, code, true])
  expect(await market.faults()).toEqual([])
  expect([await market.onChain(talk.agent), await market.threadStatus(talk.thread)]).toEqual([before, status])
})

test('a proposal has a time of its own, by which it is named, even where time stands still', async () => {
  const still = await openMarketplace({}, { clock: handClock(Date.now()) })
  const talk = await talkIn(still)
  const first = (await talk.propose('1.00')).body.proposal
  const second = (await talk.propose('1.00')).body.proposal
  await closeWindow({ ctx: () => still.daemon.ctx }, talk.thread)
  const refused = await talk.accept({ body: { proposed_at: first.proposed_at } })
  const accepted = await talk.accept({ body: { proposed_at: second.proposed_at } })
  await still.close()
  expect([refused.status, refused.body.code, accepted.status]).toEqual([409, 'conflict', 200])
})
