import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { diagram } from '../../../bin/states.ts'
import { balanceOfAccount, soundBooks } from '../../../fixtures/kit/money.ts'
import { dump } from '../../../fixtures/market/job-states.ts'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { AppError } from '../../../src/core/error.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import { usdc } from '../../../src/core/money.ts'
import { commit } from '../../store/draw.ts'
import { account, legsOf } from '../ledger/legs.ts'
import { post } from '../ledger/post.ts'
import { type PayoutEvent, type PayoutState, payoutMachine, payoutState } from './machine.ts'
import { openRefund, runPayouts } from './payouts.ts'
import { payouts } from './rows.ts'
import { applyPayoutStep } from './steps.ts'

let market: Marketplace
beforeAll(async () => {
  market = await openMarketplace()
})
afterAll(() => market.close())

const ctx = () => market.daemon.ctx
const amount = usdc(70_000n)

/** What decisions §4 allow, written out: from, event, to, and where the money is then. */
type Place = 'set aside' | 'on the chain' | 'owed' | 'kept'
type Allowed = readonly [from: PayoutState, event: PayoutEvent, to: PayoutState, money: Place]
const allowed: readonly Allowed[] = [
  ['created', 'sign', 'signed', 'set aside'],
  ['created', 'lack_key', 'needs_operator', 'set aside'],
  ['created', 'block', 'blocked', 'kept'],
  ['created', 'fail', 'failed', 'owed'],
  ['needs_operator', 'sign', 'signed', 'set aside'],
  ['needs_operator', 'lack_key', 'needs_operator', 'set aside'],
  ['needs_operator', 'block', 'blocked', 'kept'],
  ['needs_operator', 'fail', 'failed', 'owed'],
  ['signed', 'send', 'sent', 'set aside'],
  ['signed', 'block', 'blocked', 'kept'],
  ['signed', 'fail', 'failed', 'owed'],
  ['sent', 'send', 'sent', 'set aside'],
  ['sent', 'postpone', 'sent', 'set aside'],
  ['sent', 'confirm', 'confirmed', 'on the chain'],
  ['sent', 'fail', 'failed', 'owed'],
  ['sent', 'block', 'blocked', 'kept'],
  ['blocked', 'review', 'blocked', 'kept'],
  ['blocked', 'unblock', 'failed', 'owed'],
]

/** The shortest way to each state. */
const ways: Record<PayoutState, readonly PayoutEvent[]> = {
  created: [],
  needs_operator: ['lack_key'],
  signed: ['sign'],
  sent: ['sign', 'send'],
  confirmed: ['sign', 'send', 'confirm'],
  failed: ['sign', 'send', 'fail'],
  blocked: ['block'],
}
const events = [...new Set(payoutMachine.transitions.map(({ event }) => event))]

function attempt(id: string, event: PayoutEvent) {
  return commit(ctx(), async (t, draw) => {
    const row = await t.table(payouts).getForUpdate(id)
    if (!row) throw new Error(`no ${id}`)
    const at = ctx().clock.now()
    return applyPayoutStep(t, draw, {
      row,
      step: { event, at, ...(event === 'confirm' ? { transaction: '0x1' } : {}) },
    })
  })
}

/** A refund whose payout stands in a state; what the books say has left did leave. */
async function payoutIn(state: PayoutState): Promise<{ id: string; wallet: Wallet }> {
  const wallet = `0x${randomBytes(20).toString('hex')}` as Wallet
  await ctx().chain.faucet?.({ wallet: ctx().chain.payTo, amount, nowMs: 0 })
  const ref = { kind: 'test', id: state }
  const at = ctx().clock.now()
  const id = await commit(ctx(), async (t, draw) => {
    await post(t, draw, { kind: 'refund', ref, legs: legsOf.settledRefused({ payer: wallet, amount }), at })
    return (await openRefund(t, draw, { wallet, ref, at }))?.id ?? ''
  })
  for (const event of ways[state]) await step(id, wallet, event)
  return { id, wallet }
}

/** Wallets whose payout failed: the next one is opened by who drives payouts, not by the step. */
const failed: Wallet[] = []

async function step(id: string, wallet: Wallet, event: PayoutEvent) {
  if (event === 'confirm') await ctx().chain.transfer({ id, to: wallet, amount })
  if (event === 'fail' || event === 'unblock') failed.push(wallet)
  return attempt(id, event)
}

async function placeOf(id: string, wallet: Wallet): Promise<Place | undefined> {
  const places: Record<Place, bigint> = {
    'set aside': await balanceOfAccount(market, account.payout(id)),
    'on the chain': await ctx().chain.balanceOf(wallet),
    owed: await balanceOfAccount(market, account.refund(wallet)),
    kept: await balanceOfAccount(market, account.blocked(wallet)),
  }
  const held = Object.entries(places).filter(([, held]) => held > 0n)
  expect(held.map(([, held]) => held)).toEqual([amount])
  return held[0]?.[0] as Place
}

test.each(allowed)('%s: %s makes it %s, the money %s', async (...row) => {
  const [from, event, to, money] = row
  const { id, wallet } = await payoutIn(from)
  const after = await step(id, wallet, event)
  expect([payoutState(after), await placeOf(id, wallet)]).toEqual([to, money])
  expect(after.open).toBe(money === 'set aside')
  expect(after.next_attempt_at !== null).toBe(money === 'set aside' || money === 'kept')
})

test.each(payoutMachine.states)('%s: whatever the table does not have is a 409, and no byte changes', async (from) => {
  const { id } = await payoutIn(from)
  const before = await dump(ctx().store)
  const mine = allowed.filter(([state]) => state === from).map(([, event]) => event)
  for (const event of events.filter((one) => !mine.includes(one))) {
    const error = await attempt(id, event).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(AppError)
    const { code, status, extra } = error as AppError
    expect([code, status, extra.from, [...(extra.allowed as string[])].sort()]).toEqual([
      'invalid_transition',
      409,
      from,
      [...mine].sort(),
    ])
  }
  expect((await dump(ctx().store)) === before).toBe(true)
})

test('the table holds these rows and no other', () => {
  const rows = payoutMachine.transitions.flatMap(({ from, event, to }) =>
    from.map((state) => [state, event, to].join()),
  )
  expect(rows.sort()).toEqual(allowed.map(([from, event, to]) => [from, event, to].join()).sort())
  expect(diagram(payoutMachine).split('\n')).toHaveLength(1 + allowed.length)
})

test('all that still waits reaches its wallet, and the books are whole', async () => {
  const at = ctx().clock.now()
  const ref = { kind: 'test', id: 'again' }
  for (const wallet of failed) await commit(ctx(), (t, draw) => openRefund(t, draw, { wallet, ref, at }))
  await runPayouts(ctx())
  await soundBooks(market)
})
