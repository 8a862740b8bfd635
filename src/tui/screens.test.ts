import { afterEach, describe, expect, it } from 'vitest'
import type { WireAnswer } from '../api/endpoint/define.ts'
import type { Api } from '../api/index.ts'
import { type Opened, type OpenOptions, openOn, sse } from './cockpit.testkit.tsx'
import { market, pausedHealth } from './fixtures.testkit.ts'

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
  it('shows what the instance reports, at 80 x 24', async () => {
    const { rows } = await cockpit()
    expect(
      rows()
        .slice(3, 16)
        .map((row) => row.trimEnd()),
    ).toEqual([
      ' ● live   up 3d 4h   3 live   0 paused   × 1 deferred   3 paid   checkout_v2 off',
      ' network base (sandbox)   pay_to 0x70c2…9f1a   version 0.1.0   services 42',
      ' held amounts 23   payouts failed 0   refused 24 h 41   shelved 410 24 h 1',
      '─ Needs attention 2 ────────────────────────────────────────────── enter opens ─',
      ' > ✗ FAIL cron provider-settlement  its last run failed, last success 6h ago',
      '   ! WARN cron ofac-sdn-refresh     stale, last success 1d 7h ago',
      '─ Crons 5 ──────────────────────────── 2 ok  1 not run yet  1 stale  1 failing ─',
      ' ✗ provider-settleme… 6h   ! ofac-sdn-refresh   1d   ✓ auto-refund       44s',
      ' ✓ escrow-monitor    12s   – reputation      never',
      '─ Live events ───────────────────────────────────────────────────────── ● live ─',
      ' nothing has happened since this was opened',
      '',
      '',
    ])
  })

  it('has room for panels at 100 x 30', async () => {
    const { rows, text } = await cockpit({ columns: 100, rows: 30 })
    expect(rows()[3]).toMatch(/^ PLATFORM\s+ENDPOINTS\s+MARKET\s*$/)
    expect(text()).toMatch(/network +base \(sandbox\) +deferred +× 1 +payouts failed +0/)
  })

  it('leaves out what the instance does not tell', async () => {
    const link = market()
    delete link.answers['GET /dashboard/api/admin/holds']
    delete link.answers['GET /dashboard/api/admin/payouts']
    const { text } = await cockpit({ link })
    expect(text()).toContain('services 42')
    expect(text()).not.toContain('held amounts')
  })

  it('shows events as they come, and asks anew because of them', async () => {
    const { link, text, advance, tell } = await cockpit()
    const asked = () => link.calls.filter(({ path }) => path === '/health').length
    const before = asked()
    await tell(sse(7, 'job.completed', 'job_8Kd2'))
    await advance(500)
    expect(text()).toMatch(/14:03:07 {2}job.completed {2}job_8Kd2/)
    expect(asked()).toBe(before + 1)
  })

  it('opens what needs attention', async () => {
    const { type, rows } = await cockpit()
    await type('j\r')
    expect(rows()[1]).toContain('[5 Cron]')
    await type('[')
    expect(rows()[1]).toContain('[1 Over]')
  })
})

describe('crons', () => {
  it('are listed with what the administrative row says, the urgent ones first', async () => {
    const { rows } = await cockpit({ screen: 'crons' })
    expect(rows()[3]).toMatch(/CRON +LAST OK +NEXT +STATE +LAST 12 RUNS/)
    expect(rows()[5]).toMatch(/^> {2}provider-settlement +6h +48s +✗ failing +✓✗/)
    expect(rows()[6]).toMatch(/ofac-sdn-refresh +1d +48s +! stale/)
    expect(rows()[7]).toMatch(/auto-refund +44s +— +‖ paused/)
    expect(rows()[9]).toMatch(/reputation +never +48s +– not run yet/)
    expect(rows().join('\n')).toContain('error     connect ECONNREFUSED 127.0.0.1:8545')
  })

  it('are what /health tells of them where there is no such row', async () => {
    const link = market()
    delete link.answers['GET /dashboard/api/admin/crons']
    const { rows } = await cockpit({ link, screen: 'crons' })
    expect(rows()[5]).toMatch(/^> {2}provider-settlement +6h +— +✗ failing/)
  })

  it('run when that is confirmed: the one that the cursor is on when the key comes', async () => {
    const run = {
      at: '2026-11-21T14:03:07.000Z',
      trigger: 'admin',
      result: 'failed',
      reason: 'no chain',
      took_ms: 7,
    } satisfies WireAnswer<Api['runCron']>['run']
    const link = market({ 'POST /dashboard/api/admin/crons/auto-refund/run': { name: 'auto-refund', run } })
    const { type, text } = await cockpit({ link, screen: 'crons' })
    await type('jjR')
    expect(text()).toContain('RUN A CRON NOW')
    expect(text()).toMatch(/cron +auto-refund/)
    expect(text()).toContain('same as: souk api runCron -f name=auto-refund')
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
    expect(text()).toContain('auto-refund runs by its schedule again.')
  })

  it('can be filtered, and the choice stays with its row', async () => {
    const { type, text, rows } = await cockpit({ screen: 'crons' })
    await type('j')
    await type('/re')
    expect(text()).toContain('/re▏')
    expect(text()).toContain('3 of 5')
    await type(' !auto\r')
    expect(text()).toContain('2 of 5')
    expect(rows().find((row) => row.startsWith('>'))).toContain('ofac-sdn-refresh')
    await type('\u001B')
    await open?.until(() => !text().includes('/re !auto'))
    expect(rows().find((row) => row.startsWith('>'))).toContain('ofac-sdn-refresh')
  })
})

describe('endpoints', () => {
  it('show their state, and only those of one state', async () => {
    const { type, text, rows } = await cockpit({ screen: 'endpoints', link: market({ 'GET /health': pausedHealth }) })
    expect(rows()[3]).toContain('[all 4] live 1 paused 2 deferred 1')
    await type('ss')
    expect(rows()[3]).toContain('[paused 2]')
    expect(text()).toContain('‖ paused')
    expect(text()).not.toContain('/v1/products')
  })
})

describe('the log', () => {
  it('is shown newest first from a level on, its control characters replaced', async () => {
    const { rows, type, text } = await cockpit({ screen: 'logs' })
    expect(rows()[3]).toMatch(/level ≥ info +2 of 3 +● follow/)
    expect(rows()[5]).toContain('no \uFFFD[31mfunds\uFFFD')
    await type('lll')
    expect(rows()[3]).toContain('level ≥ debug')
    expect(text()).toContain('cron success')
    await type('/0x33\r')
    expect(rows()[3]).toContain('1 of 3')
  })

  it('stands still while a row is looked at', async () => {
    const { rows, type } = await cockpit({ screen: 'logs' })
    await type('j')
    expect(rows()[3]).toContain('– held')
    expect(rows()[6]).toMatch(/^>/)
    await type('f')
    expect(rows()[3]).toContain('● follow')
  })
})
