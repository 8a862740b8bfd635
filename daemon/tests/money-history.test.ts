import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runs } from '../../fixtures/kit/depth.ts'
import { balanceOfAccount, type Member, member, openPayments, soundBooks } from '../../fixtures/kit/money.ts'
import { type Answer, type Marketplace, openMarketplace, signPayment } from '../../fixtures/market/marketplace.ts'
import { AppError } from '../../src/core/error.ts'
import { formatAmount } from '../../src/core/money.ts'
import { jobs } from '../features/jobs/rows.ts'
import { account } from '../features/ledger/legs.ts'
import { background } from '../kernel/context.ts'
import type { Ports } from '../outside.ts'
import type { Store, Tx } from '../store/port.ts'

// @slow random histories

const RUNS = runs(100, 25)
const MAX_STEPS = 8
const PRICE = 10_000n
const NET = 9_500n
const OPENING = 60_000n
const ACTORS = 2

/** What an actor has: money on the chain, balance in the marketplace, purchases. */
type Purse = { wallet: bigint; balance: bigint; jobs: number }
type Method = 1 | 2 | 'balance'
type Paid = { path: string; body: object; headers: Record<string, string>; answer: Answer }

type Stage = {
  readonly actors: readonly Member[]
  /** The model. */
  readonly purses: readonly Purse[]
  /** The last request of each actor that was paid for. */
  readonly last: Map<number, Paid>
  readonly feesBefore: bigint
  sold: bigint
}

/** Effects are refused while it is on. */
type Switches = { refuses: boolean }

type Step =
  | { do: 'deposit'; who: number; by: Method; cents: bigint }
  | { do: 'buy' | 'failing' | 'refused' | 'expired' | 'replay' | 'elsewhere' | 'restart'; who: number; by: Method }

const step: fc.Arbitrary<Step> = fc
  .record({
    do: fc.constantFrom(
      'deposit',
      'deposit',
      'buy',
      'buy',
      'buy',
      'failing',
      'refused',
      'expired',
      'replay',
      'elsewhere',
      'restart',
    ),
    who: fc.nat({ max: ACTORS - 1 }),
    by: fc.constantFrom<Method>(1, 2, 'balance'),
    cents: fc.bigInt({ min: 1n, max: 5n }),
  })
  .map((made) => made as Step) // every record has what its step needs

function portsOf(switches: Switches): Ports {
  const run = async (input: { data?: unknown }) => {
    if (input.data === 'fail') throw new AppError('provider_failed', 'on demand')
    return 'done'
  }
  const strict = (t: Tx): Tx => ({
    table: (collection) => {
      const table = t.table(collection)
      if (!switches.refuses || collection.name !== jobs.name) return table
      return { ...table, insert: () => Promise.reject(new AppError('conflict', 'refused on demand')) }
    },
  })
  return {
    firstParty: (slug) => (slug === 'qr_code' ? { run } : undefined),
    store: (opened): Store => ({ ...opened, tx: (body) => opened.tx((t) => body(strict(t))) }),
  }
}

const switches: Switches = { refuses: false }
let market: Marketplace
let buyPath: string

beforeAll(async () => {
  market = await openMarketplace({}, portsOf(switches))
  buyPath = `/v1/services/${await market.serviceId('qr_code')}/purchase`
})
afterAll(() => market.close())

/** New actors in the one marketplace: its books grow from run to run. */
async function newStage(): Promise<Stage> {
  const actors: Member[] = []
  for (let at = 0; at < ACTORS; at += 1) {
    // A cent of it pays the registration.
    actors.push(await member(market, { wallet: formatAmount(OPENING + PRICE) }))
  }
  const purses = actors.map(() => ({ wallet: OPENING, balance: 0n, jobs: 0 }))
  return { actors, purses, last: new Map(), feesBefore: await balanceOfAccount(market, account.fees), sold: 0n }
}

type Sent = { path: string; body: object; by: Method; change?: { validBefore?: bigint } }

