import { afterEach, describe, expect, it } from 'vitest'
import type { WireAnswer } from '../../api/index.ts'
import { type Opened, type OpenOptions, openOn } from '../cockpit.testkit.tsx'
import { market } from '../fixtures.testkit.ts'

let open: Opened | undefined

afterEach(() => {
  open?.close()
  open = undefined
})

type Thread = WireAnswer<'readAnyThread'>

const thread = (n: number, more: Partial<Thread> = {}): Thread => ({
  id: `thr_000000000000000${n}`,
  thread_id: `thr_000000000000000${n}`,
  service_id: 'svc_0000000000000001',
  agent_id: 'p_00000000000000aa',
  provider_id: 'p_00000000000000bb',
  status: 'inquiry',
  proposal: null,
  job_id: null,
  message_count: 1,
  created_at: '2026-11-21T12:00:00.000Z',
  updated_at: '2026-11-21T13:03:07.000Z',
  about: { service: 'Logo design', buyer: 'Bot7', provider: 'Pixelforge', amount: null, method: null },
  ...more,
})

const first = thread(1)
const offered = thread(2, {
  status: 'negotiating',
  proposal: {
    price: '8.00',
    agent_price: '8.40',
    provider_net_price: '7.60',
    message: 'two revisions',
    status: 'open',
    proposed_at: '2026-11-21T13:03:07.000Z',
    expires_at: '2026-11-21T15:03:07.000Z',
  },
})
const said = (body: string) => [
  {
    id: 'msg_0000000000000001',
    message_id: 'msg_0000000000000001',
    thread_id: first.id,
    author_role: 'buyer' as const,
    type: 'message' as const,
    body,
    created_at: '2026-11-21T13:00:00.000Z',
  },
]
const LIST = 'GET /dashboard/api/admin/threads'
const ANSWER = `POST /dashboard/api/admin/threads/${first.id}/messages`

async function talk(more: Record<string, unknown> = {}, options: Partial<OpenOptions> = {}): Promise<Opened> {
  const link = market({
    [LIST]: { threads: [first, offered], total: 2, limit: 50, offset: 0 },
    [`${LIST}/${first.id}`]: { ...first, messages: said('A mark\u001B[2J for a harbour') },
    [`${LIST}/${offered.id}`]: { ...offered, messages: said('And in blue?') },
    ...more,
  })
  open = await openOn({ link, screen: 'threads', ...options })
  await open.advance(1_000)
  return open
}

