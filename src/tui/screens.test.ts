import { afterEach, describe, expect, it } from 'vitest'
import type { WireAnswer } from '../api/index.ts'
import { type Opened, type OpenOptions, openOn, sse } from './cockpit.testkit.tsx'
import { market, pausedHealth, river } from './fixtures.testkit.ts'

let open: Opened | undefined

afterEach(() => {
  open?.close()
  open = undefined
})

async function cockpit(options: Partial<OpenOptions> = {}): Promise<Opened> {
  open = await openOn({ link: market(), ...options })
  return open
}

describe('the overview', () => {
  it('tells money, what waits, figures, work and what happened, at 80 x 24', async () => {
    const { rows } = await cockpit()
    expect(
      rows()
        .slice(2, 18)
        .map((row) => row.trimEnd()),
    ).toEqual([
      '─ Money today ────────────────────────────────────────── ✓ books agree, 3s ago ─',
      ' PAID IN   96 sales        IN ESCROW  31 jobs         PASSED ON',
      ' $1,284.30 ━━━━━━┳━━━━━━━▸ $388.20 ━━━━━━━━━━━┳━━━━━▸ $1,109.00  providers',
      '                 ┃         ▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▄▂  ┣━━━━━▸    $55.45  fees',
      '                 ┗━━━━━━ $84.00 at once ━━━━━━┻━━━━━▸    $43.50  refunds',
      '─ Open problems 3 ───────────────────────────────────── enter decide  x snooze ─',
      '▌? dispute Inkwell              A buyer disputes "Site audit"…    2h D decide',
      ' ! cron    provider-settlement  Its last run failed: connect …    6h R run now',
      ' ! list    —                    The sanctions list is stale.      1d R fetch now',
      '─ Pulse ─────────────────────────────────────────── last hour  t hour/day/week ─',
      ' requests      59 /min ▁▁▂▂▃▃▄▄▅▅▆▆▇▇▇  money in   $9.20 /min ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇',
      '─ Work 31 open, crons 5 ──────────────────────────────────────── 96 done today ─',
      ' ● 8 sent  ● 4 at work  ? 15 delivered  ? 4 disputed',
      ' ✗ provider-settlement 6h  ! ofac-sdn-refresh 1d  ✓ 1 ok  ○ 1 not yet  ‖ 1 paus…',
      '─ Live ──────────────────────────────────────────────────────────────── ● live ─',
      ' waiting for the first event',
    ])
  })

  it('has panels side by side at 160 x 50', async () => {
    const { rows, text } = await cockpit({ columns: 160, rows: 50 })
    expect(rows()[2]).toMatch(/^─ Money today ─+ ✓ books agree, 3s ago ─┬─ Pulse ─+ last hour {2}t hour\/day\/week ─$/)
    expect(text()).toMatch(/├─ Work 31 open ─+ 96 done today ─$/m)
    expect(text()).toContain('│ done today 93 good, 2 failed, 1 refunded')
    expect(text()).toMatch(/─ API calls ─+ a minute, last hour ─[┤┼]/)
    expect(text()).toContain('same as  souk admin jobs bundle job_944b1585b4ab7d9c')
  })

  it('says what it may not know, and shows the rest', async () => {
    const link = market()
    delete link.answers['GET /dashboard/api/admin/river']
    delete link.answers['GET /dashboard/api/admin/attention']
    const { text } = await cockpit({ link })
    expect(text()).toMatch(/─ Money today ─+\n ✗ There is no such row/)
    expect(text()).toContain('● trading')
  })

  it('never says that the books agree when they do not', async () => {
    const link = market({ 'GET /dashboard/api/admin/river': { ...river, agrees: false } })
    const { text } = await cockpit({ link, columns: 100, rows: 30 })
    expect(text()).toContain('✗ books do not agree')
    expect(text()).not.toContain('✓ books agree')
  })

  it('shows events as sentences, each once, and asks anew because of them', async () => {
    const { link, text, advance, tell } = await cockpit()
    const asked = () => link.calls.filter(({ path }) => path === '/health').length
    const before = asked()
    const about = { service: 'Site audit', buyer: 'Bot7', provider: 'Inkwell', amount: '2.625', method: 'x402' }
    await tell(sse(7, 'job.disputed', { subject: 'job_8Kd2', about }))
    await tell(sse(8, 'job.disputed', { subject: 'job_8Kd2', about }))
    await advance(1_000)
    expect(text().match(/14:03:07 \? {3}\$2\.625 {2}Bot7 disputes Site audit by Inkwell/g)).toHaveLength(1)
    expect(asked()).toBe(before + 1)
  })

  it('mends what needs a hand with the key that its row names', async () => {
    const { type, text, until } = await cockpit()
    await type('jR')
    await until(() => text().includes('RUN A CRON NOW'))
    expect(text()).toMatch(/cron +provider-settlement/)
    expect(text()).toContain('same as  souk crons run provider-settlement')
    await type('\u001B')
    await until(() => !text().includes('RUN A CRON NOW'))
    await type('kR')
    expect(text()).not.toContain('RUN A CRON NOW')
  })
})

