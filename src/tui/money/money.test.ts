import { afterEach, describe, expect, it } from 'vitest'
import examples from '../../api/answer-examples.json' with { type: 'json' }
import type { WireAnswer } from '../../api/index.ts'
import { widthOf } from '../../text/text.ts'
import { type Opened, type OpenOptions, openOn } from '../cockpit.testkit.tsx'
import { market, payee, river } from '../fixtures.testkit.ts'

let open: Opened | undefined

afterEach(() => {
  open?.close()
  open = undefined
})

type Hold = WireAnswer<'getHolds'>['holds'][number]
type Payout = WireAnswer<'getPayouts'>['payouts'][number]

const hold = (n: number, more: Partial<Hold> = {}): Hold => ({
  account: `esc:job_000000000000000${n}`,
  kind: 'esc',
  amount: '0.525',
  owner: { kind: 'job', id: `job_000000000000000${n}` },
  job: {
    status: 'disputed',
    late: false,
    about: { service: 'Site audit', buyer: 'Bot7', provider: 'Inkwell', amount: '0.525', method: 'x402' },
  },
  reason: 'the job is disputed',
  next_event: 'resolve',
  next_event_at: '2026-11-21T16:03:07.000Z',
  ...more,
})
const { job: _, ...unowned } = hold(2)
const orphan = { ...unowned, owner: null, reason: 'no owner', next_event: null, next_event_at: null }

const payout: Payout = {
  kind: 'refund',
  id: 'out_0000000000000001',
  payout_id: 'out_0000000000000001',
  wallet: `0x${'ab'.repeat(20)}`,
  amount: '2.00',
  status: 'failed',
  blocked: false,
  attempts: 5,
  last_error: 'the chain said \u001B[2Jno',
  next_attempt_at: null,
  reference: { kind: 'job', id: 'job_0000000000000001' },
  transaction: null,
  created_at: '2026-11-21T13:03:07.000Z',
  updated_at: '2026-11-21T13:03:07.000Z',
}
const AUDIT = 'GET /dashboard/api/admin/audit'

async function money(more: Record<string, unknown> = {}, options: Partial<OpenOptions> = {}): Promise<Opened> {
  const link = market({
    'GET /dashboard/api/admin/holds': {
      holds: [hold(1), orphan],
      total: 2,
    },
    'GET /dashboard/api/admin/payouts': { payouts: [payout], total: 1 },
    ...more,
  })
  open = await openOn({ link, screen: 'money', ...options })
  return open
}

