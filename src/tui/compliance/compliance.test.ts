import { afterEach, describe, expect, it } from 'vitest'
import examples from '../../api/answer-examples.json' with { type: 'json' }
import type { WireAnswer } from '../../api/index.ts'
import { gone, type Opened, openOn } from '../cockpit.testkit.tsx'
import { market } from '../fixtures.testkit.ts'

let open: Opened | undefined

afterEach(() => {
  open?.close()
  open = undefined
})

type Attempt = WireAnswer<'listVerifications'>['attempts'][number]

const attempt = (n: number, status: Attempt['status']): Attempt => ({
  id: `vat_000000000000000${n}`,
  attempt_id: `vat_000000000000000${n}`,
  participant_id: `p_000000000000000${n}`,
  name: 'Pixel\u001B[2Jforge',
  verification_tier: 'email_verified',
  status,
  operator_name: 'Ines\u001B[2J Keller',
  consented_at: null,
  vendor_url: null,
  reason: null,
  created_at: '2026-11-21T10:03:07.000Z',
  expires_at: '2026-11-22T10:03:07.000Z',
  ended_at: null,
})
const sdn = {
  last_updated: null,
  last_checked: '2026-11-20T07:03:07.000Z',
  source: 'shipped',
  ofac_publish_date: '2026-11-17',
  ofac_evm_count: 96,
  total: 97,
  added: 0,
  manual_only: 1,
  last_status: 'ok',
  stale: true,
} satisfies WireAnswer<'listSanctions'>['sdn']
const wallet = `0x${'ab'.repeat(20)}` as const
const keptPayout = {
  id: 'out_0000000000000001',
  payout_id: 'out_0000000000000001',
  kind: 'settlement',
  wallet,
  amount: '12.60',
  status: 'failed',
  blocked: true,
  reference: { kind: 'participant', id: 'p_0000000000000001' },
  attempts: 1,
  last_error: 'the wallet is on the sanctions list',
  next_attempt_at: '2026-11-21T18:03:07.000Z',
  transaction: null,
  created_at: '2026-11-20T10:03:07.000Z',
  updated_at: '2026-11-20T10:03:07.000Z',
} satisfies WireAnswer<'getPayouts'>['payouts'][number]

const act = (seq: number, what: string, actor: string): WireAnswer<'getAdminLog'>['acts'][number] => ({
  seq,
  at: '2026-11-21T13:03:07.000Z',
  wall_at: '2026-11-21T13:03:07.000Z',
  actor,
  request_id: `req_000000000000000${seq}`,
  act: what,
  subject: { kind: 'job', id: 'job_0000000000000001' },
  reason: null,
  changed: false,
  detail: {},
})

const exported = { ...examples.listRequests.answer.requests[0], path: '/v1/export', name: 'Acme Corp' }
const person = { ...examples.listParticipants.answer.participants[0], name: 'SEO\u001B Ltd', wallet }

/** What an administrator finds where money is kept back and others were read. */
const watched = (sdn: object) => ({
  'GET /dashboard/api/admin/payouts': { payouts: [keptPayout], total: 1, limit: 3, offset: 0 },
  'GET /dashboard/api/admin/participants': { participants: [person], total: 1, limit: 3, offset: 0 },
  'GET /dashboard/api/admin/sdn': {
    wallets: [{ wallet, listed: false, manual: true, reason: 'stolen', since: keptPayout.created_at }],
    total: 97,
    limit: 1,
    offset: 0,
    sdn,
  },
  'GET /dashboard/api/admin/log': {
    acts: [act(3, 'job.read', 'admin'), act(2, 'job.read', 'admin'), act(1, 'thread.read', 'ops')],
    total: 14,
    limit: 100,
    offset: 0,
  },
  'GET /dashboard/api/admin/requests': { requests: [exported], next_cursor: '1' },
})
const DECIDE = 'POST /dashboard/api/admin/verification/vat_0000000000000002/decide'

async function compliance(more: Record<string, unknown> = {}): Promise<Opened> {
  const attempts = [attempt(1, 'approved'), attempt(2, 'vendor_pending'), attempt(3, 'pending_consent')]
  const link = market({
    'GET /dashboard/api/admin/verification': { attempts, total: 3, limit: 50, offset: 0 },
    'GET /dashboard/api/admin/sdn': { wallets: [], total: 97, limit: 1, offset: 0, sdn },
    [DECIDE]: { ...attempt(2, 'approved') },
    'POST /dashboard/api/admin/sdn': {
      wallet: `0x${'ab'.repeat(20)}`,
      listed: false,
      manual: true,
      reason: 'stolen',
      since: '2026-11-21T10:03:07.000Z',
      changed: true,
    },
    ...more,
  })
  open = await openOn({ link, screen: 'compliance', columns: 100, rows: 30 })
  return open
}

