import { afterEach, describe, expect, it } from 'vitest'
import { type LinkCall, type Opened, type OpenOptions, openOn } from './cockpit.testkit.tsx'
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

describe('the pause', () => {
  const PAUSE = 'POST /dashboard/api/admin/platform/pause'
  const changes = () => open?.link.calls.filter(({ method }) => method === 'POST') ?? []

  it('counts its scope, wants a reason, and asks before it acts', async () => {
    const link = market({ [PAUSE]: { paused: true, changed: true } })
    const { type, text, rows } = await cockpit({ link })
    await type('P')
    expect(text()).toContain('2 endpoints that take money return 503')
    await type('\r')
    expect(text()).toContain('[ Pause – needs a reason ]')
    await type('y')
    expect(changes()).toEqual([])
    await type('\u001B[Z')
    await type('chain RPC is down')
    expect(text()).toContain('> chain RPC is down▏')
    expect(text()).toContain(`same as  souk admin platform pause --reason 'chain RPC is down'`)
    await type('\r')
    expect(text()).toContain('[>Cancel  esc ]')
    link.answers['GET /health'] = pausedHealth
    await type('y')
    expect(changes()).toMatchObject([
      { path: '/dashboard/api/admin/platform/pause', body: { reason: 'chain RPC is down' }, opens: 'admin' },
    ])
    expect(rows()[0]).toContain('‖ paused 2m')
    expect(text()).toContain('The platform is paused.')
    expect(text()).toContain('P unpause payments')
  })

  it('counts what it finds under way, as the interface answers', async () => {
    const held = { hold: 3, out: 2 } as Readonly<Record<string, number>>
    const link = market({
      'GET /dashboard/api/admin/holds': ({ query }: LinkCall) => ({
        ok: true,
        value: { holds: [], total: held[String(query?.kind)] ?? 0, limit: 1, offset: 0 },
      }),
    })
    const { type, text } = await cockpit({ link })
    await type('P')
    expect(text()).toMatch(/In progress +5 payments, 3 from balances, settle first/)
    expect(text()).toMatch(/Money +\$388\.20 of 31 jobs stays held, 2 payouts wait/)
  })

  it('says what it cannot count in words', async () => {
    const link = market()
    delete link.answers['GET /dashboard/api/admin/holds']
    delete link.answers['GET /dashboard/api/admin/river']
    const { type, text } = await cockpit({ link })
    await type('P')
    expect(text()).toMatch(/In progress +payments already reserved settle first/)
    expect(text()).toMatch(/Money +held money stays held/)
  })

  it('is cancelled by enter, n and esc', async () => {
    const { type, text, until } = await cockpit({ link: market({ [PAUSE]: { changed: true } }) })
    await type('Pwhy\r\r')
    expect(text()).not.toContain('PAUSE THE PLATFORM')
    await type('Pwhy\rn')
    expect(text()).not.toContain('PAUSE THE PLATFORM')
    await type('P\u001B')
    await until(() => !text().includes('PAUSE THE PLATFORM'))
    expect(changes()).toEqual([])
  })

  it('stays with the error when it fails, and the state is read again, not assumed', async () => {
    const problem = {
      kind: 'failed',
      sentence: 'local did not answer in time.',
      facts: [],
      next: ['souk status'],
    } as const
    const link = market({ [PAUSE]: () => ({ ok: false, problem }) })
    const { type, text, rows } = await cockpit({ link })
    const healthCalls = () => link.calls.filter(({ path }) => path === '/health').length
    await type('Pwhy\r')
    const before = healthCalls()
    await type('y')
    expect(text()).toContain('PAUSE THE PLATFORM')
    expect(text()).toContain('✗ local did not answer in time.')
    expect(healthCalls()).toBe(before + 1)
    expect(rows()[0]).toContain('● trading')
    link.answers[PAUSE] = { changed: true }
    await type('y')
    expect(text()).not.toContain('PAUSE THE PLATFORM')
  })

  it('takes no second yes while the first is under way', async () => {
    const answer = Promise.withResolvers<never>()
    const { type, text } = await cockpit({ link: market({ [PAUSE]: () => answer.promise }) })
    await type('Pwhy\ryyy\r')
    expect(text()).toContain('waiting for the answer')
    expect(changes()).toHaveLength(1)
  })

  it('wants the name of a remote typed', async () => {
    const link = market({ [PAUSE]: { changed: true } }, { name: 'prod-eu', guarded: true, option: '-r prod-eu' })
    const { type, text } = await cockpit({ link })
    await type('Pwhy\rprod-\ry')
    expect(text()).toContain('To confirm, type the remote name: prod-eu')
    expect(text()).toContain('Pause – needs the name')
    expect(text()).toContain('souk -r prod-eu admin platform pause --reason')
    expect(changes()).toEqual([])
    await type('\u001B[Z')
    await type('eu\ry')
    expect(changes()).toHaveLength(1)
  })

  it('never takes pasted text for keys', async () => {
    const { type, text } = await cockpit({ link: market({ [PAUSE]: { changed: true } }) })
    await type('\u001B[200~P\u001B[201~')
    expect(text()).not.toContain('PAUSE THE PLATFORM')
    await type('P')
    await type('\u001B[200~why\ry\u001B[201~')
    expect(text()).toContain('> why y▏')
    expect(changes()).toEqual([])
  })

  it('offers the way back, with its length and reason', async () => {
    const link = market({
      'GET /health': pausedHealth,
      'GET /dashboard/api/admin/platform/status': { paused: true, reason: 'chain \u202Edown' },
      'POST /dashboard/api/admin/platform/unpause': { changed: true },
    })
    const { type, text } = await cockpit({ link })
    await type('P')
    expect(text()).toMatch(/Paused +since 2026-11-21 14:01 UTC, 2m ago/)
    expect(text()).toMatch(/Why +chain \uFFFDdown/)
    expect(text()).toContain('all paid endpoints  (2 endpoints)')
    await type('y')
    expect(changes()).toMatchObject([{ path: '/dashboard/api/admin/platform/unpause' }])
    expect(text()).toContain('The platform is live again.')
  })

  it('says at once that there is no credential for it, until esc', async () => {
    const link = market({ [PAUSE]: { changed: true } })
    link.admin = false
    const { type, text, rows, advance, until } = await cockpit({ link })
    expect(rows()[0]).toContain('no admin key')
    await type('P')
    expect(text()).toContain('✗ There is no admin credential for local')
    expect(text()).not.toContain('PAUSE THE PLATFORM')
    await advance(60_000)
    await type('\u001B')
    await until(() => !text().includes('no admin credential'))
  })

  it.each([
    [60, 18],
    [80, 24],
    [100, 30],
  ])('keeps its buttons in sight at %i x %i, with a name to type and an error to tell', async (columns, height) => {
    const problem = {
      kind: 'failed',
      sentence: 'It did not answer in time.',
      facts: ['a', 'b'],
      next: ['souk status'],
    } as const
    const place = { name: 'prod-eu', guarded: true, option: '-r prod-eu' }
    const link = market({ [PAUSE]: () => ({ ok: false, problem }) }, place)
    const { type, text, rows } = await cockpit({ link, columns, rows: height })
    await type('Pwhy\rprod-eu\ry')
    expect(rows()).toHaveLength(height)
    for (const part of [
      'PAUSE THE PLATFORM',
      '> why',
      '> prod-eu',
      '✗ It did not answer in time.',
      '[>Cancel  esc ]',
      '╰─',
    ]) {
      expect(text()).toContain(part)
    }
  })

  it('is not there in a read-only cockpit', async () => {
    const { type, text, rows } = await cockpit({ readonly: true })
    await type('P')
    expect(text()).not.toContain('PAUSE THE PLATFORM')
    expect(text()).not.toContain('pause payments')
    expect(rows()[0]).toContain('read-only')
  })
})
