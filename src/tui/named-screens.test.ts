import { afterEach, describe, expect, it } from 'vitest'
import examples from '../api/answer-examples.json' with { type: 'json' }
import { readAnswer } from '../client/call.ts'
import { type LinkCall, type Opened, type OpenOptions, openOn } from './cockpit.testkit.tsx'
import { market } from './fixtures.testkit.ts'

/* The screens without a number: gone to by name. */

let open: Opened | undefined

afterEach(() => {
  open?.close()
  open = undefined
})

async function cockpit(screen: 'clock' | 'people' | 'requests', more: Partial<OpenOptions> = {}): Promise<Opened> {
  open = await openOn({ link: market(), screen, columns: 100, rows: 30, ...more })
  await open.advance(1_000)
  return open
}

const CLOCK = 'POST /dashboard/api/admin/clock'
const posts = (one: Opened, method = 'POST') => one.link.calls.filter((call) => call.method === method)

describe('the clock', () => {
  const HOLDS = 'GET /dashboard/api/admin/holds'
  const hold = {
    account: 'esc:job_0000000000000001',
    kind: 'esc',
    amount: '0.525',
    owner: { kind: 'job', id: 'job_0000000000000001' },
    reason: 'the job is at work',
    next_event: 'expire',
    next_event_at: '2026-11-21T14:33:07.000Z',
  }
  const changed = { changed: true, jumps: 60, runs_total: 61, runs: [] }

  it('tells business time and what falls due in it, the soonest first', async () => {
    const { text, rows } = await cockpit('clock', { link: market({ [HOLDS]: { holds: [hold], total: 120 } }) })
    expect(rows()[1]).toMatch(/9 Logs +: Clock\s*$/)
    expect(text()).toContain('business  2026-11-21 14:03 UTC  same as this machine')
    expect(text()).toMatch(
      / 29m +2026-11-21 14:33 +hold +expire +job_0000000000000001 +\$0\.525 +esc:job_0000000000000001/,
    )
    expect(text()).toContain('119 more held amounts are not shown')
    const left = text().match(/^. +-?\d+[smhd] /gm) ?? []
    expect(left.at(-1)).toContain('29m')
  })

  it('moves ahead with a snapshot first, and says the way back', async () => {
    const saved: string[] = []
    const link = market({ [CLOCK]: { ...examples.getClock.answer, ...changed } })
    const snapshot = async (name: string) => ({ ok: true, value: String(saved.push(name)) }) as const
    const one = await cockpit('clock', { link, snapshot })
    await one.type('A')
    expect(one.text()).toContain('Move – needs how far')
    await one.type('1y\r')
    expect(one.text()).toContain('same as  souk snapshots save before-clock --force && souk clock advance 1h')
    expect(posts(one)).toEqual([])
    await one.type('y')
    expect(saved).toEqual(['before-clock'])
    expect(posts(one)).toMatchObject([{ body: { advance_ms: 3_600_000 } }])
    expect(one.text()).toContain('61 cron runs on the way.  → back: souk snapshots restore before-clock')
  })

  it('does not move where the snapshot could not be kept', async () => {
    const problem = { kind: 'failed', sentence: 'The disk is full.', facts: [], next: [] } as const
    const one = await cockpit('clock', { snapshot: async () => ({ ok: false, problem }) })
    await one.type('A1y\ry')
    expect(one.text()).toContain('✗ The disk is full.')
    expect(posts(one)).toEqual([])
  })

  it('stands still and goes on', async () => {
    const one = await cockpit('clock', { link: market({ [CLOCK]: { ...examples.getClock.answer, ...changed } }) })
    await one.type('Z')
    expect(one.text()).toContain('same as  souk clock freeze')
    await one.type('y')
    expect(posts(one)).toMatchObject([{ body: { state: 'frozen' } }])
  })

  it('of real money is nobody’s to move', async () => {
    const clock = { ...examples.getClock.answer, movable: false }
    const one = await cockpit('clock', { link: market({ 'GET /dashboard/api/admin/clock': clock }) })
    await one.type('A')
    expect(one.text()).toContain('✗ With real money the clock cannot be moved.')
  })
})

