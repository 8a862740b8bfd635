import fc from 'fast-check'
import { expect } from 'vitest'
import examples from '../api/answer-examples.json' with { type: 'json' }
import { endpoints } from '../client/endpoints.ts'
import { formatAmount } from '../core/money.ts'
import { take, widthOf } from '../text/text.ts'
import { fakeLink, type LinkCall, type Opened } from './cockpit.testkit.tsx'

/* What strangers call themselves, and what must hold of a frame whatever it is. */

// Money and ids are recognized by their signs: texts without them.
const grapheme = fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => text.replace(/[$_…]/gu, ''))
const part = fc.oneof(
  grapheme,
  fc.constantFrom(
    '日本語',
    '\u{1F469}\u200D\u{1F469}\u200D\u{1F467}',
    'e\u0301\u0301',
    '\u001B[2J',
    '\u202E',
    '\r\n',
    '\u0007',
    '\t',
    '🇩🇪',
    '─│▌',
    'a name that is longer than any row of any window has room for ',
  ),
)
const name = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => `n${parts.join('')}`)
const amount = fc.bigInt({ min: 0n, max: 10n ** 15n }).map(formatAmount)
export const shown = fc.record({
  who: name,
  what: name,
  money: amount,
  columns: fc.integer({ min: 40, max: 220 }),
  rows: fc.integer({ min: 8, max: 60 }),
})
export type Shown = typeof shown extends fc.Arbitrary<infer T> ? T : never
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
const CONTROL = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/
const CUT_MONEY = /\$[\d,]*\.?\d*…/
const ID = /\b(?:job|thr|plan|sub|prod|svc|out|post|evt|req|vat|bid|rcp|txn)_([0-9a-f]+)(?![0-9a-z_])/g
const ID_DIGITS = 16

/** What floats has both of its sides in every row: the painter cuts what runs over them, and so over the terminal. */
function expectBox(rows: readonly string[]): void {
  const top = rows.findIndex((row) => row.includes('╭─ '))
  if (top === -1) return
  const [left, right] = ['╭', '╮'].map((corner) => widthOf(rows[top]?.split(corner)[0] ?? '')) as [number, number]
  const sideAt = (row: string, column: number) => row.slice(take(row, column).length)[0]
  const bottom = rows.findIndex((row, i) => i > top && sideAt(row, left) === '╰')
  expect(bottom).toBeGreaterThan(top)
  for (const row of rows.slice(top + 1, bottom)) expect([sideAt(row, left), sideAt(row, right)]).toEqual(['│', '│'])
}

export function expectWhole(one: Opened, { columns, rows }: Pick<Shown, 'columns' | 'rows'>): void {
  const lines = one.rows()
  expect(lines).toHaveLength(rows)
  for (const row of lines) expect(widthOf(row)).toBeLessThanOrEqual(columns)
  expectBox(lines)
  const text = one.text()
  expect(text).not.toMatch(CONTROL)
  expect(text).not.toMatch(CUT_MONEY)
  const cut = [...text.matchAll(ID)].filter(([, digits = '']) => digits.length !== ID_DIGITS)
  expect(cut.map(({ index }) => text.slice(index - 40, index + 40))).toEqual([])
}

/** Members of answers that somebody else wrote, by name. */
const WRITTEN =
  /^(?:name|title|message|description|service_name|reason|body|pitch|operator_name|sentence|who|detail|msg|source|notes|last_error|service|buyer|provider|buyer_name|provider_name|path|category)$/
const MONEY = /^(?:amount|price|available|held|paid_in|fee|provider_amount|agent_price)$/
const AMOUNT = /^-?\d+\.\d+$/

/** An answer whose texts and amounts are somebody's who means no good. */
function spoiled(value: unknown, { who, money }: Pick<Shown, 'who' | 'money'>, key = ''): unknown {
  if (typeof value === 'string') {
    if (MONEY.test(key) && AMOUNT.test(value)) return money
    return WRITTEN.test(key) ? who : value
  }
  if (Array.isArray(value)) return value.map((one) => spoiled(one, { who, money }, key))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, spoiled(one, { who, money }, name)]))
}

const patterns = Object.entries(endpoints).map(([row, [method, path]]) => ({
  row,
  method,
  path: new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+')}$`),
}))

/** Answers every endpoint by its example, spoiled. */
export function hostileMarket(by: Pick<Shown, 'who' | 'money'>) {
  const known: Readonly<Record<string, { readonly answer?: unknown }>> = examples
  const answerOf = (call: LinkCall) => {
    const found = patterns.find(({ method, path }) => method === call.method && path.test(call.path))
    return { ok: true, value: spoiled(known[found?.row ?? '']?.answer, by) } as const
  }
  return fakeLink(new Proxy({}, { get: () => answerOf }))
}
