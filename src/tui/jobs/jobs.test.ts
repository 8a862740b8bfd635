import { afterEach, describe, expect, it } from 'vitest'
import { widthOf } from '../../text/text.ts'
import { type Opened, type OpenOptions, openOn, sse } from '../cockpit.testkit.tsx'
import { market } from '../fixtures.testkit.ts'
import { bundle, job, jobId, jobsOf } from './jobs.testkit.ts'

let open: Opened | undefined

afterEach(() => {
  open?.close()
  open = undefined
})

const disputed = job(1, 'disputed')
const all = [
  disputed,
  job(2, 'dispatched'),
  job(3, 'dispatched', { deadline_at: '2026-11-21T14:00:00.000Z' }),
  job(4, 'completed'),
  job(5, 'completed', {
    escrow: { status: 'held', held_at: null, next_event: 'verify', next_event_at: '2026-11-21T14:00:07.000Z' },
  }),
  job(6, 'refunded'),
  job(7, 'failed'),
  job(8, 'expired'),
]
const LIST = '/dashboard/api/admin/jobs'
const RESOLVE = `POST ${LIST}/${jobId(1)}/resolve`

function trade(more: Record<string, unknown> = {}) {
  return market({
    [`GET ${LIST}`]: jobsOf(all),
    [`GET ${LIST}/${jobId(1)}/bundle`]: bundle(disputed),
    ...more,
  })
}

/** Opened, and looked at long enough that the chosen job was asked for. */
async function jobs(options: Partial<OpenOptions> = {}): Promise<Opened> {
  open = await openOn({ link: trade(), screen: 'jobs', ...options })
  await open.advance(1_000)
  return open
}

const trimmed = (rows: readonly string[]) => rows.map((row) => row.trimEnd())
const RIGHT = '\u001B[C'
const LEFT = '\u001B[D'