/** Pays as the actor and remembers the request where it was paid for. */
async function pay(stage: Stage, at: number, { path, body, by, change }: Sent): Promise<Answer> {
  const one = stage.actors[at] as Member
  const options = change ? { change } : {}
  const proof: Record<string, string> =
    by === 'balance'
      ? { 'X-BALANCE-AUTH': one.apiKey }
      : await signPayment(one.account, await market.call('POST', path, { body }), { version: by, ...options })
  const headers = { ...proof, 'Idempotency-Key': `k${Math.random()}` }
  const answer = await market.call('POST', path, { body, headers })
  if (answer.status === 200) stage.last.set(at, { path, body, headers, answer })
  return answer
}

type Act = (stage: Stage, step: Step, purse: Purse) => Promise<void>

/** Takes the price from the model's purse, or says that it is not there. */
function charged(purse: Purse, by: Method, amount: bigint): boolean {
  const pocket = by === 'balance' ? 'balance' : 'wallet'
  if (purse[pocket] < amount) return false
  purse[pocket] -= amount
  return true
}

const acts: Readonly<Record<Step['do'], Act>> = {
  async deposit(stage, { who, by, ...rest }, purse) {
    const amount = ('cents' in rest ? rest.cents : 1n) * PRICE
    const path = `/v1/balance/deposit?amount=${formatAmount(amount)}`
    const answer = await pay(stage, who, { path, body: {}, by: by === 'balance' ? 1 : by })
    const isPaid = charged(purse, 1, amount)
    expect(answer.status).toBe(isPaid ? 200 : 402)
    if (isPaid) purse.balance += amount
  },

  async buy(stage, { who, by }, purse) {
    const answer = await pay(stage, who, { path: buyPath, body: { data: 'x' }, by })
    const isPaid = charged(purse, by, PRICE)
    expect(answer.status).toBe(isPaid ? 200 : 402)
    if (!isPaid) return
    purse.jobs += 1
    stage.sold += 1n
  },

  async failing(stage, { who, by }, purse) {
    const answer = await pay(stage, who, { path: buyPath, body: { data: 'fail' }, by })
    expect(answer.status).toBe(charged({ ...purse }, by, PRICE) ? 502 : 402)
  },

  async refused(stage, { who, by }, purse) {
    switches.refuses = true
    const answer = await pay(stage, who, { path: buyPath, body: { data: 'x' }, by })
    switches.refuses = false
    await Promise.all(background.of(market.daemon.ctx))
    const isPaid = charged({ ...purse }, by, PRICE)
    // Where the money lies in the store, what is refused was never taken.
    expect([answer.status, answer.body.refunded]).toEqual([isPaid ? 409 : 402, undefined])
  },

  async expired(stage, { who, by }) {
    const change = { validBefore: 1_000n }
    const answer = await pay(stage, who, {
      path: buyPath,
      body: { data: 'x' },
      by: by === 'balance' ? 2 : by,
      change,
    })
    expect(answer.status).toBe(402)
  },

  async replay(stage, { who }) {
    const paid = stage.last.get(who)
    if (!paid) return
    const again = await market.call('POST', paid.path, paid)
    expect([again.status, again.text]).toEqual([200, paid.answer.text])
  },

  async elsewhere(stage, { who }) {
    const paid = stage.last.get(who)
    if (!paid) return
    const again = await market.call('POST', paid.path, { ...paid, body: { data: 'another' } })
    expect([again.status, again.body.code]).toEqual([409, 'idempotency_mismatch'])
  },

  async restart() {
    await market.restart()
  },
}

async function expectModel({ actors, purses, feesBefore, sold }: Stage): Promise<void> {
  await soundBooks(market)
  expect(await openPayments(market)).toEqual([])
  const { chain, store } = market.daemon.ctx
  for (const [at, one] of actors.entries()) {
    expect({
      wallet: await chain.balanceOf(one.wallet),
      balance: await balanceOfAccount(market, account.balance(one.id)),
      jobs: await store.table(jobs).count('buyer', [one.wallet]),
    }).toEqual(purses[at])
  }
  expect(await balanceOfAccount(market, account.fees)).toBe(feesBefore + sold * (PRICE - NET))
}

test('random histories of money end as a simple model says, with sound books after every step', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: MAX_STEPS }), async (steps) => {
      const stage = await newStage()
      for (const one of steps) {
        await acts[one.do](stage, one, stage.purses[one.who] as Purse)
        await expectModel(stage)
      }
    }),
    { numRuns: RUNS },
  )
})