describe('people', () => {
  const PEOPLE = 'GET /dashboard/api/admin/participants'

  async function person(more: Record<string, unknown> = {}) {
    const { participants } = await readAnswer('listParticipants', examples.listParticipants.answer)
    const [known] = participants
    if (known === undefined) throw new Error('the example has a participant')
    return { ...known, name: 'Bot7\u001B[2J', suspended_at: null, ...more }
  }

  it('are listed with tier, balance and standing, and what they call themselves is only text', async () => {
    const one = await person()
    const { text } = await cockpit('people', { link: market({ [PEOPLE]: { participants: [one], total: 1 } }) })
    expect(text()).toContain('Bot7\uFFFD[2J')
    expect(text()).toContain('● open')
    expect(text()).toContain(`$${one.balance.available}`)
    expect(text()).toContain(one.wallet)
  })

  it('are given a tier with a reason, by the command that says so', async () => {
    const one = await person()
    const link = market({
      [PEOPLE]: { participants: [one], total: 1 },
      [`PUT /dashboard/api/admin/participants/${one.id}`]: { ...one, verification_tier: 'email_verified' },
    })
    const opened = await cockpit('people', { link })
    await opened.type('Ee\rseen the papers\r')
    expect(opened.text()).toContain(`souk admin participants tier ${one.id} email_verified --reason 'seen the papers'`)
    expect(posts(opened, 'PUT')).toEqual([])
    await opened.type('y')
    expect(posts(opened, 'PUT')).toMatchObject([
      { body: { verification_tier: 'email_verified', reason: 'seen the papers' } },
    ])
    expect(opened.text()).toContain(`${one.id} is email_verified.`)
  })

  it.each([
    [null, true, 'suspend'],
    ['2026-11-21T10:00:00.000Z', false, 'unsuspend'],
  ])('whose suspension began at %s are suspended or let go on', async (since, suspended, word) => {
    const one = await person({ suspended_at: since })
    const link = market({
      [PEOPLE]: { participants: [one], total: 1 },
      [`PUT /dashboard/api/admin/participants/${one.id}`]: one,
    })
    const opened = await cockpit('people', { link })
    await opened.type('Zfraud\r')
    expect(opened.text()).toContain(`souk admin participants ${word} ${one.id} --reason fraud`)
    await opened.type('y')
    expect(posts(opened, 'PUT')).toMatchObject([{ body: { suspended, reason: 'fraud' } }])
  })
})

describe('requests for work', () => {
  const posting = {
    ...examples.listPostings.answer.postings[0],
    id: 'post_0000000000000001',
    posting_id: 'post_0000000000000001',
    title: 'Translate a page',
    status: 'open',
    bid_count: 1,
    budget_min_usd: 1.5,
    budget_max_usd: 25,
  }
  const LIST = 'GET /v1/postings'

  it('are listed by view with their bids where they may be read', async () => {
    const bids = { ...examples.listBids.answer }
    const link = market({
      [LIST]: { postings: [posting], total: 1 },
      [`GET /v1/postings/${posting.id}/bids`]: bids,
    })
    const { text, type } = await cockpit('requests', { link })
    expect(text()).toMatch(/● open +Translate a p.*\$1\.50 to \$25\.00/)
    expect(text()).toMatch(/STATE +PRICE +HOURS +PITCH/)
    await type('v')
    expect(link.calls.findLast(({ path }) => path === '/v1/postings')?.query).toMatchObject({ status: 'open' })
    expect(text()).toContain('[open 1]')
  })

  it('are looked for in more than the page in sight, and how many that are is said', async () => {
    const all = Array.from({ length: 700 }, (_, i) => {
      const id = `post_${String(i).padStart(16, '0')}`
      return { ...posting, id, posting_id: id, title: i === 120 ? 'A needle' : 'Hay' }
    })
    const link = market({
      [LIST]: ({ query = {} }: LinkCall) => ({
        ok: true,
        value: {
          postings: all.slice(Number(query.offset), Number(query.offset) + Number(query.limit)),
          total: 700,
          limit: 50,
          offset: 0,
          next_cursor: null,
        },
      }),
    })
    const { text, type, advance } = await cockpit('requests', { link, columns: 160, rows: 30 })
    await type('/needle\r')
    await advance(1_000)
    expect(text()).toMatch(/▌ ● open +A needle/)
    expect(text()).toMatch(/! the newest [\d,]+ of 700 searched/)
    expect(text()).toContain(' 1 of 1 ')
  })

  it('say whose their bids are where there is no key for them', async () => {
    const denied = { kind: 'denied', sentence: 'no', facts: [], next: [] } as const
    const link = market({
      [LIST]: { postings: [posting], total: 1 },
      [`GET /v1/postings/${posting.id}/bids`]: () => ({ ok: false, problem: denied }),
    })
    const { text, type } = await cockpit('requests', { link })
    expect(text()).toContain(`1 bid, which only the poster can read: souk requests bids ${posting.id}`)
    await type('A')
    expect(text()).toContain(`→ souk requests bids ${posting.id}`)
  })
})
