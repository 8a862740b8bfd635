import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Escrow, openEscrow, PRICE } from '../../../fixtures/market/escrow.ts'
import { type Answer, signPayment } from '../../../fixtures/market/marketplace.ts'
import type { Person } from '../../../fixtures/market/people.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import { writePlatform } from '../../kernel/switches.ts'
import { commit } from '../../store/draw.ts'
import { account } from '../ledger/legs.ts'
import { ledger } from '../ledger/rows.ts'
import { jobWork } from './escrow-monitor.ts'

// @slow every two acts at once

/* Thirty-two callers at once on one job: one of them wins, and its money moves once. */

const CALLERS = 32
const HALF = CALLERS / 2

let market: Escrow
let human: string
beforeAll(async () => {
  market = await openEscrow()
  human = await market.list('human')
})
afterAll(async () => {
  expect(await market.faults()).toEqual([])
  await market.close()
})

const done = { status: 'completed', deliverables: { words: 3 } }
const complaint = { reason: 'bad', category: 'quality' }

async function bought(from: 'x402' | 'balance' = 'x402') {
  const who = await market.agent({ balance: '5.00' })
  const { body } = await market.buy(human, who, { from })
  return { who, id: body.job_id as string, thread: body.thread_id as string }
}

async function delivered(from?: 'x402' | 'balance') {
  const job = await bought(from)
  await market.provider.call('POST', `/v1/jobs/${job.id}/update`, done)
  return job
}

type Call = () => Promise<Answer>

/** Paid calls of one buyer, each signed for itself, ready to go off together. */
async function signed(who: Person, path: string, body: object): Promise<Call[]> {
  const offer = await market.market.call('POST', path, { body })
  return Promise.all(
    Array.from({ length: HALF }, async () => {
      const headers = await signPayment(who.account, offer)
      return () => market.market.call('POST', path, { body, headers })
    }),
  )
}

const repeated = (call: Call): Call[] => Array.from({ length: HALF }, () => call)

type Sides = { readonly one: readonly Call[]; readonly other: readonly Call[]; readonly round: number }

/** Both kinds of callers in turn; who begins changes from round to round. */
async function together({ one, other, round }: Sides): Promise<[Answer[], Answer[]]> {
  const [first, second] = round % 2 === 0 ? [one, other] : [other, one]
  const answers = await Promise.all(first.flatMap((call, at) => [call(), (second[at] as Call)()]))
  const [ofFirst, ofSecond] = [0, 1].map((side) => answers.filter((_, at) => at % 2 === side)) as [Answer[], Answer[]]
  return round % 2 === 0 ? [ofFirst, ofSecond] : [ofSecond, ofFirst]
}

const won = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 200).length
const codes = (answers: readonly Answer[]) =>
  new Set(answers.filter(({ status }) => status !== 200).map((a) => a.status))

/** Kinds of the transactions that moved a job's money, in order. */
async function moves(id: string): Promise<string[]> {
  const { rows } = await market.ctx().store.table(ledger).page('seq', [], { limit: 1_000 })
  return rows.filter((row) => row.lines.some((line) => line.account === account.escrow(id))).map((row) => row.kind)
}

const times = async (id: string, event: string) =>
  (await market.job(id)).timeline.filter((entry) => entry.event === event).length

test.each(['x402', 'balance'] as const)('verify against the automatic verification, paid by %s', async (from) => {
  const { who, id } = await delivered(from)
  const before = await market.onChain(who)
  market.pass(2 * DAY_MS)
  const now = market.ctx().clock.now()
  const calls = await signed(who, `/v1/jobs/${id}/verify`, { rating: 5 })
  const runs = Array.from({ length: HALF }, (_, at) => async () => {
    for (const work of at % 2 === 0 ? jobWork : jobWork.toReversed()) await work.run(market.ctx(), id, now)
  })
  const [answers] = await Promise.all([Promise.all(calls.map((call) => call())), Promise.all(runs.map((run) => run()))])
  await market.monitor()
  const job = await market.job(id)
  expect([job.status, await times(id, 'verified'), await times(id, 'released'), await moves(id)]).toEqual([
    'released',
    1,
    1,
    ['escrow_hold', 'escrow_release'],
  ])
  expect(won(answers) === 1 || job.verification?.by === 'auto').toBe(true)
  expect(won(answers)).toBeLessThanOrEqual(1)
  expect([...codes(answers)]).toEqual([409])
  expect(await market.faults()).toEqual([])
  expect(before - (await market.onChain(who))).toBe(BigInt(won(answers)) * 1_000n)
})

