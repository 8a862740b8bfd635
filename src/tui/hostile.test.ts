import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import examples from '../api/answer-examples.json' with { type: 'json' }
import { endpoints } from '../client/endpoints.ts'
import { formatAmount } from '../core/money.ts'
import type { ScreenId } from '../model/screen.ts'
import { widthOf } from '../text/text.ts'
import { fakeLink, type LinkCall, type Opened, openOn, sse } from './cockpit.testkit.tsx'
import { attention, market, river } from './fixtures.testkit.ts'
import { screens } from './screens.ts'

/* Whatever strangers call themselves, in a window of any size: nothing runs over, and nothing reaches the terminal. */

let open: Opened | undefined

afterEach(() => {
  open?.close()
  open = undefined
})

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
const shown = fc.record({
  who: name,
  what: name,
  money: amount,
  columns: fc.integer({ min: 40, max: 220 }),
  rows: fc.integer({ min: 8, max: 60 }),
})
type Shown = typeof shown extends fc.Arbitrary<infer T> ? T : never
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
const CONTROL = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/
const CUT_MONEY = /\$[\d,]*\.?\d*…/
const ID = /\b(?:job|thr|plan|sub|prod|svc|out|post|evt|req|vat|bid|rcp|txn)_([0-9a-f]+)/g
const ID_DIGITS = 16

function expectWhole(one: Opened, { columns, rows }: Pick<Shown, 'columns' | 'rows'>): void {
  const lines = one.rows()
  expect(lines).toHaveLength(rows)
  for (const row of lines) expect(widthOf(row)).toBeLessThanOrEqual(columns)
  const text = one.text()
  expect(text).not.toMatch(CONTROL)
  expect(text).not.toMatch(CUT_MONEY)
  for (const [, digits] of text.matchAll(ID)) expect(digits).toHaveLength(ID_DIGITS)
}

it('the overview keeps its width and its money, and lets no control character through', async () => {
  await fc.assert(
    fc.asyncProperty(shown, async ({ who, what, money, columns, rows }) => {
      const items = attention.items.map((item) => ({ ...item, who, sentence: what, amount: money }))
      const link = market({
        'GET /dashboard/api/admin/attention': { ...attention, items },
        'GET /dashboard/api/admin/river': { ...river, paid_in: money, held: money },
      })
      open = await openOn({ link, columns, rows })
      const about = { service: what, buyer: who, provider: who, amount: money, method: 'x402' }
      await open.tell(sse(1, 'job.disputed', { about, subject: 'job_0000000000000001' }))
      expectWhole(open, { columns, rows })
      if (columns >= 60 && rows >= 18) expect(open.rows().filter((row) => row.startsWith('▌'))).toHaveLength(1)
      open.close()
    }),
    { numRuns: 30, endOnFailure: true },
  )
})

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
function hostileMarket(by: Pick<Shown, 'who' | 'money'>) {
  const known: Readonly<Record<string, { readonly answer?: unknown }>> = examples
  const answerOf = (call: LinkCall) => {
    const found = patterns.find(({ method, path }) => method === call.method && path.test(call.path))
    return { ok: true, value: spoiled(known[found?.row ?? '']?.answer, by) } as const
  }
  return fakeLink(new Proxy({}, { get: () => answerOf }))
}

const keysOn: Readonly<Partial<Record<ScreenId, string>>> = { logs: 'vj', jobs: 'v', money: 'v', requests: 'j' }

/** Screens, and those of their views that are drawn by hooks of their own. */
const drawn: readonly (readonly [screen: ScreenId, keys: string])[] = [
  ...screens.map(({ id }) => [id, ''] as const),
  ['services', 'v'],
  ['services', 'vv'],
  ['services', 'vvv'],
  ['services', 'vvvv'],
]

describe('each screen keeps its width, its money and its ids', () => {
  it.each(drawn)('%s %s', async (screen, view) => {
    await fc.assert(
      fc.asyncProperty(shown, async (by) => {
        const { columns, rows } = by
        open = await openOn({ link: hostileMarket(by), screen, columns, rows })
        await open.type(view)
        await open.advance(1_000)
        expectWhole(open, by)
        await open.type(keysOn[screen] ?? 'j')
        await open.advance(1_000)
        expectWhole(open, by)
        await open.type('e')
        expect(open.rows().every((row) => widthOf(row) <= columns)).toBe(true)
        await open.type('?')
        expectWhole(open, { columns, rows })
        open.close()
      }),
      { numRuns: 15, endOnFailure: true },
    )
  })
})