describe('crons', () => {
  it('are listed with what the administrative row says, the urgent ones first', async () => {
    const { rows } = await cockpit({ screen: 'crons' })
    expect(rows()[4]).toMatch(/STATE +NAME +LAST 12 RUNS +TOOK +OK +NEXT/)
    expect(rows()[5]).toMatch(/^▌ ✗ failing +provider-settlement +▪✗ +12 ms +6h +48s/)
    expect(rows()[6]).toMatch(/! late +ofac-sdn-refresh +▪▪ +12 ms +1d +48s/)
    expect(rows()[7]).toMatch(/‖ paused +auto-refund .* 44s +—/)
    expect(rows()[9]).toMatch(/○ not yet +reputation +— +not yet +48s/)
    expect(rows().join('\n')).toContain('error     connect ECONNREFUSED 127.0.0.1:8545')
  })

  it('are what /health tells of them where there is no such row', async () => {
    const link = market()
    delete link.answers['GET /dashboard/api/admin/crons']
    const { rows } = await cockpit({ link, screen: 'crons' })
    expect(rows()[5]).toMatch(/^▌ ✗ failing +provider-settlement +— +6h +—/)
  })

  it('run when that is confirmed: the one that the cursor is on when the key comes', async () => {
    const run = {
      at: '2026-11-21T14:03:07.000Z',
      trigger: 'admin',
      result: 'failed',
      reason: 'no chain',
      took_ms: 7,
    } satisfies WireAnswer<'runCron'>['run']
    const link = market({ 'POST /dashboard/api/admin/crons/auto-refund/run': { name: 'auto-refund', run } })
    const { type, text } = await cockpit({ link, screen: 'crons' })
    await type('jjR')
    expect(text()).toContain('RUN A CRON NOW')
    expect(text()).toMatch(/cron +auto-refund/)
    expect(text()).toContain('same as  souk crons run auto-refund')
    await type('\r')
    expect(text()).not.toContain('RUN A CRON NOW')
    expect(link.calls.filter(({ method }) => method === 'POST')).toEqual([])
    await type('Ry')
    expect(link.calls.filter(({ method }) => method === 'POST')).toHaveLength(1)
    expect(text()).toContain('auto-refund: failed (no chain) in 7 ms')
  })

  it('are paused and resumed', async () => {
    const link = market({
      'POST /dashboard/api/admin/crons/provider-settlement/pause': { changed: true },
      'POST /dashboard/api/admin/crons/auto-refund/resume': { changed: true },
    })
    const { type, text } = await cockpit({ link, screen: 'crons' })
    await type('Zy')
    expect(text()).toContain('provider-settlement is paused.')
    await type('jjZ')
    expect(text()).toContain('RESUME A CRON')
    await type('y')
    expect(text()).toContain('auto-refund runs on schedule again.')
  })

  it('can be filtered, and the choice stays with its row', async () => {
    const { type, text, rows } = await cockpit({ screen: 'crons' })
    await type('j')
    await type('/re')
    expect(text()).toContain('/re▏')
    expect(text()).toContain('3 of 5')
    await type(' !auto\r')
    expect(text()).toContain('2 of 5')
    expect(rows().find((row) => row.startsWith('▌'))).toContain('ofac-sdn-refresh')
    await type('\u001B')
    await open?.until(() => !text().includes('/re !auto'))
    expect(rows().find((row) => row.startsWith('▌'))).toContain('ofac-sdn-refresh')
  })
})

