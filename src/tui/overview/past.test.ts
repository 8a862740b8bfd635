import { afterEach, describe, expect, it, test } from 'vitest'
import { HOUR_MS, MINUTE_MS } from '../../core/time.ts'
import { type FakeLink, NOW, type Opened, openOn, sse } from '../cockpit.testkit.tsx'
import { attention, market, series } from '../fixtures.testkit.ts'

/* What was a week ago stands beside what is, without a key; what happened while nobody was there comes with the first key. */

const SERIES = 'GET /dashboard/api/admin/series'
const WEEK_MS = 7 * 24 * HOUR_MS

let open: Opened | undefined
afterEach(() => {
  open?.close()
  open = undefined
})

const hour = (back: number, many: number) => ({
  at: new Date(Math.floor((NOW - WEEK_MS) / HOUR_MS) * HOUR_MS - back * HOUR_MS).toISOString(),
  calls: 60 * many,
  p95_ms: 15,
  purchases: 30 * many,
  paid_in: '276.00',
})
const weekAgo = { buckets: [hour(1, 40), hour(0, 20)], change: { calls: 18.2, purchases: -4.5, paid_in: null } }
const compared = { ...series, week_ago: weekAgo }

describe('a week ago', () => {
  const at = async (columns: number, rows: number, more: { ascii?: boolean; answer?: unknown } = {}) => {
    const link = market({ [SERIES]: more.answer ?? compared })
    open = await openOn({ link, columns, rows, ascii: more.ascii ?? false })
    return open.rows().map((row) => row.trimEnd())
  }
  const pulse = (rows: readonly string[], count: number) =>
    rows.slice(rows.findIndex((row) => row.includes('requests'))).slice(0, count)

  it('stands under each figure, to the same scale, with the change', async () => {
    expect(pulse(await at(80, 24), 2)).toEqual([
      ' requests      59 /min ▁▁▂▂▃▃▄▄▅▅▆▆▇▇▇  money in   $9.20 /min ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇',
      ' +18 % on last Sat     ▅▅▅▅▅▅▅▅▅▅▅▅▅▅▃  last Sat              ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄',
    ])
    open?.close()
    const right = (await at(160, 50)).map((row) => row.slice(102, 123).trim())
    const first = right.findIndex((row) => row.startsWith('requests'))
    expect([1, 3, 5, 7].map((row) => right[first + row])).toEqual([
      '+18 % on last Sat',
      'last Sat',
      '-4.5 % on last Sat',
      'last Sat',
    ])
  })

  it('is left out where nothing is known of a figure', async () => {
    const buckets = weekAgo.buckets.map((one) => ({ ...one, calls: 0 }))
    const answer = { ...compared, week_ago: { buckets, change: { ...weekAgo.change, calls: null } } }
    expect(pulse(await at(80, 24, { answer }), 2)[1]).toMatch(/^ {40}last Sat {14}▄+$/)
  })

  it('is fainter than what is, and is told by words where there are no colors', async () => {
    await at(80, 24)
    const line = open
      ?.lines()
      .find((one) => one.some((piece) => typeof piece !== 'string' && piece.text.includes('last Sat')))
    expect(line?.map((piece) => (typeof piece === 'string' ? piece.trim() : piece.tone)).filter(Boolean)).toEqual(
      expect.arrayContaining(['dim']),
    )
    expect(line?.some((piece) => typeof piece !== 'string' && piece.tone === 'accent')).toBe(false)
    open?.close()
    expect(pulse(await at(80, 24, { ascii: true }), 2)[1]).toMatch(/^ \+18 % on last Sat {5}\++[-=:] {2}last Sat {14}/)
  })

  it('is a phrase in the lowest window', async () => {
    const answer = { ...compared, week_ago: { ...weekAgo, change: { calls: 1, purchases: 1, paid_in: 1_150.4 } } }
    expect((await at(60, 18, { answer })).find((row) => row.includes('in, last hour'))).toMatch(
      /▇ in, last hour, \+1,150 % on last Sat$/,
    )
  })

  test.each([
    ['of an older instance', () => ({ ok: true, value: series })],
    [
      'before the first week',
      { ...series, week_ago: { buckets: [], change: { calls: null, purchases: null, paid_in: null } } },
    ],
  ])('%s is not drawn', async (_, answer) => {
    const text = (await at(160, 50, { answer })).join('\n')
    expect(text).toContain('requests')
    expect(text).not.toMatch(/last (Sat|week)|%.*last/)
  })
})