describe('compliance', () => {
  it('tells the list, what the gate refused and who wants to be checked, those that wait first', async () => {
    const { rows, text } = await compliance()
    expect(rows()[2]).toMatch(/^─ Sanctions list ─+ ! 31h old ─┬─ Refused requests ─+ 41 in 24 h ─$/)
    expect(text()).toContain('wallets    97, 1 of them by hand')
    expect(text()).toMatch(/terms required +41 {2}━━━━━━━━━━━━━━/)
    expect(text()).toMatch(
      /▌ \? vendor +Pixel\uFFFD\[2Jforge +e-mail → identity +Ines\uFFFD\[2J Keller +4h +20h +vat_0000000000000002/,
    )
    expect(text()).toMatch(/─ Identity checks 3 ─+ 2 open, end after 24h ─/)
    expect(text()).toMatch(/─ Calls to disabled areas ─+ 1 in 24 h ─\n requests +1 {2}lab 1 /)
  })

  it('tells whose money is kept back, how much and why, and who read what of others', async () => {
    const { text, link } = await compliance(watched(sdn))
    await open?.advance(1_000)
    expect(text()).toMatch(/─ Kept back 1 ─+ \$12\.60 ─┼─ Reads of private data ─+ in 24 h ─/)
    expect(text()).toMatch(
      / 0xabab…abab \$12\.60 {2}SEO\uFFFD Ltd sales, since Nov 20 +│ evidence bundles +2 {2}by admin /,
    )
    expect(text()).toMatch(/ why {2}by hand: stolen +│ threads +1 {2}by ops /)
    expect(text()).toMatch(/ next check in 3h +│ exports +1 {2}by Acme Corp /)
    expect(text()).toMatch(/│ and 11 earlier reads /)
    expect(text()).toMatch(/│ admin acts +14 /)
    expect(text()).toContain(' hit        0 refused in 24 h, 1 payout kept')
    const asked = link.calls.map(({ path, query }) => `${path} ${JSON.stringify(query)}`).join('\n')
    expect(asked).toContain('blocked:true')
    expect(asked).toContain(`wallet:${wallet}`)
    expect(asked).toMatch(/act:job\.read,thread\.read,thread\.list,file\.read age:<24h/)
  })

  it('says so where nothing is kept back and nobody read anything', async () => {
    const log = { acts: [], total: 0, limit: 100, offset: 0 }
    const { text } = await compliance({
      'GET /dashboard/api/admin/log': log,
      'GET /dashboard/api/admin/requests': { requests: [], next_cursor: '0' },
    })
    expect(text()).toContain('✓ nothing: no payee is blocked')
    expect(text()).toContain('✓ no reads of private data')
  })

  it('decides what waits for the vendor, and nothing else', async () => {
    const { type, text, link } = await compliance()
    await type('D')
    expect(text()).toContain('Decide – needs a decision')
    await type('a\r')
    await type('seen\r')
    expect(text()).toContain('same as  souk verify approve vat_0000000000000002 --reason seen')
    await type('y')
    expect(link.calls.filter(({ method }) => method === 'POST')).toMatchObject([
      { body: { decision: 'approved', reason: 'seen' } },
    ])
    await type('jjD')
    expect(text()).toContain('✗ vat_0000000000000001 is approved')
  })

  it('refuses a wallet by hand, a whole one', async () => {
    const { type, text, link } = await compliance()
    await type('A')
    await type('0xab\rstolen\ry')
    expect(text()).toContain('needs a wallet')
    expect(link.calls.filter(({ method }) => method === 'POST')).toEqual([])
    await type('\u001B[Z\u001B[Z')
    await type(`${'ab'.repeat(19)}\r\ry`)
    expect(link.calls.filter(({ method }) => method === 'POST')).toMatchObject([
      { body: { wallet: `0x${'ab'.repeat(20)}`, reason: 'stolen' } },
    ])
  })
})

it('says nothing of refusals that nobody told of', async () => {
  const link = market()
  link.broken = gone
  open = await openOn({ link, screen: 'compliance', columns: 100, rows: 30 })
  await open.advance(5_000)
  expect(open.text()).toContain('─ Refused requests ─')
  expect(open.text()).not.toMatch(/✓ no problems|\d in 24 h/)
})
