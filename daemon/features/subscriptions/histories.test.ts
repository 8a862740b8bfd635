import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { credit } from '../../../fixtures/kit/money.ts'
import type { Person } from '../../../fixtures/market/people.ts'
import { openPlans, type Plans } from '../../../fixtures/market/plans.ts'
import { formatAmount, usdc } from '../../../src/core/money.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts'
import { commit } from '../../store/draw.ts'
import { account } from '../ledger/legs.ts'
import { post } from '../ledger/post.ts'
import { isOver } from './machine.ts'
import { periodStart } from './periods.ts'
import { hasAccess, RENEWAL_GRACE_MS } from './plan-view.ts'
import type { SubscriptionRow } from './rows.ts'

// @slow random histories

/*
 * Random histories of one subscription: whatever subscriber, provider, operator and clock do, each period is paid for
 * once and in full, no time is paid for twice, and the books agree after every step.
 */

const RUNS = 150
const STEPS = 24
const PRICE = usdc(105_000n)
const PAUSE = '/dashboard/api/admin/platform/pause'
const UNPAUSE = '/dashboard/api/admin/platform/unpause'

let market: Plans
let service: string
let now: number
let extended = 0
beforeAll(async () => {
  market = await openPlans()
  now = market.ctx().clock.now()
  service = await market.list('human')
})
afterAll(() => market.close())

const asked = fc.constantFrom('pause', 'pause', 'resume', 'resume', 'resume', 'resume', 'cancel', 'end')
const isOn = fc.constantFrom(false, false, true)
const act = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('run' as const) }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('ask' as const), what: asked }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(MINUTE_MS, HOUR_MS, DAY_MS, DAY_MS, 3 * DAY_MS, 29 * DAY_MS, 100 * DAY_MS),
    }),
  },
  {
    weight: 16,
    arbitrary: fc.record({ do: fc.constant('meet' as const), ms: fc.constantFrom(-1, 0, 0, 0, 5 * MINUTE_MS) }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('fill' as const), periods: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('drain' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('drop' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('switch' as const), paused: isOn, cutover: isOn }),
  },
)
type Act = typeof act extends fc.Arbitrary<infer A> ? A : never

/** What it extends by is given back at the unpause: seen whatever histories are drawn. */
const ACROSS_A_PAUSE: Act[] = [
  { do: 'switch', paused: true, cutover: false },
  { do: 'wait', ms: 3 * DAY_MS },
  { do: 'switch', paused: false, cutover: false },
]

const isRun = (one: Act) => one.do === 'run' || one.do === 'meet'

type Scene = {
  readonly who: Person
  readonly plan: string
  readonly id: string
  readonly periods: { readonly start: number; end: number }[]
  /** Pauses of the platform; one that goes on has no end. */
  readonly pauses: { readonly from: number; to: number | undefined }[]
  /** What was put into the balance, less what was taken out of it. */
  filled: bigint
}

async function begin(): Promise<Scene> {
  // One that failed may have left it closed.
  await market.market.admin('POST', UNPAUSE)
  await market.switches({ checkout_v2: false })
  const [plan, who] = [await market.plan([service], { price: '0.10' }), await market.agent(formatAmount(PRICE))]
  const { id } = (await market.subscribe(plan, who)).body
  const { current_period_start: start, current_period_end: end } = await market.row(id)
  return { who, plan, id, periods: [{ start, end }], pauses: [], filled: PRICE }
}

async function perform(one: Act, scene: Scene): Promise<unknown> {
  const { who, id } = scene
  switch (one.do) {
    case 'run':
      return market.renew()
    case 'wait':
      return pass(one.ms)
    case 'meet': {
      const due = (await market.row(id)).next_event_at
      if (due !== null && due + one.ms > now) pass(due + one.ms - now)
      return market.renew()
    }
    case 'ask':
      return ask(scene, one.what)
    case 'fill':
      scene.filled += BigInt(one.periods) * PRICE
      for (let period = 0; period < one.periods; period += 1) await credit(market.market, who.id, formatAmount(PRICE))
      return
    case 'drain':
      return drain(scene)
    case 'drop':
      return market.provider.call('DELETE', `/v1/plans/${scene.plan}`)
    case 'switch':
      await setPaused(scene, one.paused)
      return market.switches({ checkout_v2: one.cutover })
  }
}

async function setPaused({ pauses }: Scene, isPaused: boolean): Promise<void> {
  const last = pauses.at(-1)
  const wasPaused = last !== undefined && last.to === undefined
  if (isPaused && !wasPaused) pauses.push({ from: now, to: undefined })
  if (!isPaused && wasPaused) last.to = now
  const answer = await market.market.admin('POST', isPaused ? PAUSE : UNPAUSE)
  expect(answer.status).toBe(200)
}

/** How long of a span the platform was open. */
function openMs({ pauses }: Scene, from: number, until: number): number {
  const closed = pauses.map(({ from: shut, to = now }) => Math.max(0, Math.min(to, until) - Math.max(shut, from)))
  return until - from - closed.reduce((sum, ms) => sum + ms, 0)
}

function pass(ms: number): void {
  now += ms
  market.at(now)
}

async function ask({ who, id }: Scene, what: string): Promise<void> {
  const [name, body] = what === 'end' ? ['cancel', { at_period_end: false }] : [what, {}]
  const answer = await who.call('POST', `/v1/subscriptions/${id}/${name}`, body)
  expect([200, 409, 410]).toContain(answer.status)
}

