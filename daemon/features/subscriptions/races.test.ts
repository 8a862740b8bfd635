import { afterAll, beforeAll, expect, test } from 'vitest'
import { credit } from '../../../fixtures/kit/money.ts'
import { type Answer, signPayment } from '../../../fixtures/market/marketplace.ts'
import type { Person } from '../../../fixtures/market/people.ts'
import { openPlans, PERIOD, type Plans, START } from '../../../fixtures/market/plans.ts'
import { toWallet } from '../../../src/core/hex.ts'
import { background } from '../../kernel/context.ts'
import { runPayouts } from '../payouts/payouts.ts'
import { subscriptionWork } from './due-work.ts'
import { periodStart } from './periods.ts'
import { subscriptions } from './rows.ts'

/* Thirty-two callers at once on one subscription: one outcome, and its money moves once. */

const CALLERS = 32
const HALF = CALLERS / 2
const END = periodStart(START, 'monthly', 1)

let market: Plans
let service: string
let plan: string
beforeAll(async () => {
  market = await openPlans()
  service = await market.list('human')
  plan = await market.plan([service])
})
afterAll(async () => {
  expect(await market.faults()).toEqual([])
  await market.close()
})

const won = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 200).length
const codes = (answers: readonly Answer[]) => [
  ...new Set(answers.filter(({ status }) => status !== 200).map((a) => a.body.code)),
]

/** One that is due, with money for two more periods. */
async function due() {
  market.at(START)
  const who = await market.agent()
  const id = await market.subscribed(plan, who)
  await credit(market.market, who.id, '2.10')
  market.at(END)
  const act = (name: string, body: object = {}) => who.call('POST', `/v1/subscriptions/${id}/${name}`, body)
  return { who, id, act }
}

async function runs(id: string): Promise<void> {
  for (const work of subscriptionWork) await work.run(market.ctx(), id, END)
}

/** Both kinds of callers in turn; who begins changes from round to round. */
async function together(round: number, act: () => Promise<Answer>, id: string): Promise<Answer[]> {
  const calls = Array.from({ length: HALF }, () => [act, () => runs(id).then(() => undefined)]).map((pair) =>
    round % 2 === 0 ? pair : pair.toReversed(),
  )
  const ended = await Promise.all(calls.flat().map((call) => call()))
  return ended.filter((answer) => answer !== undefined)
}

test('cancel at once against the renewal: charged before or not at all', async () => {
  const seen = new Set<number>()
  for (let round = 0; round < 6; round += 1) {
    const { who, id, act } = await due()
    const answers = await together(round, () => act('cancel', { at_period_end: false }), id)
    expect([won(answers), codes(answers)]).toEqual([1, ['invalid_transition']])
    const row = await market.row(id)
    const charges = await market.charges(id)
    expect([row.status, charges.length]).toEqual(['canceled', row.charges])
    expect([1, 2]).toContain(row.charges)
    expect(await market.balance(who)).toBe((3n - BigInt(row.charges)) * PERIOD.agent)
    seen.add(row.charges)
  }
  expect(seen.size).toBeGreaterThan(0)
})

test('cancel as usual against the renewal: gone without a charge, or charged once and canceled at the next end', async () => {
  for (let round = 0; round < 6; round += 1) {
    const { who, id, act } = await due()
    const answers = await together(round, () => act('cancel'), id)
    const row = await market.row(id)
    const isCharged = row.charges === 2
    expect(row).toMatchObject(isCharged ? { status: 'active', cancel_at_period_end: true } : { status: 'canceled' })
    expect(won(answers)).toBe(isCharged ? HALF : 1)
    expect((await market.charges(id)).length).toBe(row.charges)
    expect(await market.balance(who)).toBe((3n - BigInt(row.charges)) * PERIOD.agent)
  }
})

test('pause against the renewal, and resume after it: never more than one charge for one period', async () => {
  for (let round = 0; round < 4; round += 1) {
    const { who, id, act } = await due()
    const answers = await together(round, () => act('pause'), id)
    expect([won(answers), codes(answers), (await market.row(id)).status]).toEqual([1, ['invalid_transition'], 'paused'])
    await together(round, () => act('resume'), id)
    await runs(id)
    const row = await market.row(id)
    expect([row.status, row.charges, (await market.charges(id)).length]).toEqual(['active', 2, 2])
    expect(await market.balance(who)).toBe(PERIOD.agent)
  }
})

test('subscribing twice at once, from the balance and by signature: one subscription, the others have their money back', async () => {
  for (let round = 0; round < 2; round += 1) {
    market.at(START)
    const who = await market.agent()
    await credit(market.market, who.id, '20.00')
    await market.market.admin('POST', '/dashboard/api/admin/faucet', {
      body: { wallet: who.account.address, amount: '20.00' },
    })
    const before = await money(who)
    const path = `/v1/plans/${plan}/subscribe`
    const offer = await market.market.call('POST', path)
    const signed = await Promise.all(Array.from({ length: HALF }, () => signPayment(who.account, offer)))
    const answers = await Promise.all(
      signed.flatMap((headers) => [
        market.market.call('POST', path, { headers }),
        market.market.call('POST', path, { headers: { 'X-BALANCE-AUTH': who.key } }),
      ]),
    )
    expect([won(answers), codes(answers)]).toEqual([1, ['conflict']])
    const { rows } = await market
      .ctx()
      .store.table(subscriptions)
      .page('live', [wallet(who)], { limit: 10 })
    expect(rows.map(({ charges }) => charges)).toEqual([1])
    while (background.of(market.ctx()).size > 0) await Promise.all(background.of(market.ctx()))
    await runPayouts(market.ctx())
    expect(before - (await money(who))).toBe(PERIOD.agent)
    expect((await market.charges(rows[0]?.id ?? '')).length).toBe(1)
  }
})

const wallet = (who: Person) => toWallet(who.account.address)

async function money(who: Person): Promise<bigint> {
  return (await market.balance(who)) + (await market.ctx().chain.balanceOf(wallet(who)))
}
