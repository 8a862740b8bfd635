import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import type { ScreenId } from '../nouns/screens.ts'
import { widthOf } from '../text/text.ts'
import { type Opened, openOn, sse } from './cockpit.testkit.tsx'
import { attention, market, river } from './fixtures.testkit.ts'
import { expectWhole, hostileMarket, shown } from './hostile.testkit.ts'
import { screens } from './screens.ts'

// @slow every screen with what an interface could send

/* Whatever strangers call themselves, in a window of any size: nothing runs over, and nothing reaches the terminal. */

let open: Opened | undefined

afterEach(() => {
  open?.close()
  open = undefined
})

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

const keysOn: Readonly<Partial<Record<ScreenId, string>>> = { jobs: 'v', money: 'v', requests: 'j' }

/** Screens, and those of their views that are drawn by hooks of their own. */
const drawn: readonly (readonly [screen: ScreenId, keys: string])[] = [
  ...screens.map(({ id }) => [id, ''] as const),
  ['services', 'v'],
  ['services', 'vv'],
  ['services', 'vvv'],
  ['services', 'vvvv'],
  ['logs', 'vvv'],
  ['logs', 'vvvv'],
  ['logs', 'vvvvvv'],
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