/** The subscriber spends all it has on something else. */
async function drain(scene: Scene): Promise<void> {
  const amount = await market.balance(scene.who)
  scene.filled -= amount
  const legs = [{ from: account.balance(scene.who.id), to: account.oper, amount: usdc(amount) }]
  const entry = { kind: 'adjustment', ref: { kind: 'participant', id: scene.who.id }, legs, at: now } as const
  await commit(market.ctx(), (t, draw) => post(t, draw, entry))
}

type Before = { readonly row: SubscriptionRow; readonly balance: bigint; readonly isResting: boolean }

async function before(scene: Scene): Promise<Before> {
  const { paused, checkoutV2 } = market.ctx().switches.now()
  return {
    row: await market.row(scene.id),
    balance: await market.balance(scene.who),
    isResting: paused || checkoutV2,
  }
}

async function expectSound(scene: Scene, one: Act, was: Before): Promise<void> {
  const row = await market.row(scene.id)
  const charges = await market.charges(scene.id)
  expect(charges.length).toBe(row.charges)
  if (row.charges > was.row.charges) expectFairCharge(scene, { one, was, row })
  else expectOpenTime(scene, row)
  expect(await market.balance(scene.who)).toBe(scene.filled - BigInt(row.charges) * PRICE)
  expect(row.live).toBe(!isOver(row.status))
  // One that sleeps has nothing more to wait for; until the run that sees it sleep, it has.
  const isAsleep = row.status === 'paused' && now >= row.current_period_end
  if (!isAsleep) expect(row.next_event !== null).toBe(row.live)
  if (row.live) expect(row.failures > 0).toBe(row.status === 'past_due')
  if (isRun(one) && !was.isResting) expect(row.next_event_at ?? now + 1).toBeGreaterThan(now)
  const isPaidFor = scene.periods.some(({ start, end }) => start <= now && now < end + RENEWAL_GRACE_MS)
  if (hasAccess(row, now)) expect([isPaidFor, row.status]).toEqual([true, expect.stringMatching(/active|paused/)])
  expect(await market.faults()).toEqual([])
}

/** What is paid for goes on for as long as it would without pauses: none of its open time is lost, and none is given. */
function expectOpenTime(scene: Scene, row: SubscriptionRow): void {
  const period = scene.periods.at(-1)
  if (period === undefined || market.ctx().switches.now().paused) return
  const { current_period_start: start, current_period_end: end } = row
  expect(start).toBe(period.start)
  if (end === period.end) return
  const [last, before] = [scene.pauses.at(-1), { ...scene, pauses: scene.pauses.slice(0, -1) }]
  if (last?.to === undefined) throw new Error('it was extended without a pause that ended')
  expect(end - period.end).toBe(last.to - Math.max(last.from, start))
  if (last.from < period.end) expect(openMs(scene, start, end)).toBe(openMs(before, start, period.end))
  extended += 1
  period.end = end
}

type Charged = { readonly one: Act; readonly was: Before; readonly row: SubscriptionRow }

/** Nobody is charged but by the cron, while nothing rests, for one whole period that was not paid for yet. */
function expectFairCharge(scene: Scene, { one, was, row }: Charged): void {
  const { status, cancel_at_period_end, current_period_end: paidUntil } = was.row
  expect([isRun(one), was.isResting, row.charges]).toEqual([true, false, was.row.charges + 1])
  expect([['active', 'past_due'].includes(status), cancel_at_period_end]).toEqual([true, false])
  expect(was.balance).toBeGreaterThanOrEqual(PRICE)
  const { current_period_start: start, current_period_end: end, anchor_at: anchor, period_number: number } = row
  expect([start, end]).toEqual([periodStart(anchor, 'monthly', number), periodStart(anchor, 'monthly', number + 1)])
  expect(start).toBeGreaterThanOrEqual(paidUntil)
  expect(start <= now && now < end).toBe(true)
  scene.periods.push({ start, end })
}

/** Without money and with nobody doing anything more, it ends by itself, or stays paused. */
async function letEnd(scene: Scene): Promise<void> {
  await setPaused(scene, false)
  await market.switches({ checkout_v2: false })
  await drain(scene)
  for (let day = 0; day < 6; day += 1) {
    await market.renew()
    const { next_event_at: at } = await market.row(scene.id)
    pass(Math.max((at ?? now) - now, DAY_MS))
  }
  expect((await market.row(scene.id)).status).toMatch(/expired|canceled|paused/)
  await market.provider.call('DELETE', `/v1/plans/${scene.plan}`)
}

test('each period is paid for once, whatever happens', async () => {
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 6, maxLength: STEPS, size: 'max' }), async (steps) => {
      const scene = await begin()
      for (const one of steps) {
        const was = await before(scene)
        await perform(one, scene)
        await expectSound(scene, one, was)
        seen.add(`${was.row.status} ${(await market.row(scene.id)).status}`)
      }
      await letEnd(scene)
    }),
    { numRuns: RUNS, examples: [[ACROSS_A_PAUSE]] },
  )
  const most = [
    'active active',
    'active paused',
    'paused active',
    'active past_due',
    'past_due active',
    'active canceled',
    'past_due expired',
  ]
  for (const way of most) expect(seen).toContain(way)
  expect(extended).toBeGreaterThan(0)
  expect(await market.faults()).toEqual([])
})