describe('the first key after ten minutes', () => {
  const MORE = 'since 13:51: 41 sales $96.20, 1 dispute, 1 new problem, 2 failed calls  → enter'
  const since = {
    ...series,
    buckets: [
      {
        ...series.buckets[0],
        at: new Date(NOW - 12 * MINUTE_MS).toISOString(),
        calls: { answered: 90, asked_to_pay: 2, refused: 1, switched_off: 0, broken: 2 },
        purchases: 41,
        paid_in: '96.20',
      },
    ],
  }
  const [dispute, cron, other] = attention.items
  const fresh = (item: object | undefined, back: number) => ({
    ...item,
    since: new Date(NOW - back * MINUTE_MS).toISOString(),
  })

  async function away(
    minutes = 11,
    answers: Record<string, unknown> = {},
    event = '',
  ): Promise<Opened & { link: FakeLink }> {
    const items = [fresh(dispute, 3), fresh(cron, 5), fresh(other, 600)]
    const series = (call: { path: string; query?: unknown }) => ({
      ok: true,
      value: String(JSON.stringify(call)).includes('since') ? since : compared,
    })
    const link = market({ 'GET /dashboard/api/admin/attention': { ...attention, items }, [SERIES]: series, ...answers })
    open = await openOn({ link, columns: 120, rows: 40, now: NOW - minutes * MINUTE_MS })
    await open.advance(1_000)
    await open.tell(event)
    open.clock.advance(minutes * MINUTE_MS - 1_000)
    return open
  }
  const told = async ({ type, until, text }: Opened, key = 'j') => {
    await type(key)
    await until(() => text().includes('since 13:51'))
  }

  it('does what it does, and brings a line that the next key takes away', async () => {
    const cockpit = await away()
    const { type, advance, text, host } = cockpit
    expect(text()).not.toContain('since 13:51')
    await told(cockpit, '3')
    expect(host.ui.get().screen).toBe('jobs')
    expect(text()).toContain(MORE)
    await advance(60_000)
    expect(text()).toContain(MORE)
    await type('1')
    expect([host.ui.get().screen, text().includes('since 13:51')]).toEqual(['overview', false])
  })

  it('opens just that by enter, and the row leads to its record', async () => {
    const about = { service: 'Logo', buyer: 'Acme', provider: 'Inkwell', amount: '2.50', method: 'x402' }
    const event = sse(7, 'job.dispatched', { subject: 'job_944b1585b4ab7d9c', about })
    const cockpit = await away(11, {}, event)
    const { type, advance, text, host } = cockpit
    await told(cockpit)
    await advance(2_000)
    await type('\r')
    expect(host.ui.get().picker).toMatchObject({ kind: 'output', title: 'Since 13:51' })
    const lines = host.ui.get().output
    expect(lines).toHaveLength(3)
    expect(lines.at(-1)).toMatch(/\$2\.50 {2}Acme bought Logo from Inkwell.*job_944b1585b4ab7d9c$/)
    expect(text()).not.toContain(MORE)
    await type('bought\r')
    expect(host.ui.get().filters.jobs).toBe('id:job_944b1585b4ab7d9c')
  })

  it('does not open a summary that was drawn less than a second ago', async () => {
    const cockpit = await away()
    const { type, text, host } = cockpit
    await told(cockpit)
    await type('\r')
    expect(host.ui.get().picker?.kind).not.toBe('output')
    expect(host.ui.get().dialog === undefined && !text().includes('since 13:51')).toBe(false)
  })

  it('leaves the line while something is typed', async () => {
    const cockpit = await away()
    const { type, advance, text, host } = cockpit
    await told(cockpit, ':')
    await advance(2_000)
    await type('jobs')
    expect(host.ui.get().picker?.text).toBe('jobs')
    expect(text()).toContain('since 13:51')
  })

  it('says that nothing happened, and nothing of an instance that does not know', async () => {
    const quiet = {
      ...since,
      buckets: [{ ...since.buckets[0], purchases: 0, calls: { ...since.buckets[0]?.calls, broken: 0 } }],
    }
    const none = { ...attention, items: [] }
    const cockpit = await away(11, { [SERIES]: quiet, 'GET /dashboard/api/admin/attention': none })
    await told(cockpit)
    expect(cockpit.text()).toContain('since 13:51: no sales, nothing broke  → enter')
    open?.close()
    const restarted = { ...quiet, since: new Date(NOW - 2 * MINUTE_MS).toISOString() }
    const again = await away(11, { [SERIES]: restarted, 'GET /dashboard/api/admin/attention': none })
    await told(again)
    expect(again.text()).toContain('since 13:51: no sales, restarted 14:01:07  → enter')
    open?.close()
    const problem = { kind: 'failed', sentence: 'since: unknown field', facts: [], next: [] } as const
    const old = await away(11, { [SERIES]: () => ({ ok: false, problem }) })
    await old.type('j')
    await old.advance(1_000)
    expect(old.text()).not.toContain('since 13:51')
  })

  it('brings nothing sooner', async () => {
    const { type, advance, text } = await away(9)
    await type('j')
    await advance(1_000)
    expect(text()).not.toContain('since 13:51')
  })
})
