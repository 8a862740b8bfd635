import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Usdc, usdc, ZERO } from '../../core/money.ts'
import { type Budget, createBudget } from './budget.ts'
import { SpendRefused } from './refused.ts'

const RUNS = 2_000
const MAX_STEPS = 30
const MAX_LIMIT = 2_000_000n
const MAX_PRICE = 1_000_000n

/** What an instance does with a signature: takes it and says so, refuses it with another 402, or never answers. */
type Outcome = 'as agreed' | 'less' | 'more' | 'another 402' | 'lost'
/** A payment that is wanted; a repeat signs anew for the price of the payment before it. */
type Wanted = { readonly price: bigint; readonly isRepeat: boolean; readonly outcome: Outcome; readonly off: bigint }

const amount = (max: bigint) => fc.bigInt({ min: 0n, max })
const wanted: fc.Arbitrary<Wanted> = fc.record({
  price: amount(MAX_PRICE),
  isRepeat: fc.boolean(),
  outcome: fc.constantFrom<Outcome>('as agreed', 'less', 'more', 'another 402', 'lost'),
  off: amount(MAX_PRICE),
})
/** @returns what the answer states that it took; undefined where there is none */
function statedBy({ outcome, off }: Wanted, agreed: bigint): Usdc | undefined {
  if (outcome === 'another 402' || outcome === 'lost') return undefined
  if (outcome === 'as agreed') return usdc(agreed)
  return usdc(outcome === 'less' ? agreed - (off > agreed ? agreed : off) : agreed + off)
}

/** Whether it is refused, and then as a matter of payment. */
function isRefused(act: () => void): boolean {
  try {
    act()
    return false
  } catch (error) {
    expect(error).toMatchObject({ rule: 'max_price' })
    expect(error).toBeInstanceOf(SpendRefused)
    return true
  }
}

/** What a budget must be, in plain numbers. */
type Model = { signed: bigint; beyond: bigint; spent: bigint; before: bigint }

/** One payment, tried on both. */
function step(budget: Budget, model: Model, { one, limit }: { one: Wanted; limit: Usdc }): void {
  const price = usdc(one.isRepeat ? model.before : one.price)
  const taken = model.signed + model.beyond
  const room = limit > taken ? limit - taken : ZERO
  expect(budget.left(limit)).toBe(room)
  expect(isRefused(() => budget.check(price, limit))).toBe(price > room)
  expect(isRefused(() => budget.take(price, limit))).toBe(price > room)
  if (price > room) return
  model.signed += price
  model.before = price
  const stated = statedBy(one, price)
  if (stated === undefined) return
  budget.spend(stated, price)
  model.spent += stated
  if (stated > price) model.beyond += stated - price
}

test('whatever is wanted, refused, repeated or lost, a command never signs for more than its limit', () => {
  const history = fc.array(fc.tuple(wanted, fc.option(amount(MAX_LIMIT))), { maxLength: MAX_STEPS })
  fc.assert(
    fc.property(amount(MAX_LIMIT), history, (most, steps) => {
      const budget = createBudget()
      const model: Model = { signed: 0n, beyond: 0n, spent: 0n, before: 0n }
      for (const [one, shown] of steps) {
        step(budget, model, { one, limit: usdc(shown !== null && shown < most ? shown : most) })
        // Nothing comes back: not by a refusal, not from an answer that took less, not from one that never came.
        expect([budget.taken(), budget.spent()]).toEqual([model.signed + model.beyond, model.spent])
        expect(model.signed <= most && model.spent <= budget.taken()).toBe(true)
      }
    }),
    { numRuns: RUNS },
  )
})

test('payments that were sent are remembered, the newest, until they are refused', () => {
  const budget = createBudget()
  const job = 'job_0123456789abcdef'
  budget.send('refused').refused()
  for (const key of ['a', 'b', 'c', 'd']) budget.send(key)
  budget.send('d').answered({ job_id: job, product_id: '../../precious' })
  expect(budget.sent()).toEqual([
    { idempotencyKey: 'b' },
    { idempotencyKey: 'c' },
    { idempotencyKey: 'd', bought: { job } },
  ])
})
