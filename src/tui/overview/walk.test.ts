import { afterEach, describe, expect, it } from 'vitest'
import examples from '../../api/answer-examples.json' with { type: 'json' }
import { type Opened, type OpenOptions, openOn, sse } from '../cockpit.testkit.tsx'
import { market } from '../fixtures.testkit.ts'
import { jobId } from '../jobs/jobs.testkit.ts'

/* Tab walks the panels of the first screen; what the keys are for is to be seen, and nothing else is acted on. */

let open: Opened | undefined
afterEach(() => open?.close())

const ATTENTION = 'GET /dashboard/api/admin/attention'
const RECEIPT = 'rcp_0000000000000001'
const [TAB, BACK_TAB, ENTER, ESC, DOWN] = ['\t', '\u001B[Z', '\r', '\u001B', '\u001B[B']

async function overview(columns = 160, rows = 50) {
  const link = market()
  const opened = await openOn({ link, columns, rows })
  open = opened
  await opened.advance(1_000)
  const panel = () => opened.host.ui.get().panel
  const to = async (name: string) => {
    for (let i = 0; i < 10 && panel() !== name; i += 1) await opened.type(TAB)
    expect(panel()).toBe(name)
  }
  return { ...opened, link, panel, to, screen: () => opened.host.ui.get().screen }
}

describe('tab on the first screen', () => {
  it.each([
    [160, 50, ['calls', 'live', 'money', 'pulse', 'work', 'crons', 'needs']],
    [100, 30, ['live', 'money', 'pulse', 'work', 'crons', 'needs']],
    [80, 24, ['live', 'money', 'pulse', 'work', 'needs']],
    [60, 18, ['live', 'money', 'work', 'needs']],
  ])('walks what is drawn at %ix%i, and back', async (columns, rows, walked) => {
    const { type, panel, screen, until } = await overview(columns, rows)
    const seen: string[] = []
    for (const _ of walked) {
      await type(TAB)
      seen.push(panel())
    }
    expect(seen).toEqual(walked)
    await type(BACK_TAB)
    expect(panel()).toBe(walked.at(-2))
    await type(ESC)
    // A lone escape is told from the first half of a key by the time after it.
    await until(() => panel() === 'needs')
    expect(screen()).toBe('overview')
  })

  it.each([
    ['money', 'money', 'Money today'],
    ['pulse', 'endpoints', 'Pulse'],
    ['work', 'jobs', 'Work'],
    ['calls', 'endpoints', 'API calls'],
  ])('marks %s, where enter leads to %s', async (panel, screen, title) => {
    const { type, to, text, screen: at } = await overview()
    expect(text()).not.toContain(`▌ ${title}`)
    await to(panel)
    expect(text()).toContain(`▌ ${title}`)
    await type(ENTER)
    expect(at()).toBe(screen)
  })

  it('leads to the chosen cron, and runs it', async () => {
    const { type, to, text, host } = await overview()
    await to('crons')
    await type(DOWN)
    const name = /▌. ([a-z-]+)/.exec(text())?.[1] ?? ''
    expect(name).not.toBe('')
    await type('R')
    expect(host.ui.get().dialog?.spec.about).toBe(name)
    await type(ESC)
    await type(ENTER)
    expect([host.ui.get().screen, host.ui.get().chosen.crons]).toEqual(['crons', name])
  })
})

describe('the live feed', () => {
  it('keeps the chosen event while others come, and leads to what it is about', async () => {
    const { type, to, link, text, host, until, copied } = await overview()
    link.tell(sse(7, 'job.created', { subject: jobId(1) }) + sse(8, 'job.completed', { subject: jobId(2) }))
    await until(() => text().includes(jobId(2)))
    await to('live')
    await type(DOWN)
    link.tell(sse(9, 'job.verified', { subject: jobId(3) }))
    await until(() => text().includes(jobId(3)))
    expect(text()).toMatch(new RegExp(`▌.*${jobId(1)}`))
    await type('y')
    expect(copied).toEqual([jobId(1)])
    await type(ENTER)
    const { screen, jobView, filters } = host.ui.get()
    expect([screen, jobView, filters.jobs]).toEqual(['jobs', 'all', `id:${jobId(1)}`])
  })

  it.each([
    ['thr_0000000000000001', 'threads'],
    ['svc_0000000000000001', 'services'],
    ['post_0000000000000001', 'requests'],
    ['p_0000000000000001', 'people'],
  ] as const)('leads from %s to %s', async (subject, screen) => {
    const { type, to, link, text, host, until } = await overview()
    link.tell(sse(7, 'some.thing', { subject }))
    await until(() => text().includes(subject))
    await to('live')
    await type(ENTER)
    expect([host.ui.get().screen, host.ui.get().filters[screen]]).toEqual([screen, `id:${subject}`])
  })

  it('says so where nothing more is to be seen', async () => {
    const { type, to, text } = await overview()
    await to('live')
    await type(ENTER)
    expect(text()).toContain('✗ Nothing has happened yet.')
  })
})

it.each([
  ['journal', 'journal', 'souk doctor'],
  ['disk', 'disk', 'souk doctor --only disk'],
  ['engine', 'engine node', 'souk doctor --only engines'],
  ['chain', 'chain silent', 'souk chain status'],
  ['reversed', RECEIPT, 'souk crons run auto-refund'],
] as const)('leads from a problem of the kind %s to what its command shows', async (kind, subject, fix) => {
  const words = subject === RECEIPT ? ['why', RECEIPT] : fix.split(' ').slice(1)
  const ran: (readonly string[])[] = []
  const commandLine: OpenOptions['commandLine'] = {
    commands: ['doctor', 'chain status', 'why', 'crons run'].map((name) => ({ name, summary: '' })),
    split: (line) => line.split(' '),
    complete: async () => [],
    async run(line) {
      ran.push(line)
      return { ok: true, value: 'so it stands' }
    },
  }
  const { items, counts } = examples.getAttention.answer
  const one = { ...items[0], kind, subject: { kind, id: subject }, fix, amount: null }
  const none = Object.fromEntries(Object.keys(counts).map((name) => [name, 0]))
  const told = { items: [one], counts: { ...none, [kind]: 1 }, total: 1 }
  open = await openOn({ link: market({ [ATTENTION]: told }), columns: 120, rows: 40, commandLine })
  await open.advance(1_000)
  await open.type(ENTER)
  await open.until(() => open?.text().includes('so it stands') === true)
  expect(ran).toEqual([[...words, '--no-input']])
})

it('mends nothing and puts nothing off while another panel is walked', async () => {
  const { type, to, text, host } = await overview()
  await to('money')
  for (const key of ['D', 'R', 'T', 'W', 'x']) {
    await type(key)
    expect(host.ui.get().dialog).toBeUndefined()
    expect(host.ui.get().picker).toBeUndefined()
    expect(text()).toContain('✗ First select the open problems: press tab.')
    await type(ESC)
  }
  expect(host.ui.get().panel).toBe('money')
})
