import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dump, expectUnchanged } from '../../../fixtures/market/job-states.ts'
import type { Answer } from '../../../fixtures/market/marketplace.ts'
import { openRequests, type Requests } from '../../../fixtures/market/postings.ts'
import { AppError } from '../../../src/core/error.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import { type BidStatus, bidStatuses, type PostingStatus, postingStatuses } from '../../../src/model/words.ts'
import { background } from '../../kernel/context.ts'
import { allowedActs, findTransition } from '../../kernel/machine.ts'
import { commit } from '../../store/draw.ts'
import { deliveryWorker } from '../webhooks/worker.ts'
import { stepBid, stepPosting } from './close.ts'
import { bidMachine, bidRoles, postingMachine, postingRoles } from './machine.ts'
import { bids, lockPosting } from './rows.ts'

// @slow every act in every state of a request

/* Every state, every event, every role: what the table has is done, all else is a 409 that changes no byte. */

let requests: Requests
beforeAll(async () => {
  requests = await openRequests()
})
afterAll(async () => {
  expect(await requests.market.faults()).toEqual([])
  await requests.close()
})

const ctx = () => requests.market.ctx()
const call = (path: string) => requests.poster.call('POST', path, {})

/** A request with a bid, brought into a state by its own rows; `bid` is the one that was awarded, or the last. */
async function inState(status: PostingStatus): Promise<{ id: string; bid: string }> {
  const days = status === 'expired' ? 1 : 20
  const id = await requests.post({ deadline: new Date(ctx().clock.now() + days * DAY_MS).toISOString() })
  const bid = await requests.bid(id, { price_usd: 0.5 })
  if (status === 'cancelled') await call(`/v1/postings/${id}/cancel`)
  if (status === 'expired') {
    requests.market.pass(DAY_MS)
    await requests.runDue()
  }
  if (status === 'awarded' || status === 'completed') {
    const { body } = await requests.award(id, bid, { from: 'balance' })
    if (status === 'completed') {
      const done = { status: 'completed', deliverables: { done: 1 } }
      await requests.market.provider.call('POST', `/v1/jobs/${body.job_id}/update`, done)
      await requests.poster.pay(`/v1/jobs/${body.job_id}/verify`, { body: {} })
    }
  }
  await deliveryWorker.of(ctx()).idle()
  await Promise.all(background.of(ctx()))
  expect((await requests.posting(id)).status).toBe(status)
  return { id, bid }
}

async function refusalOf(act: Promise<unknown>): Promise<AppError> {
  const error = await act.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(AppError)
  return error as AppError
}

const events = [...new Set(postingMachine.transitions.map(({ event }) => event))]

test.each(postingStatuses)('a posting that is %s', async (from) => {
  for (const event of events) {
    for (const by of postingRoles) {
      const { id } = await inState(from)
      const step = () =>
        commit(ctx(), async (t, draw) =>
          stepPosting(t, draw, { posting: await lockPosting(t, id), event, by, at: ctx().clock.now() }),
        )
      const row = findTransition(postingMachine, { event, from, by })
      if (row) {
        expect((await step()).status).toBe(row.to)
        continue
      }
      const before = await dump(ctx().store)
      const { code, status, extra } = await refusalOf(step())
      expect([code, status, extra.from, extra.allowed]).toEqual([
        'invalid_transition',
        409,
        from,
        allowedActs(postingMachine, { from, by }),
      ])
      await expectUnchanged(ctx().store, before)
    }
  }
})

async function bidIn(status: BidStatus): Promise<string> {
  if (status === 'accepted') return (await inState('awarded')).bid
  if (status === 'rejected') return (await inState('cancelled')).bid
  const { id, bid } = await inState('open')
  if (status === 'withdrawn') await requests.market.provider.call('DELETE', `/v1/postings/${id}/bids/${bid}`)
  return bid
}

test.each(bidStatuses)('a bid that is %s', async (from) => {
  for (const event of ['accept', 'reject'] as const) {
    for (const by of bidRoles) {
      const id = await bidIn(from)
      const step = () =>
        commit(ctx(), async (t, draw) => {
          const bid = await t.table(bids).getForUpdate(id)
          if (!bid) throw new Error(`no ${id}`)
          return stepBid(t, draw, { bid, event, by, at: ctx().clock.now() })
        })
      const row = findTransition(bidMachine, { event, from, by })
      if (row) expect((await step()).status).toBe(row.to)
      else expect((await refusalOf(step())).extra.from).toBe(from)
    }
  }
})

/** The rows of the API, and what each asks for. */
type Place = { id: string; bid: string }
const asks: readonly (readonly [name: string, send: (at: Place) => Promise<Answer>, allowedIn: readonly string[]])[] = [
  ['cancel', ({ id }) => call(`/v1/postings/${id}/cancel`), ['open']],
  [
    'bid',
    async ({ id }) => {
      const body = { price_usd: 1, eta_hours: 1, service_id: requests.service }
      const answer = await requests.market.provider.call('POST', `/v1/postings/${id}/bids`, body)
      return answer.body.code === 'conflict' ? { ...answer, status: 200 } : answer
    },
    ['open'],
  ],
  ['withdraw', ({ id, bid }) => requests.market.provider.call('DELETE', `/v1/postings/${id}/bids/${bid}`), ['open']],
  ['award by x402', ({ id, bid }) => requests.award(id, bid), ['open']],
  ['award from the balance', ({ id, bid }) => requests.award(id, bid, { from: 'balance' }), ['open']],
]

describe.each(postingStatuses)('over HTTP, a request that is %s', (from) => {
  test.each(asks)('%s', async (_, send, allowedIn) => {
    const place = await inState(from)
    const before = await dump(ctx().store)
    const inWallet = await requests.market.onChain(requests.poster)
    const answer = await send(place)
    if (allowedIn.includes(from)) {
      expect(answer.status).toBe(200)
      return
    }
    expect([answer.status, answer.body.code]).toEqual([409, 'invalid_transition'])
    expect(answer.body).toMatchObject({ from: expect.any(String), to: expect.any(String), allowed: [] })
    expect(await requests.market.onChain(requests.poster)).toBe(inWallet)
    await expectUnchanged(ctx().store, before)
  })
})