describe('conversations', () => {
  it('stand beside their list, with how far they are, at 100 x 30', async () => {
    const { rows, text } = await talk({}, { columns: 100, rows: 30 })
    expect(rows()[2]).toMatch(
      /^─ Threads ─+ 2 of 2 {2}\/ filter ─┬─ thr_0000000000000001 ─+ Logo design, since 12:00 ─$/,
    )
    expect(rows()[3]).toMatch(/^ \[open 2\] {2}disputed {2}over {2}all +│/)
    expect(rows()[5]).toMatch(/^▌ ● asked +Bot7 → Pixelforge +— +1h *│/)
    expect(rows()[6]).toMatch(/\? offered +Bot7 → Pixel\S* +\$8\.40 +1h *│/)
    expect(text()).toMatch(/ asked ─ offered ─ agreed ─ at work ─ delivered ─ paid/)
    expect(text()).toContain('13:00  Bot7       A mark\uFFFD[2J for a harbour')
  })

  it('stand below it where there is no room beside it', async () => {
    const { text } = await talk()
    expect(text()).toMatch(/\n─ thr_0000000000000001 ─+ Logo design, since 12:00 ─\n/)
  })

  it('are seen by view, and say under the list as whom one looks', async () => {
    const { type, link, text, advance } = await talk({}, { columns: 160, rows: 36 })
    const asked = () => link.calls.findLast(({ path }) => path === '/dashboard/api/admin/threads')?.query?.filter
    expect(asked()).toBe('status:inquiry,negotiating,accepted,in_progress,disputed')
    expect(text()).toContain(' Read-only as administrator; opening is logged. To write:  :as NAME')
    expect(text()).toMatch(/^ {2}STATE +BUYER → PROVIDER +SERVICE +PRICE +AGE +│/m)
    await type('v')
    await advance(1_000)
    expect(asked()).toBe('status:disputed')
    await type('v')
    await advance(1_000)
    expect(asked()).toBe('status:completed,verified,cancelled')
    await type('v/logo')
    await advance(1_000)
    expect(asked()).toBe('logo')
  })

  it('with an offer say what its buyer may do, for how much, and by what command', async () => {
    const { type, text, advance } = await talk({}, { columns: 160, rows: 36 })
    await type('j')
    await advance(1_000)
    expect(text()).toMatch(/│ as Bot7 {3}A accept, pay \$8\.40 {3}X decline {3}i write/)
    expect(text()).toMatch(new RegExp(`│ same as {2}souk threads accept ${offered.id}`))
  })

  it('are looked at once: each look of the operator is logged', async () => {
    const { link, advance, type } = await talk()
    const looks = () => link.calls.filter(({ path }) => path.startsWith('/dashboard/api/admin/threads')).length
    const before = looks()
    await advance(120_000)
    expect(looks()).toBe(before)
    await type('\u0012')
    expect(looks()).toBeGreaterThan(before)
  })

  it('of strangers say before anything is typed that the operator does not answer there', async () => {
    const provider = { first_party: false }
    const { type, text, link } = await talk({ [`GET /v1/participants/${first.provider_id}`]: provider })
    expect(text()).toContain('only Pixelforge answers here; as a party:  :as NAME')
    await type('i')
    expect(text()).toContain('Only Pixelforge and Bot7 can write here, not the house.')
    expect(text()).not.toContain('WRITE A MESSAGE')
    expect(link.calls.filter(({ method }) => method === 'POST')).toEqual([])
  })

  it('of the house take an answer', async () => {
    const { type, text } = await talk({ [`GET /v1/participants/${first.provider_id}`]: { first_party: true } })
    expect(text()).toContain('i: write as the marketplace')
    await type('i')
    expect(text()).toContain('WRITE A MESSAGE')
  })

  it('are answered for the house, after asking', async () => {
    const { type, text, link } = await talk({ [ANSWER]: { ...said('We do.')[0], author_role: 'provider' } })
    await type('i')
    await type('We do.\r')
    expect(text()).toContain(`same as  souk admin threads send ${first.id} 'We do.'`)
    expect(link.calls.filter(({ method }) => method === 'POST')).toEqual([])
    await type('y')
    expect(link.calls.filter(({ method }) => method === 'POST')).toMatchObject([{ body: { message: 'We do.' } }])
  })

  it('are declined and priced by their parties alone', async () => {
    const { type, text } = await talk()
    await type('X')
    expect(text()).toContain('✗ Only the two parties can end a conversation.')
    await type('O')
    expect(text()).toContain('✗ Only Pixelforge can offer a price.')
  })

  it('take a price from their provider, and say price for the buyer', async () => {
    const link = market({
      [LIST]: { threads: [first], total: 1, limit: 50, offset: 0 },
      [`${LIST}/${first.id}`]: { ...first, messages: [] },
      [`POST /v1/threads/${first.id}/propose`]: { ...offered, about: undefined },
    })
    link.me = first.provider_id
    open = await openOn({ link, screen: 'threads' })
    await open.advance(1_000)
    await open.type('O')
    await open.type('8.00\r\r')
    await open.type('y')
    expect(open.text()).toContain('Offered: the buyer pays $8.40.')
  })

  it('are never paid from here: the command that does it is told', async () => {
    const { type, text } = await talk()
    await type('jA')
    expect(text()).toContain('✗ Its buyer pays $8.40.')
    expect(text()).toContain(`souk threads accept ${offered.id}`)
  })

  it('have ids and commands to copy', async () => {
    const { type, copied } = await talk()
    await type('yc')
    expect(copied).toEqual([first.id, `souk admin threads view ${first.id}`])
  })

  it('change nothing in a read-only cockpit', async () => {
    const { type, text, link } = await talk({}, { readonly: true })
    await type('iXOA')
    expect(text()).not.toContain('WRITE A MESSAGE')
    expect(link.calls.filter(({ method }) => method === 'POST')).toEqual([])
  })
})
