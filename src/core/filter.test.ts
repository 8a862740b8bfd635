import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Facts, inOrder, MAX_FILTER_CHARS, parseFilter, passesFilter, sortWords } from './filter.ts'
import { HOUR_MS } from './time.ts'

const fields = {
  id: { kind: 'text' },
  status: { kind: 'choice', choices: ['open', 'reopened', 'done'], words: { open: 'at work', done: 'paid' } },
  buyer: { kind: 'text' },
  amount: { kind: 'money' },
  age: { kind: 'age' },
  late: { kind: 'flag', word: 'overdue' },
} as const
const now = 1_000 * HOUR_MS
const row: Facts<typeof fields> = {
  id: 'job_1',
  status: 'open',
  buyer: ['Acme Corp', '0xAB'],
  amount: 2_500_000n,
  age: now - 2 * HOUR_MS,
  late: true,
}

function passes(text: string, facts: Facts = row): boolean {
  const parsed = parseFilter(text, fields)
  if (!parsed.ok) throw new Error(parsed.problem)
  return passesFilter(parsed.filter, facts, now)
}

test.each([
  ['', true],
  ['acme', true],
  ['ACME job_1', true],
  ['acme other', false],
  ['!acme', false],
  ['!other', true],
  ['"acme corp"', true],
  ['"acme  corp"', false],
  ['status:open', true],
  ['status:done,open', true],
  ['status:!open', false],
  ['!status:open', false],
  ['status:!done,reopened', true],
  ['buyer:acme', true],
  ['buyer:0xab', true],
  ['buyer:"acme corp",x', true],
  ['amount:2.50', true],
  ['amount:$2.5', true],
  ['amount:>2.5', false],
  ['amount:>=2.5', true],
  ['amount:<2.500001', true],
  ['age:>1h age:<3h', true],
  ['age:<90m', false],
  ['late:yes', true],
  ['late:no', false],
  ['status:"at work"', true],
  ['status:at-work', true],
  ['state:at_work', true],
  ['status:paid', false],
  ['status:Paid,At_Work', true],
  ['status:overdue', true],
  ['status:!overdue', false],
  ['state:overdue,paid', true],
  ['at work', true],
  ['overdue', true],
  ['!overdue', false],
  ['paid', false],
])('%j passes: %s', (text, isIn) => expect(passes(text)).toBe(isIn))

test('a word is looked for in words alone, and a choice is meant whole', () => {
  expect([passes('open'), passes('2.50'), passes('true')]).toEqual([true, false, false])
  expect(passes('status:open', { ...row, status: 'reopened' })).toBe(false)
})

test('what a row does not have passes nothing but the contrary', () => {
  const bare = { ...row, amount: null, buyer: null }
  expect([passes('amount:<9', bare), passes('buyer:acme', bare), passes('buyer:!acme', bare)]).toEqual([
    false,
    false,
    true,
  ])
})

test.each([
  ['buyr:acme', 'buyr'],
  ['status:opened', 'open, reopened, done'],
  ['amount:>much', 'amount:>1.50'],
  ['age:2h', 'age needs < or >'],
  ['age:>2', 'age:>2h'],
  ['late:maybe', 'yes or no'],
  ['status:>open', 'cannot compare status'],
  ['status:', 'no value for status'],
  ['buyer:"acme', 'unclosed'],
  ['!', 'without a term'],
  ['http://x', 'put text with a colon in quotes'],
  ['a '.repeat(30), 'at most 20 words'],
  [`status:${'open,'.repeat(25)}`, 'more than 20'],
  ['x'.repeat(MAX_FILTER_CHARS + 1), 'at most 200'],
])('%j is refused in words that say the way out', (text, words) => {
  const parsed = parseFilter(text, fields)
  expect(parsed.ok ? '' : parsed.problem).toContain(words)
})

describe('whatever is typed', () => {
  test('is a filter or a sentence, and never thrown', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 300, unit: 'grapheme' }),
        (text) => typeof parseFilter(text, fields).ok === 'boolean',
      ),
    )
  })

  test('as one quoted word, is found where it stands', () => {
    const word = fc.string({ minLength: 1, maxLength: 40 }).filter((text) => !text.includes('"') && text.trim() !== '')
    fc.assert(fc.property(word, (text) => passes(`"${text}"`, { ...row, buyer: `<${text}>` })))
  })
})

test('a sort puts rows in one order, the contrary turns it, and who has nothing is last both ways', () => {
  const amounts = fc.array(fc.option(fc.bigInt({ min: 0n, max: 9n })), { maxLength: 20 })
  fc.assert(
    fc.property(amounts, (list) => {
      const rows = list.map((amount) => ({ ...row, amount }))
      const up = rows.toSorted(inOrder(fields, 'amount')).map(({ amount }) => amount)
      const down = rows.toSorted(inOrder(fields, '-amount')).map(({ amount }) => amount)
      const known = list.filter((amount) => amount !== null).toSorted((a, b) => Number(a - b))
      const none = list.filter((amount) => amount === null)
      expect(up).toEqual([...known, ...none])
      expect(down).toEqual([...known.toReversed(), ...none])
    }),
  )
})

test('the youngest come first by age', () => {
  const [old, young] = [
    { ...row, age: 1 },
    { ...row, age: 2 },
  ]
  expect([old, young].toSorted(inOrder(fields, 'age'))).toEqual([young, old])
  expect(sortWords(fields)).toContain('-age')
})
