import fc from 'fast-check'
import { afterEach, expect, it } from 'vitest'
import { formatAmount } from '../core/money.ts'
import { widthOf } from '../text/text.ts'
import { type Opened, openOn, sse } from './cockpit.testkit.tsx'
import { attention, market, river } from './fixtures.testkit.ts'

/* Whatever strangers call themselves, in a window of any size: nothing runs over, and nothing reaches the terminal. */

let open: Opened | undefined

afterEach(() => {
  open?.close()
  open = undefined
})

const part = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
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
  ),
)
const name = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''))
const amount = fc.bigInt({ min: 0n, max: 10n ** 15n }).map(formatAmount)
const shown = fc.record({
  who: name,
  what: name,
  money: amount,
  columns: fc.integer({ min: 40, max: 220 }),
  rows: fc.integer({ min: 8, max: 60 }),
})
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
const CONTROL = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/

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
      await open.tell(sse(1, 'job.disputed', { about }))
      const lines = open.rows()
      expect(lines).toHaveLength(rows)
      for (const row of lines) expect(widthOf(row)).toBeLessThanOrEqual(columns)
      expect(open.text()).not.toMatch(CONTROL)
      if (columns >= 60 && rows >= 18) expect(lines.filter((row) => row.startsWith('▌'))).toHaveLength(1)
      open.close()
    }),
    { numRuns: 40 },
  )
})
