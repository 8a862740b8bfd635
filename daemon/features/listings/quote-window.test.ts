import fc from 'fast-check'
import { expect, test } from 'vitest'
import { usdc } from '../../../src/core/money.ts'
import { chosenOffer, type Previous, QUOTE_WINDOW_MS, stillGood, type Tender, windowAfter } from './quote-window.ts'

/* Random edits, payments and times against what buyers were told: a log of every price that was ever shown, and when. */

type Version = { readonly price: bigint; readonly words: number }

const version = fc.record({ price: fc.bigInt(1n, 4n), words: fc.nat(2) })
const act = fc.oneof(
  fc.record({ do: fc.constant('edit' as const), to: version }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: QUOTE_WINDOW_MS + 1_000 }) }),
  fc.record({ do: fc.constant('sign' as const), value: fc.bigInt(1n, 4n) }),
  fc.record({ do: fc.constant('spend' as const) }),
)
type Act = typeof act extends fc.Arbitrary<infer A> ? A : never

type Shown = { readonly version: Version; readonly from: number; to: number }
type Row = { today: Version; previous: Previous<Version> | undefined }

const offer = (of: Version) => ({ price: usdc(of.price), settle: 'first', of }) as const

function bought({ today, previous }: Row, tender: Tender, wall: number): Version {
  const before = stillGood(previous, wall)
  return (chosenOffer({ before: before && offer(before), today: offer(today) }, tender) ?? offer(today)).of
}

function check(acts: readonly Act[], first: Version): void {
  const row: Row = { today: first, previous: undefined }
  const shown: Shown[] = [{ version: first, from: 0, to: Number.POSITIVE_INFINITY }]
  let wall = 0
  const recent = () =>
    shown.filter(({ from, to }) => from <= wall && to > wall - QUOTE_WINDOW_MS).map((one) => one.version)
  for (const one of acts) {
    if (one.do === 'wait') wall += one.ms
    else if (one.do === 'edit') edit(one.to)
    else if (one.do === 'sign') sign(one.value)
    else spend()
  }

  function edit(after: Version): void {
    try {
      row.previous = windowAfter({ before: row.today, after, previous: row.previous, wall })
    } catch {
      // Refused for as long as the version before is promised to somebody: never at another time.
      expect(stillGood(row.previous, wall)).toBeDefined()
      return
    }
    if (after.price === row.today.price && after.words === row.today.words) return
    const last = shown.at(-1)
    if (last) last.to = wall
    shown.push({ version: after, from: wall, to: Number.POSITIVE_INFINITY })
    row.today = after
  }

  /** Whoever signed a price that was shown within the window gets a version of that very price. */
  function sign(value: bigint): void {
    const got = bought(row, { kind: 'signed', value }, wall)
    const quoted = recent().filter(({ price }) => price === value)
    if (quoted.length > 0) expect(quoted).toContainEqual(got)
    else expect(got).toEqual(row.today)
  }

  /** A balance pays no more than any price that its holder may have seen within the window. */
  function spend(): void {
    const got = bought(row, { kind: 'balance' }, wall)
    const seen = recent()
    expect(seen).toContainEqual(got)
    expect(seen.every(({ price }) => got.price <= price)).toBe(true)
  }
}

test('nobody pays more than was quoted within the window, and gets the terms of the price that is paid', () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 40 }), version, (acts, first) => check(acts, first)),
    { numRuns: 2_000 },
  )
})

test('a clock that is set back does not hold a window open, nor edits off', () => {
  const previous = { version: 1, until: 10 * QUOTE_WINDOW_MS }
  expect(stillGood(previous, QUOTE_WINDOW_MS)).toBeUndefined()
  expect(windowAfter({ before: 2, after: 3, previous, wall: QUOTE_WINDOW_MS })).toEqual({
    version: 2,
    until: 2 * QUOTE_WINDOW_MS,
  })
})
