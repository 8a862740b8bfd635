import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runs } from '../../../fixtures/kit/depth.ts'
import { credit } from '../../../fixtures/kit/money.ts'
import { type Escrow, openEscrow } from '../../../fixtures/market/escrow.ts'
import type { Answer } from '../../../fixtures/market/marketplace.ts'
import { closeWindow, openTalk, type Talk } from '../../../fixtures/market/negotiation.ts'
import type { Person } from '../../../fixtures/market/people.ts'
import { DAY_MS, HOUR_MS } from '../../../src/core/time.ts'
import { writePlatform } from '../../kernel/switches.ts'
import { commit } from '../../store/draw.ts'
import { account } from '../ledger/legs.ts'

// @slow random histories

/* Random conversations over HTTP against a model of them, written out here; the whole audit runs after each step. */

const RUNS = runs(80, 20)
const STEPS = 12
const CALL = 1_000n

let market: Escrow
let service: string
let agent: Person
beforeAll(async () => {
  market = await openEscrow()
  await commit(market.ctx(), (t) => writePlatform(t, { disputes_default: { outcome: 'refund', days: 14 } }))
  service = await market.list('human', { pricing_model: 'quote_required', price: null })
  agent = await market.agent()
  await credit(market.market, agent.id, '800.00')
})
afterAll(() => market.close())

const side = fc.constantFrom('agent' as const, 'provider' as const)
const act = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('propose' as const), mills: fc.bigInt(1n, 2_000n) }) },
  {
    weight: 7,
    arbitrary: fc.record({
      do: fc.constant('accept' as const),
      by: fc.constantFrom(1 as const, 2 as const, 'balance' as const),
      isStale: fc.constantFrom(false, false, true),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('lapse' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('decline' as const), who: side }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('say' as const), who: side }) },
  {
    weight: 7,
    arbitrary: fc.record({
      do: fc.constant('update' as const),
      status: fc.constantFrom('in_progress' as const, 'completed' as const, 'failed' as const),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('verify' as const, 'dispute' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(HOUR_MS, 3 * DAY_MS, 8 * DAY_MS) }),
  },
)
type Act = typeof act extends fc.Arbitrary<infer A> ? A : never

/** Many begin well, so that what comes after an agreement is seen as often as what comes before. */
const agreement: readonly Act[] = [
  { do: 'propose', mills: 500n },
  { do: 'accept', by: 'balance', isStale: false },
  { do: 'update', status: 'completed' },
]
const history = fc
  .tuple(fc.integer({ min: 0, max: agreement.length }), fc.array(act, { minLength: 4, maxLength: STEPS }))
  .map(([begun, rest]) => [...agreement.slice(0, begun), ...rest])

type Offer = { readonly agent: bigint; readonly net: bigint; readonly expiresAt: number }

/** What a conversation must be by what was done in it. */
type Model = {
  status: 'inquiry' | 'negotiating' | 'dispatched' | 'in_progress' | 'completed' | 'disputed' | 'released' | 'cancelled'
  /** The price that can be accepted, and the one whose place it has just taken, which still can be. */
  offer: Offer | undefined
  before: Offer | undefined
  /** What the buyer gave, wherever from, less what it has back; what the provider got; what is held. */
  spent: bigint
  earned: bigint
  held: bigint
  paid: { agent: bigint; net: bigint } | undefined
  verifiedAt: number | undefined
  isDisputed: boolean
  isDelivered: boolean
  /** When it came into its state, and when a job that is not done ends. */
  since: number
  deadline: number
}

/** What happens to a job by itself: a deadline of a day, review for 48 h, as set, a ruling after 14 d for the buyer. */
const due = { deadline: DAY_MS, review: 2 * DAY_MS, ruling: 14 * DAY_MS }

const givenBack = (model: Model) => {
  model.spent -= model.held
  model.held = 0n
  model.status = 'cancelled'
}
const paidOut = (model: Model) => {
  model.earned += model.paid?.net ?? 0n
  model.held = 0n
  model.status = 'released'
}

const isTalk = ({ status }: Model) => status === 'inquiry' || status === 'negotiating'
const isUndone = ({ status }: Model) => status === 'dispatched' || status === 'in_progress'

const isGood = (offer: Offer | undefined, now: number) => offer !== undefined && now < offer.expiresAt

/** A signature is for the price that was asked; a balance never pays more than either. The one before where both would do. */
function boughtBy(by: 1 | 2 | 'balance', { offer, before }: Model, now: number): Offer | undefined {
  if (!offer || !before || !isGood(before, now)) return offer
  if (by === 'balance') return before.agent <= offer.agent ? before : offer
  return before.agent === offer.agent ? before : offer
}

type Kind = Act['do']
type Of<K extends Kind> = Extract<Act, { do: K }>
type Rule<K extends Kind> = {
  readonly allows: (model: Model, one: Of<K>, now: number) => boolean
  readonly does: (model: Model, one: Of<K>, now: number) => void
}