test('dispute against verify and release: held, or paid', async () => {
  for (let round = 0; round < 3; round += 1) {
    const { who, id } = await delivered()
    const before = await market.onChain(who)
    const [verifies, disputes] = await together({
      one: await signed(who, `/v1/jobs/${id}/verify`, {}),
      other: await signed(who, `/v1/jobs/${id}/dispute`, complaint),
      round,
    })
    expect([won(verifies) + won(disputes), [...codes([...verifies, ...disputes])]]).toEqual([1, [409]])
    const isHeld = won(disputes) === 1
    expect([(await market.job(id)).status, await market.escrowed(id), await moves(id)]).toEqual(
      isHeld ? ['disputed', PRICE.agent, ['escrow_hold']] : ['released', 0n, ['escrow_hold', 'escrow_release']],
    )
    expect(await market.faults()).toEqual([])
    expect(before - (await market.onChain(who))).toBe(isHeld ? 5_000n : 1_000n)
  }
})

test('dispute by key against the release that falls due', async () => {
  for (let round = 0; round < 3; round += 1) {
    const { who, id, thread } = await delivered()
    market.pass(2 * DAY_MS)
    const now = market.ctx().clock.now()
    const disputes = repeated(() => who.call('POST', `/v1/threads/${thread}/dispute`, complaint))
    const running = disputes.flatMap((call) => [
      call(),
      (async () => {
        for (const work of jobWork) await work.run(market.ctx(), id, now)
      })(),
    ])
    const answers = (await Promise.all(running)).filter((answer) => answer !== undefined)
    const job = await market.job(id)
    // Late ones are recorded: that is one dispute too, but it holds nothing.
    expect([won(answers), job.dispute?.status]).toEqual([1, job.status === 'disputed' ? 'open' : 'recorded'])
    expect(await moves(id)).toEqual(job.status === 'disputed' ? ['escrow_hold'] : ['escrow_hold', 'escrow_release'])
  }
})

test.each(['x402', 'balance'] as const)('cancel against complete, paid by %s', async (from) => {
  for (let round = 0; round < 3; round += 1) {
    const { who, id, thread } = await bought(from)
    const [cancels, completions] = await together({
      one: repeated(() => who.call('POST', `/v1/threads/${thread}/decline`, {})),
      other: repeated(() => market.provider.call('POST', `/v1/jobs/${id}/update`, done)),
      round,
    })
    // Copies of one delivery are answered alike.
    expect([0, completions.length]).toContain(won(completions))
    expect([won(cancels) + Math.min(1, won(completions)), [...codes([...cancels, ...completions])]]).toEqual([1, [409]])
    expect([(await market.job(id)).status, await moves(id)]).toEqual(
      won(cancels) === 1 ? ['cancelled', ['escrow_hold', 'refund']] : ['completed', ['escrow_hold']],
    )
  }
})

test('expiry against delivery, and a ruling against its default', async () => {
  const late = await bought()
  market.pass(DAY_MS)
  const now = market.ctx().clock.now()
  const deliveries = repeated(() => market.provider.call('POST', `/v1/jobs/${late.id}/update`, done))
  await Promise.all(
    deliveries.flatMap((call) => [call(), ...jobWork.map((work) => work.run(market.ctx(), late.id, now))]),
  )
  expect([
    ['expired', 'completed'].includes((await market.job(late.id)).status),
    (await times(late.id, 'expired')) + (await times(late.id, 'completed')),
  ]).toEqual([true, 1])

  const { who, id, thread } = await delivered()
  await commit(market.ctx(), (t) => writePlatform(t, { disputes_default: { outcome: 'refund', days: 14 } }))
  await who.call('POST', `/v1/threads/${thread}/dispute`, complaint)
  market.pass(14 * DAY_MS)
  const then = market.ctx().clock.now()
  const outcomes = ['release', 'refund', 'split'] as const
  const rule = (at: number) => {
    const outcome = outcomes[at % outcomes.length]
    const body = { outcome, reason: 'x', ...(outcome === 'split' ? { buyer_amount: '0.10' } : {}) }
    return market.market.admin('POST', `/dashboard/api/admin/jobs/${id}/resolve`, { body })
  }
  const answers = await Promise.all(
    Array.from({ length: CALLERS }, (_, at) =>
      at % 2 === 0 ? rule(at) : jobWork[1]?.run(market.ctx(), id, then).then(() => undefined),
    ),
  )
  const rulings = answers.filter((answer) => answer !== undefined)
  const by = (await market.job(id)).dispute?.resolved_by
  expect([won(rulings), (await moves(id)).length]).toEqual([by === 'admin' ? 1 : 0, 2])
})