describe('money', () => {
  it('names in its key row only the keys that do something for the chosen row', async () => {
    const { rows, type } = await money()
    expect(rows().at(-1)).toContain('b its job  W refund')
    await type('v')
    const payoutKeys = rows().at(-1)
    expect(payoutKeys).toContain('b its job')
    expect(payoutKeys).not.toContain('refund')
    await type('v')
    await type('v')
    expect(rows().at(-1)).not.toMatch(/its job|refund/)
  })

  it('that is held is listed with its owner and what comes next, at 80 x 24', async () => {
    const { rows } = await money()
    const shown = rows().map((row) => row.trimEnd())
    expect(shown.slice(2, 11)).toEqual([
      '─ Books ─────────────────────────── ✓ agree to the cent  14:03:04  a check now ─',
      ' escrow             31 jobs        $388.20    ━━╸          $2.625 disputed',
      ' balances           31 accounts    $240.00    ━╸',
      ' owed to providers  8 providers    $102.60    ╸',
      ' payouts under way  1 payout        $61.20    ╸            1 failed',
      ' fees                            $1,204.815   ━━━━━━━',
      ' referral money     3 referrers      $4.10    ╸',
      ' kept back          1 wallet        $12.60    ╸',
      ' all of it                       $2,013.515   = what came in − what left',
    ])
    expect(shown.slice(11, 16)).toEqual([
      `─ Held ${'─'.repeat(54)} 2 of 2  / filter ─`,
      ' [held 2]  payouts  failed  earnings  balances            soonest first  s sort',
      '  STATE        BUYER / PROVIDER  WHAT        AMOUNT  NEXT',
      '▌ ? disputed   Bot7 / Inkwell    Site audit  $0.525  is decided in 2h',
      '  ✗ in escrow  —                 no owner    $0.525  nothing moves it',
    ])
  })

  it.each([
    ['dispatched', 'expire', false, '● sent', 'goes back in 2h'],
    ['dispatched', 'expire', true, '! overdue', 'goes back in 2h'],
    ['in_progress', 'expire', false, '● at work', 'goes back in 2h'],
    ['completed', 'verify', false, '? delivered', 'pays out in 2h'],
    ['verified', 'release', false, '✓ verified', 'pays out in 2h'],
    ['disputed', 'remind', false, '? disputed', 'waits for you'],
    ['disputed', 'resolve', false, '? disputed', 'is decided in 2h'],
  ] as const)('for a job that is %s, next %s, late %s: %s, %s', async (...[status, next_event, late, state, next]) => {
    const one = hold(1)
    const held = { ...one, next_event, job: one.job && { ...one.job, status, late } }
    const { rows } = await money(
      { 'GET /dashboard/api/admin/holds': { holds: [held], total: 1 } },
      { columns: 160, rows: 36 },
    )
    const row = rows().find((text) => text.startsWith('▌')) ?? ''
    expect(row.replace(/ {2,}/g, '  ').trimEnd()).toMatch(`▌ ${state}  Bot7 / Inkwell  Site audit  $0.525  ${next}`)
    expect(row).toContain('  esc:job_0000000000000001')
    expect(rows().join('\n')).toMatch(/^ {2}STATE +BUYER \/ PROVIDER +WHAT +AMOUNT +NEXT +ACCOUNT +│/m)
  })

  it('of an instance that names nobody is told by its ids and reasons', async () => {
    const { job: __, ...old } = hold(1)
    const { text } = await money({ 'GET /dashboard/api/admin/holds': { holds: [old], total: 1 } }, { columns: 160 })
    expect(text()).toMatch(/▌ ○ in escrow +job_0000000000000001 +the job is disputed +\$0\.525/)
  })

  it('that is not where it came from is told in red, and by how much', async () => {
    const books = river.books.map((one) => (one.kind === 'esc' ? { ...one, amount: '388.19' } : one))
    const { text } = await money({ 'GET /dashboard/api/admin/river': { ...river, books, agrees: false } })
    expect(text()).toContain('✗ do not agree')
    expect(text()).toContain('$2,013.505   ✗ came in $2,013.515')
  })

  it('that is held has the day’s income beside it where there is room', async () => {
    const { rows } = await money({}, { columns: 160, rows: 50 })
    expect(rows()[2]).toMatch(/^─ Books ─+ ✓ agree.* ─┬─ Paid in per hour, \$ ─+ last \d h ─$/)
  })

  it('tells who sold most and what each is owed, and what happens next to what waits', async () => {
    const sellers = [
      { ...payee, name: 'Sitefix', sold: '221.40', due: '0.00' },
      { ...payee, name: 'Lingua', sold: '64.30', due: '61.20' },
    ]
    const more = {
      'GET /dashboard/api/admin/payees': { payees: sellers, total: 2, limit: 3, offset: 0 },
      'GET /dashboard/api/admin/payouts': { payouts: [payout], total: 1 },
    }
    const { rows } = await money(more, { columns: 160, rows: 50 })
    const at = rows().findIndex((row) => row.includes('top sellers, 7 days'))
    expect(rows()[at]).toMatch(/│ top sellers, 7 days +sold +paid ever +due +$/)
    expect(rows()[at + 1]).toMatch(/[│┤] Sitefix +━{8} +\$221\.40 +\$340\.90 +\$0\.00 +$/)
    expect(rows()[at + 2]).toMatch(/│ Lingua +━━╸? +\$64\.30 +\$340\.90 +\$61\.20 +$/)
    const books = rows().join('\n')
    expect(books).toMatch(/balances .*available to their owners/)
    expect(books).toMatch(/payouts under way .*1 failed, to 0xaBaB…aBaB, tried 5 times/i)
    expect(books).toMatch(/kept back .*of sanctioned wallets/)
  })

  it('that is held stands under the books, and beside both what came in, who sold, and the extremes', async () => {
    const [person] = examples.listParticipants.answer.participants
    const [held] = examples.listAllJobs.answer.jobs
    const most = { ...person, name: 'Acme Corp', balance: { available: '120.00', held: '0.00' } }
    const people = { participants: [most], total: 1, limit: 1, offset: 0 }
    const more = {
      'GET /dashboard/api/admin/participants': people,
      'GET /dashboard/api/admin/jobs': { jobs: [held], total: 1, limit: 1, offset: 0 },
    }
    const { rows } = await money(more, { columns: 160, rows: 36 })
    const side = rows()
      .slice(2, -1)
      .map((row) => row.slice(101).trimEnd())
    expect(side[0]).toMatch(/^─ Paid in per hour, \$ ─+ last \d h ─$/)
    for (const fact of [
      /^ top sellers, 7 days +sold +paid ever +due$/,
      /^ largest balance +Acme Corp \$120\.00$/,
      /^ oldest hold +\d+\w.*, .+ \$[\d.]+$/,
      /^ platform keeps +4\.8 % of sales in the last 24 h$/,
    ])
      expect(side).toContainEqual(expect.stringMatching(fact))
    expect(rows().join('\n')).toMatch(/^─ Held ─+ 2 of 2 {2}\/ filter ─┤.*\n \[held 2\] .* soonest first {2}s sort │/m)
    open?.close()
    const cut = { searched: { rows: 10_000, of: 10_001 } }
    const partly = await money(
      { ...more, 'GET /dashboard/api/admin/participants': { ...people, ...cut } },
      { columns: 160, rows: 36 },
    )
    expect(partly.text()).not.toContain('largest balance')
  })

  it('that was not looked through to its end says so', async () => {
    const searched = { rows: 10_000, of: 12_000 }
    const answer = { holds: [hold(1)], total: 10_000, limit: 50, offset: 0, searched }
    const { rows } = await money({ 'GET /dashboard/api/admin/holds': answer }, { columns: 100, rows: 30 })
    expect(rows().join('\n')).toMatch(/! 10000 of 12000 searched/)
  })

  it('says where a connected chain stands, and what is wrong with it first', async () => {
    const counts = { resent: 0, replaced: 0, reorged: 0, reversed: 0, failed: 0, foreign_nonces: 0 }
    const queue = { waiting: 2, in_flight: 1, oldest_seconds: 1, held: null, token_paused: false, last_error: null }
    const told = {
      ...{ mode: 'devnet', network: 'base', caip2: 'eip155:8453', health: 'ok', faults: [], lag_blocks: 0, nodes: [] },
      ...{ head: { block: 41, age_seconds: 2 }, pay_to: `0x${'ab'.repeat(20)}`, asset: `0x${'ab'.repeat(20)}` },
      ...{
        gas_key: null,
        queue: { ...queue, ...counts },
        books: null,
        transactions: [],
        total: 0,
        limit: 1,
        offset: 0,
      },
    }
    const { rows } = await money({ 'GET /dashboard/api/admin/chain': told })
    expect(rows().join('\n')).toContain(' ✓ chain  devnet   block 41, 2 s   2 queued, 1 not in a block yet')
    open?.close()
    const sale = { kind: 'instant', acts: ['sale', 'payout'], cost: '0.002', break_even: '0.04' }
    const costs = {
      ...{ from: '2026-01-01T00:00:00.000Z', eth_price: '3000.00', acts: [], sales: [sale], below: [] },
      ...{ gas_wei: '1', gas: '1.25', fees: '8.00' },
    }
    const priced = { 'GET /dashboard/api/admin/chain': told, 'GET /dashboard/api/admin/chain/costs': costs }
    const dear = await money(priced, { columns: 120, rows: 30 })
    expect(dear.rows().join('\n')).toContain('break even: instant $0.04   30 days: gas $1.25, fees $8.00')
    open?.close()
    const faults = [{ code: 'gas_empty', sentence: 'The gas key is empty.' }]
    const down = await money({ 'GET /dashboard/api/admin/chain': { ...told, health: 'down', faults } })
    expect(down.rows().join('\n')).toContain(' ✗ chain  The gas key is empty.')
  })

  it.each([
    [60, 18],
    [80, 24],
    [100, 30],
  ])('never leaves the frame of %i x %i', async (columns, height) => {
    const { rows, type } = await money({}, { columns, rows: height })
    for (const key of ['', 'v', 'e', 'G']) {
      await type(key)
      expect(rows()).toHaveLength(height)
      for (const row of rows()) expect(widthOf(row)).toBeLessThanOrEqual(columns)
    }
  })

  it('that could not be paid out says why, and is there as JSON', async () => {
    const { type, text, link } = await money()
    await type('vv')
    expect(link.calls.at(-1)?.query).toMatchObject({ status: 'failed', limit: '50' })
    expect(text()).toContain('✗ failed')
    expect(text()).toContain('the chain said \uFFFD[2Jno')
    await type('e')
    expect(text()).toContain('"last_error": "the chain said \\u001b[2Jno"')
  })

  it('that its owners may spend is a view of its own, the largest first', async () => {
    const [one] = examples.listParticipants.answer.participants
    const who = { ...one, name: 'Acme Corp', balance: { available: '120.00', held: '0.525' } }
    const { type, text, link } = await money({
      'GET /dashboard/api/admin/participants': { participants: [who], total: 1 },
    })
    await type('vvvv')
    expect(link.calls.findLast(({ path }) => path.endsWith('/participants'))?.query).toMatchObject({
      filter: 'balance:>0',
      sort: '-balance',
    })
    expect(text()).toMatch(/─ Balances ─/)
    expect(text()).toMatch(/\[balances 1\] +largest first/)
    expect(text()).toMatch(/STATE +NAME +TYPE +TIER +BALANCE +HELD/)
    expect(text()).toMatch(/▌ ● open +Acme Corp .*\$120\.00 +\$0\.525/)
    await type('W')
    expect(text()).toContain('Only money held for a job can be refunded.')
  })

  it('is audited when asked for, and only then', async () => {
    const checks = [{ name: 'sum', ok: true, detail: '' }]
    const { type, text, link, advance } = await money({ [AUDIT]: { ok: true, transactions: 7, checks } })
    await advance(30_000)
    expect(link.calls.filter(({ path }) => path.endsWith('/audit'))).toEqual([])
    await type('a')
    expect(text()).toContain('✓ The books add up: 1 checks over 7 transactions.')
    link.answers[AUDIT] = { ok: false, checks: [...checks, { name: 'escrow', ok: false, detail: 'off by $0.01' }] }
    await type('a')
    expect(text()).toContain('✗ The books do not add up.  → souk money audit   escrow: off by $0.01')
  })
})