const rules: { readonly [K in Kind]: Rule<K> } = {
  propose: {
    allows: (model, _, now) => isTalk(model) && !(model.before && isGood(model.offer, now)),
    does(model, { mills }, now) {
      const agent = ((mills * 105n + 50n) / 100n) * 1_000n
      Object.assign(model, {
        before: isGood(model.offer, now) ? model.offer : undefined,
        offer: { agent, net: mills * 1_000n, expiresAt: now + 7 * DAY_MS },
        status: 'negotiating',
      })
    },
  },
  accept: {
    allows: ({ status, offer }, { isStale }, now) => status === 'negotiating' && isGood(offer, now) && !isStale,
    does(model, { by }, now) {
      const paid = boughtBy(by, model, now)
      const agent = paid?.agent ?? 0n
      Object.assign(model, { status: 'dispatched', paid, held: agent, deadline: now + due.deadline })
      model.spent += agent
    },
  },
  decline: {
    allows: (model, { who }) =>
      isTalk(model) || model.status === 'dispatched' || (model.status === 'in_progress' && who === 'provider'),
    does: givenBack,
  },
  lapse: {
    allows: () => true,
    does(model) {
      model.before = undefined
    },
  },
  say: { allows: ({ status }) => status !== 'cancelled', does: () => undefined },
  update: {
    // Who delivers the same again is answered as before.
    allows: (model, { status }) => isUndone(model) || (status === 'completed' && model.isDelivered),
    does(model, { status }) {
      if (!isUndone(model)) return
      model.isDelivered = status === 'completed'
      if (status === 'failed') givenBack(model)
      else model.status = status
    },
  },
  verify: {
    allows: ({ status, verifiedAt }, _, now) =>
      status === 'completed' || (verifiedAt !== undefined && now <= verifiedAt + 7 * DAY_MS),
    does(model) {
      model.spent += CALL
      model.verifiedAt = undefined
      if (model.status === 'completed') paidOut(model)
    },
  },
  dispute: {
    allows: ({ status, verifiedAt, isDisputed }, _, now) =>
      status === 'completed' || (verifiedAt !== undefined && !isDisputed && now <= verifiedAt + 7 * DAY_MS),
    does(model) {
      model.isDisputed = true
      if (model.status === 'completed') model.status = 'disputed'
    },
  },
  wait: { allows: () => true, does: () => undefined },
}

/** @returns whether the act is allowed, with the model as it is then. */
function predict(model: Model, one: Act, now: number): boolean {
  const rule = rules[one.do] as Rule<Kind> // the rule of the act's own kind
  if (!rule.allows(model, one, now)) return false
  const { status } = model
  rule.does(model, one, now)
  if (model.status !== status) model.since = now
  return true
}

async function perform(talk: Talk, one: Act): Promise<Answer | undefined> {
  switch (one.do) {
    case 'propose':
      return talk.propose(Number(one.mills) / 1_000, { estimated_delivery: '1 hour' })
    case 'accept':
      return talk.accept({ by: one.by, body: one.isStale ? { proposed_at: '2020-01-01T00:00:00.000Z' } : {} })
    case 'decline':
      return talk[one.who].call('POST', talk.at('decline'), {})
    case 'say':
      return talk[one.who].call('POST', talk.at('messages'), { message: 'hm' })
    case 'update':
      return talk.provider.call('POST', talk.at('update'), { status: one.status, deliverables: { words: 1 } })
    case 'verify':
      return talk.agent.pay(talk.at('verify'), { body: {} })
    case 'dispute':
      return talk.agent.call('POST', talk.at('dispute'), { reason: 'bad', category: 'quality' })
    case 'lapse':
      await closeWindow(market, talk.thread)
      return undefined
    case 'wait':
      market.pass(one.ms)
      return undefined
  }
}

/** What the escrow monitor makes of it, run once after each step: a delivery that is verified then is paid in the same run. */
function letTimePass(model: Model, now: number): void {
  const waited = now - model.since
  if (isUndone(model) && now >= model.deadline) givenBack(model)
  else if (model.status === 'disputed' && waited >= due.ruling) givenBack(model)
  else if (model.status === 'completed' && waited >= due.review) {
    model.verifiedAt = now
    paidOut(model)
  }
}

const shownAs: Record<Model['status'], string> = {
  inquiry: 'inquiry',
  negotiating: 'negotiating',
  dispatched: 'accepted',
  in_progress: 'in_progress',
  completed: 'completed',
  disputed: 'disputed',
  released: 'verified',
  cancelled: 'cancelled',
}

async function money() {
  expect(await market.faults()).toEqual([])
  return {
    buyer: (await market.onChain(agent)) + (await market.booked(account.balance(agent.id))),
    provider: await market.booked(account.provider(market.provider.id)),
  }
}

const newModel = (now: number): Model => ({
  status: 'inquiry',
  offer: undefined,
  before: undefined,
  spent: 0n,
  earned: 0n,
  held: 0n,
  paid: undefined,
  verifiedAt: undefined,
  isDisputed: false,
  isDelivered: false,
  since: now,
  deadline: now,
})

const clock = () => market.ctx().clock.now()

async function live(steps: readonly Act[]): Promise<void> {
  const talk = await openTalk(market, { service, agent })
  const model = newModel(clock())
  const before = await money()
  for (const one of steps) {
    const isAllowed = predict(model, one, clock())
    const answer = await perform(talk, one)
    if (answer) expect([one, answer.status]).toEqual([one, isAllowed ? 200 : 409])
    await market.monitor()
    letTimePass(model, clock())
    const shown = (await agent.call('GET', talk.at())).body
    expect([one, shown.status, shown.job_id === null]).toEqual([one, shownAs[model.status], model.paid === undefined])
    expect(await market.escrowed(shown.job_id)).toBe(model.held)
    const { buyer, provider } = await money()
    expect([one, before.buyer - buyer, provider - before.provider]).toEqual([one, model.spent, model.earned])
  }
}

/** What is left of a history must not move the money of the next. */
async function letEnd(): Promise<void> {
  for (let rest = 0; rest < 2; rest += 1) {
    market.pass(15 * DAY_MS)
    await market.monitor()
  }
}

test('in every history each act is answered as the states say, and every cent is where they put it', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (steps) => {
      await market.market.admin('POST', '/dashboard/api/admin/faucet', {
        body: { wallet: agent.account.address, amount: '30.00' },
      })
      await live(steps)
      await letEnd()
    }),
    { numRuns: RUNS },
  )
})