describe('endpoints', () => {
  it('show their state, and only those of one view', async () => {
    const { type, text, rows } = await cockpit({ screen: 'endpoints', link: market({ 'GET /health': pausedHealth }) })
    expect(rows()[3]).toContain('[all 4]  called 0  paid 3  paused 2  off 1  broken 0')
    await type('v')
    expect(rows()[3]).toContain('[called 0]')
    await type('vv')
    expect(rows()[3]).toContain('[paused 2]')
    expect(text()).toContain('‖ paused')
    expect(text()).not.toContain('/v1/products')
  })
})

describe('calls of endpoints', () => {
  it('are told with durations, what broke, and the requests to look at, the most called first', async () => {
    const calls = { answered: 98, asked_to_pay: 298, refused: 14, switched_off: 0, broken: 1 }
    const seen = { at: '2026-11-21T13:31:07.000Z', ms: 84, status: 500, request_id: 'req_2805e5d883c40aa1' }
    const figures: WireAnswer<'getEndpointFigures'> = {
      hours: 24,
      since: '2026-11-20T13:31:07.000Z',
      endpoints: [
        {
          endpoint: 'purchaseService',
          method: 'POST',
          path: '/v1/services/:id/purchase',
          calls,
          total: 411,
          p50_ms: 31,
          p95_ms: 84,
          by_hour: Array.from({ length: 24 }, (_, i) => i),
          slowest: seen,
          last_broken: seen,
          sold: { times: 96, amount: '1284.30' },
        },
      ],
    }
    const link = market({ 'GET /dashboard/api/admin/endpoints': figures })
    const { text, type, rows } = await cockpit({ screen: 'endpoints', link, columns: 160, rows: 40 })
    expect(text()).toMatch(
      /▌ POST +\/v1\/services\/:id\/purchase +varies +● live +411 +\S{12} +31 ms +84 ms +298 +0\.2 % /,
    )
    expect(text()).toMatch(/─ POST \/v1\/services\/:id\/purchase ─+ 96 sold for \$1,284\.30 ─/)
    expect(text()).toMatch(
      / ✓ 98 answered ━+╸? {2}\? 298 asked to pay ━+╸? {2}! 14 refused ━*╸? {2}✗ 1 broken ╸ {2}of 411 calls in 24 h/,
    )
    const bars = text().match(/[━╸]+/g) ?? []
    expect(bars.map((one) => one.length)).toEqual([10, 29, 2, 1])
    expect(text()).toContain('broke   13:31:07  500  84 ms  req_2805e5d883c40aa1')
    expect(text()).toContain('price   varies   a pause  stops this endpoint, since it takes money')
    for (const one of ['called', 'paid', 'paused', 'off', 'broken']) {
      await type('v')
      const isThere = ['called', 'paid', 'broken'].includes(one)
      expect(rows()[3]).toMatch(new RegExp(`\\[${one} \\d\\]`))
      expect(/▌ POST +\/v1\/services\/:id\/purchase/.test(text())).toBe(isThere)
    }
  })
})

