import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSorted, type Sorted } from './sorted.ts'

type Entry = { readonly at: number; readonly id: number; readonly text: string }

const compare = (a: Entry, b: Entry): number => a.at - b.at || a.id - b.id
const AT_MAX = 40
const START = 1500
const RUNS = 40

type Step = { readonly do: 'insert' | 'remove' | 'replace'; readonly at: number; readonly id: number }

const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom('insert', 'insert', 'remove', 'remove', 'replace'),
  at: fc.integer({ min: 0, max: AT_MAX }),
  id: fc.integer({ min: 0, max: 60 }),
})

/** Enough entries for several blocks, so that steps split, empty and skip them. */
const start = Array.from({ length: START }, (_, i): Entry => ({ at: i % AT_MAX, id: 100 + i, text: 'start' }))

function apply(sorted: Sorted<Entry>, plain: Entry[], { do: what, at, id }: Step): void {
  const entry = { at, id, text: what }
  const found = plain.findIndex((e) => compare(e, entry) === 0)
  if (what === 'insert' && found === -1) {
    sorted.insert(entry)
    plain.push(entry)
  }
  if (what === 'remove') {
    expect(sorted.remove(entry)).toBe(found !== -1)
    if (found !== -1) plain.splice(found, 1)
  }
  if (what === 'replace' && found !== -1) {
    sorted.replace(entry)
    plain[found] = entry
  }
}

function agree(sorted: Sorted<Entry>, plain: readonly Entry[]): void {
  const all = plain.toSorted(compare)
  expect(sorted.size()).toBe(all.length)
  expect([...sorted.forward(() => 1)]).toEqual(all)
  expect([...sorted.backward(() => -1)]).toEqual(all.toReversed())
  for (const at of [-1, 0, 17, AT_MAX, AT_MAX + 1]) {
    const probe = (e: Entry): number => e.at - at
    expect([...sorted.forward(probe)]).toEqual(all.filter((e) => e.at >= at))
    expect([...sorted.backward(probe)]).toEqual(all.filter((e) => e.at <= at).toReversed())
    expect(sorted.countBetween(probe, probe)).toBe(all.filter((e) => e.at === at).length)
    expect(sorted.countBetween((e) => e.at - 3, probe)).toBe(all.filter((e) => e.at >= 3 && e.at <= at).length)
  }
}

test('a blocked list does what a plain sorted array does', () => {
  const steps = fc.array(step, { maxLength: 400 })
  const agrees = (list: readonly Step[], isPrefilled: boolean): void => {
    const plain = isPrefilled ? [...start] : []
    const sorted = createSorted(compare, [...plain])
    for (const one of list) apply(sorted, plain, one)
    agree(sorted, plain)
  }
  fc.assert(fc.property(steps, fc.boolean(), agrees), { numRuns: RUNS })
})

test.each(['ascending', 'descending', 'scattered', 'all in one place'])(
  'blocks hold under inserts that are %s',
  (how) => {
    const ids = Array.from({ length: 3000 }, (_, i) => i)
    const positions: Record<string, (i: number) => number> = {
      ascending: (i) => i,
      descending: (i) => -i,
      scattered: (i) => Math.imul(i, 2_654_435_761) >>> 8,
      'all in one place': () => 7,
    }
    const entries = ids.map((id): Entry => ({ at: positions[how]?.(id) ?? 0, id, text: how }))
    const sorted = createSorted(compare)
    for (const entry of entries) sorted.insert(entry)
    expect([...sorted.forward(() => 1)]).toEqual(entries.toSorted(compare))
    for (const entry of entries.filter(({ id }) => id % 3 !== 0)) sorted.remove(entry)
    expect([...sorted.backward(() => -1)]).toEqual(
      entries
        .filter(({ id }) => id % 3 === 0)
        .toSorted(compare)
        .toReversed(),
    )
    for (const entry of entries) sorted.remove(entry)
    expect(sorted.size()).toBe(0)
    expect([...sorted.forward(() => 1)]).toEqual([])
  },
)