describe('jobs', () => {
  it('that are open are listed with the chosen one below, at 80 x 24', async () => {
    const { rows } = await jobs()
    expect(trimmed(rows().slice(2, 16))).toEqual([
      `─ Jobs ${'─'.repeat(54)} 4 of 4  / filter ─`,
      ' [open 4]  late  disputed 1  done  failed  all              worst first  s sort',
      '  STATE        SERVICE       BUYER  → PROVIDER  AMOUNT  AGE  LEFT',
      '▌ ? disputed   Proofreading  Bot7   → Inkwell   $0.525   1m     —',
      '  ● sent       Proofreading  Bot7   → Inkwell   $0.525   2m    1h',
      '  ! overdue    Proofreading  Bot7   → Inkwell   $0.525   3m    1h',
      '  ? delivered  Proofreading  Bot7   → Inkwell   $0.525   5m   -3m',
      '─ job_0000000000000001 ───────── [story]  input  result  messages  money  json ─',
      ' Bot7 → Inkwell  paid x402  held, waits for a ruling',
      ' 14:00:07  paid        0.525 USDC by x402',
      ' 14:02:07  ? disputed  Half of it is missing',
      ' now       ○ waits     for a ruling by the operator',
      ' held $0.525   release pays $0.50, fee $0.025   refund gives $0.525',
      '',
    ])
  })

  it('name who bought of whom at 100 x 30, and of an instance that names nobody who goes by what', async () => {
    const { rows } = await jobs({ columns: 100, rows: 30 })
    expect(rows()[4]).toMatch(/STATE +SERVICE +BUYER +→ PROVIDER +AMOUNT +AGE +LEFT +JOB/)
    expect(rows()[5]).toMatch(/Proofreading +Bot7 +→ Inkwell +\$0\.525 .*job_0000000000000001/)
    open?.close()
    const old = all.map(({ about: _, late: __, ...one }) => one)
    const { rows: before } = await jobs({ link: trade({ [`GET ${LIST}`]: jobsOf(old) }), columns: 100, rows: 30 })
    expect(before()[5]).toMatch(/0x1f00…0088 +→ p_4b7000000000…/)
  })

  it('lie beside what a ruling does, and over what happens to them, at 160 x 40', async () => {
    const { rows, tell } = await jobs({ columns: 160, rows: 40 })
    const about = { service: 'Proofreading', buyer: 'Bot7', provider: 'Inkwell', amount: '0.525', method: 'x402' }
    await tell(sse(1, 'job.disputed', { about, subject: jobId(1) }))
    await tell(sse(2, 'service.updated', { about, subject: 'svc_0000000000000001' }))
    const right = rows().map((row) => row.slice(101).trimEnd())
    expect(right.slice(2, 8)).toEqual([
      `─ ${jobId(1)} ${'─'.repeat(15)} enter whole screen ─`,
      ' [story]  input  result  messages  money  json          ←→',
      ' Proofreading  ? disputed for 1m 1s  $0.525',
      ' bought  Bot7    0x1f00000000000000000000000000000000000088',
      ' sold    Inkwell p_4b7000000000beef',
      ' paid    by x402  held, waits for a ruling',
    ])
    expect(right.join('\n')).toContain(
      [
        ' now       ○ waits     for a ruling by the operator',
        '',
        ' ── what each ruling does ──',
        ' buyer paid    $0.525  $0.50 + $0.025 fee',
        ` held          $0.525  ${'━'.repeat(18)}`,
        ' release pays  $0.50  Inkwell, fee $0.025',
        ' refund gives  $0.525  back to Bot7',
        '',
        ' D decide   e json   c copy command',
        ` souk admin jobs resolve ${jobId(1)}`,
      ].join('\n'),
    )
    const feed = rows().findIndex((row) => row.startsWith('─ Live, jobs only'))
    expect(rows().length - feed).toBe(7)
    expect(rows()[feed + 1]).toContain('Bot7 disputes Proofreading by Inkwell')
    expect(rows()[feed + 2]?.slice(0, 100).trim()).toBe('')
  })

  it.each([
    [60, 18],
    [80, 24],
    [100, 30],
  ])('never leave the frame of %i x %i on any tab', async (columns, height) => {
    const { rows, type } = await jobs({ columns, rows: height })
    for (const key of ['', RIGHT, RIGHT, RIGHT, RIGHT, RIGHT, '\r', RIGHT, 'o', 'G']) {
      await type(key)
      expect(rows()).toHaveLength(height)
      for (const row of rows()) expect(widthOf(row)).toBeLessThanOrEqual(columns)
    }
  })

  it('are seen by view: what was paid back for failure, what is disputed, everything', async () => {
    const { type, rows, text, advance } = await jobs()
    await type('v')
    expect(rows()[3]).toMatch(/^ open {2}\[late 1\] {2}disputed 1 /)
    expect(rows()[5]).toMatch(/^▌ ! overdue /)
    await type('v')
    expect(rows()[3]).toMatch(/ \[disputed 1\] /)
    await type('v')
    expect(rows().slice(5, 7)).toEqual([expect.stringMatching('▌ ✓ delivered'), expect.stringMatching('  . delivered')])
    await type('v')
    expect(
      rows()
        .slice(5, 8)
        .map((row) => row.slice(2, 12)),
    ).toEqual(['↩ refunded', '✗ failed  ', '× expired '])
    await type('v')
    expect(rows()[2]).toContain(' 8 of 8 ')
    expect(rows()[3]).toMatch(/ \[all 8\] /)
    await type('/nobody\r')
    await advance(500)
    expect(text()).toContain('no such job')
  })

  it('are asked for a page at a time, and never all drawn', async () => {
    const many = Array.from({ length: 130 }, (_, i) => job(i + 1, 'released'))
    const { type, rows, link, text } = await jobs({ link: trade({ [`GET ${LIST}`]: jobsOf(many) }) })
    await type('vvvvv')
    await type('>>>')
    expect(rows()[2]).toContain('101 to 130 of 130')
    expect(link.calls.findLast(({ path }) => path === LIST)?.query).toEqual({
      limit: '50',
      offset: '100',
      sort: 'worst',
    })
    expect(text().match(/^. ✓ paid/gm)?.length).toBeLessThan(20)
  })

  it('tell all about the chosen one, tab by tab, without what a terminal would act upon', async () => {
    const { type, text } = await jobs()
    await type(RIGHT)
    expect(text()).toMatch(/✓ matches the schema of the listing.*"text": "all of it"/s)
    await type(RIGHT)
    expect(text()).toMatch(/✗ \/text is short.*"text": "half"/s)
    await type(RIGHT)
    expect(text()).toContain('14:02:07  buyer  Where is \uFFFD[2J the rest?\uFFFD')
    await type(RIGHT)
    expect(text()).toMatch(/buyer paid \$0\.525 by x402.*escrow_hold {2}-\$0\.525 ext {2}\$0\.525 esc/s)
    await type(RIGHT)
    expect(text()).toContain('"generated_at": "2026-11-21T14:03:07.000Z"')
    await type(RIGHT + LEFT)
    expect(text()).toContain('[json]')
    await type('\r')
    expect(text()).toMatch(/1-19 of \d+/)
    await type('G')
    expect(text()).toMatch(/^ }\s*$/m)
  })

  it('ask for one job when the cursor stands, not for each it walks over', async () => {
    const { type, link, advance } = await jobs()
    const before = link.calls.filter(({ path }) => path.endsWith('/bundle')).length
    await type('jjjkkjj')
    await advance(1_000)
    expect(link.calls.filter(({ path }) => path.endsWith('/bundle')).slice(before)).toMatchObject([
      { path: `${LIST}/${jobId(5)}/bundle` },
    ])
  })

  it('are one’s own where there is no admin credential', async () => {
    const link = trade({
      'GET /v1/jobs': jobsOf([disputed]),
      [`GET /v1/jobs/${jobId(1)}`]: bundle(disputed).job,
      [`GET /v1/jobs/${jobId(1)}/messages`]: bundle(disputed).thread,
    })
    link.admin = false
    const { rows, text, type, advance } = await jobs({ link })
    await advance(1_000)
    expect(rows()[3]).toMatch(/^ \[open 1\].* own jobs /)
    await type(RIGHT + RIGHT + RIGHT)
    expect(text()).toContain('the rest?')
    expect(
      link.calls
        .filter(({ path }) => path.startsWith('/v1/jobs'))
        .every(({ opens }) => opens === 'key' || opens === 'key_or_paid'),
    ).toBe(true)
    await type('D')
    expect(text()).toContain('✗ There is no admin credential for local')
  })
})

