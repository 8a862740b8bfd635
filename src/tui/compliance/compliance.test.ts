import { afterEach, describe, expect, it } from 'vitest'
import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import { type Opened, openOn } from '../cockpit.testkit.tsx'
import { market } from '../fixtures.testkit.ts'

let open: Opened | undefined

afterEach(() => {
  open?.close()
  open = undefined
})

type Attempt = WireAnswer<Api['listVerifications']>['attempts'][number]

const attempt = (n: number, status: Attempt['status']): Attempt => ({
  id: `vat_000000000000000${n}`,
  attempt_id: `vat_000000000000000${n}`,
  participant_id: `p_000000000000000${n}`,
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
} satisfies WireAnswer<Api['listSanctions']>['sdn']
const DECIDE = 'POST /dashboard/api/admin/verification/vat_0000000000000002/decide'

async function compliance(): Promise<Opened> {
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
  })
  open = await openOn({ link, screen: 'compliance', columns: 100, rows: 30 })
  return open
}

describe('compliance', () => {
  it('tells the list, what the gate refused and who wants to be checked, those that wait first', async () => {
    const { rows, text } = await compliance()
    expect(rows()[2]).toMatch(/^─ Sanctions list ─+ ! 1d ago ─┬─ Refused at the gate ─+ 41 in 24 h ─$/)
    expect(text()).toContain('wallets    97, 1 of them by hand')
    expect(text()).toMatch(/terms required +41 {2}━━━━━━━━━━━━━━/)
    expect(text()).toMatch(/▌ \? vendor +p_0000000000000002 +Ines\uFFFD\[2J Keller +vat_0000000000000002 +4h +20h/)
    expect(text()).toContain('─ Calls to parts that are off')
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