describe('what became of calls', () => {
  const none = { answered: 0, asked_to_pay: 0, refused: 0, switched_off: 0, broken: 0 }
  const called = (calls: Partial<typeof none>, total: number) =>
    market({
      'GET /dashboard/api/admin/endpoints': {
        hours: 24,
        since: '2026-11-20T13:31:07.000Z',
        endpoints: [
          {
            endpoint: 'getCatalog',
            method: 'GET',
            path: '/v1/services/catalog',
            calls: { ...none, ...calls },
            total,
            p50_ms: 1,
            p95_ms: 2,
            by_hour: [total],
            slowest: null,
            last_broken: null,
            sold: { times: 0, amount: '0.00' },
          },
        ],
      } satisfies WireAnswer<'getEndpointFigures'>,
    })

  it.each([60, 80, 100])('is whole at %i columns, with bars where they tell something', async (columns) => {
    const link = called({ answered: 8_000, asked_to_pay: 1_000, refused: 900, broken: 100 }, 10_000)
    const { rows } = await cockpit({ screen: 'endpoints', link, columns, rows: 24 })
    const told = rows().find((row) => row.includes('answered')) ?? ''
    expect(told).toMatch(/8,000 answered.* 1,000 asked.* 900 refused.* 100 broken/)
    expect(told.includes('━')).toBe(columns > 60)
  })

  it('has no bar for none, and says nothing of a sale that was not', async () => {
    const { text } = await cockpit({ screen: 'endpoints', link: called({ answered: 7 }, 7), columns: 160, rows: 40 })
    expect(text()).toMatch(/ ✓ 7 answered ━{40} {2}\? 0 asked to pay {2}! 0 refused {2}✗ 0 broken {2}of 7 calls/)
    expect(text()).toContain('does not stop this endpoint')
    expect(text()).not.toContain('sold for')
  })
})

/** From the requests through the views before it. */
const TO_THE_LOG = 'vvvvvv'

describe('the log', () => {
  it('is shown newest first from a level on, its control characters replaced', async () => {
    const { rows, type, text } = await cockpit({ screen: 'logs' })
    await type(TO_THE_LOG)
    expect(rows()[3]).toMatch(/\[everything\] {3}level info or above +● follows/)
    expect(rows()[5]).toContain('no \uFFFD[31mfunds\uFFFD')
    await type('lll')
    expect(rows()[3]).toContain('level debug or above')
    expect(text()).toContain('cron success')
    await type('/0x33\r')
    expect(rows()[2]).toContain('1 of 3')
  })

  it('stands still while a row is looked at', async () => {
    const { rows, type } = await cockpit({ screen: 'logs' })
    await type(TO_THE_LOG)
    await type('j')
    expect(rows()[3]).toContain('‖ held')
    expect(rows()[6]).toMatch(/^▌/)
    await type('f')
    expect(rows()[3]).toContain('● follows')
  })
})

describe('requests', () => {
  it('are listed with what they did, how long their story is, and that of the chosen one', async () => {
    const id = 'req_f7124935e88769c0'
    const requests: WireAnswer<'listRequests'>['requests'] = [
      {
        id,
        request_id: id,
        at: '2026-11-21T14:02:50.000Z',
        method: 'POST',
        path: '/v1/services/svc_1/purchase',
        endpoint: 'purchaseService',
        status: 200,
        ms: 31,
        caller: 'p_0123456789abcdef',
        name: 'Bot7\u001B[2J',
        code: null,
        price: '0.525',
        receipt_id: null,
        job_id: null,
        service: null,
        offer_id: null,
        steps: 2,
        remembered: 'whole',
      },
    ]
    const story: WireAnswer<'getRequestStory'> = {
      id,
      steps: [
        {
          depth: 0,
          kind: 'request',
          id,
          at: '2026-11-21T14:02:50.000Z',
          sign: 'done',
          amount: null,
          ms: 31,
          sentence: 'Bot7 bought it.',
        },
        {
          depth: 1,
          kind: 'settlement',
          id: null,
          at: null,
          sign: 'failed',
          amount: '0.525',
          ms: null,
          sentence: 'It was refused.',
        },
      ],
      next: [],
      lost: null,
    }
    const link = market({
      'GET /dashboard/api/admin/requests': { requests, next_cursor: '1' },
      [`GET /dashboard/api/admin/requests/${id}/story`]: story,
    })
    const { type, text, advance } = await cockpit({ screen: 'logs', link, columns: 100, rows: 30 })
    await advance(1_000)
    expect(text()).toMatch(
      /▌ 14:02:50 +● bought +— +POST +\/v1\/services\/:id\/pur\S* +200 +31 ms +Bot7\uFFFD\[2J +\$0\.525 +2 steps/,
    )
    expect(text()).toMatch(/ 14:02:50\.000 ✓ request {4}Bot7 bought it\. +━{14} +31 ms /)
    expect(text()).toContain(' --:--:--       ✗ settlement $0.525  It was refused.')
    await type('vvvvvv')
    expect(text()).toContain('level info or above')
  })
})