describe('the ruling', () => {
  const posts = () => open?.link.calls.filter(({ method }) => method === 'POST') ?? []

  it('wants an outcome and a reason, asks first, and tells who got what', async () => {
    const link = trade({ [RESOLVE]: { ...disputed, status: 'refunded' } })
    const { type, text } = await jobs({ link, columns: 140 })
    await type('D')
    expect(text()).toContain('Decide – needs an outcome')
    expect(text()).toContain('quality: "Half of it is missing"')
    await type('r')
    expect(text()).toMatch(/\[refund\] +Bot7 gets \$0\.525 back/)
    expect(text()).toMatch(/release +Inkwell gets \$0\.50, fee \$0\.025/)
    await type("\r\rit's not there\r")
    expect(text()).toContain('[>Cancel  esc ]')
    expect(text()).toContain(
      `same as  souk admin jobs resolve ${jobId(1)} --outcome refund --reason 'it'\\''s not there'`,
    )
    await type('\r')
    expect(posts()).toEqual([])
    await type('D1late\ry')
    expect(posts()).toMatchObject([{ opens: 'admin', body: { outcome: 'refund', reason: 'late' } }])
    expect(posts()[0]?.body).not.toHaveProperty('buyer_amount')
    expect(text()).toContain('Now refunded: Bot7 gets $0.525 back.  → v all, tab money')
  })

  it.each([
    ['s', '', 'needs 0 to $0.525'],
    ['s', '0.53', 'needs 0 to $0.525'],
    ['s', 'half', 'needs 0 to $0.525'],
    ['l', '', 'needs an outcome'],
    ['r', '0.1', 'only a split takes an amount'],
  ])('of %j with %j is locked: %s', async (outcome, amount, why) => {
    const { type, text } = await jobs()
    await type(`D${outcome}\r${amount}\rwhy\ry`)
    expect(text()).toContain(why)
    expect(posts()).toEqual([])
  })

  it('divides to the micro-dollar', async () => {
    const link = trade({ [RESOLVE]: { ...disputed, status: 'released' } })
    const { type, text } = await jobs({ link })
    await type('Ds\r$0.000001\rwhy\ry')
    expect(posts()).toMatchObject([{ body: { outcome: 'split', buyer_amount: '0.000001', reason: 'why' } }])
    expect(text()).toContain('Now released: Bot7 gets $0.000001, Inkwell $0.499999, fee $0.025.')
  })

  it('stays with the error when it is refused', async () => {
    const problem = { kind: 'failed', sentence: 'The job was decided.', facts: [], next: ['souk jobs view'] } as const
    const { type, text } = await jobs({ link: trade({ [RESOLVE]: () => ({ ok: false, problem }) }) })
    await type('Dr\r\rwhy\ry')
    expect(text()).toContain('✗ The job was decided.')
    expect(text()).toContain('DECIDE A DISPUTE')
  })

  it('is for a dispute only, and not in a read-only cockpit', async () => {
    const { type, text } = await jobs()
    await type('jD')
    expect(text()).toContain(`✗ ${jobId(2)} is dispatched: a ruling needs a dispute.  → v disputed`)
    open?.close()
    const looking = await jobs({ readonly: true })
    await looking.type('D')
    expect(looking.text()).not.toContain('DECIDE')
  })
})
