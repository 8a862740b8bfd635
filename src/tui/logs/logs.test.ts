import { afterEach, describe, expect, it } from 'vitest'
import examples from '../../api/answer-examples.json' with { type: 'json' }
import { type FakeLink, type LinkCall, type Opened, type OpenOptions, openOn } from '../cockpit.testkit.tsx'
import { market } from '../fixtures.testkit.ts'
import { askedWord, type SeenRequest } from './requests.ts'

/* Logs: each view lists what its name says, a 402 and what paid it are one row, and stories are counted in sight. */

let open: Opened | undefined
afterEach(() => {
  open?.close()
  open = undefined
})

const NOTHING: SeenRequest = {
  id: 'req_0000000000000000',
  request_id: 'req_0000000000000000',
  at: '2026-11-21T14:02:50.104Z',
  method: 'POST',
  path: '/v1/services/svc_0000000000000001/purchase',
  endpoint: 'purchaseService',
  status: 200,
  ms: 31,
  caller: 'p_0123456789abcdef',
  name: 'Bot7',
  code: null,
  price: null,
  receipt_id: null,
  job_id: null,
  service: null,
  offer_id: null,
  steps: null,
  remembered: 'whole',
}
const idOf = (n: number) => `req_${String(n).padStart(16, '0')}`
const asked = (n: number, what: Partial<SeenRequest>): SeenRequest => ({
  ...NOTHING,
  id: idOf(n),
  request_id: idOf(n),
  ...what,
})

const receipt_id = 'rcp_0000000000000001'
const priced = { price: '0.525' }
const day = [
  asked(1, { status: 402, code: 'payment_required', ...priced }),
  asked(2, { ...priced, receipt_id, offer_id: idOf(1) }),
  asked(3, { status: 402, code: 'insufficient_funds', ...priced }),
  asked(4, { status: 402, code: 'payment_required', ...priced }),
  asked(5, { method: 'POST', path: '/dashboard/api/admin/crons/x/run', endpoint: 'runCron', caller: 'admin' }),
  asked(6, { method: 'GET', path: '/dashboard/api/admin/jobs', endpoint: 'listAllJobs', caller: 'admin' }),
  asked(7, { status: 502, code: 'provider_failed', receipt_id, ...priced }),
  asked(8, { method: 'GET', path: '/v1/services/catalog', endpoint: 'getCatalog' }),
]

const idsOf = ({ query }: LinkCall) => (query?.request === undefined ? undefined : String(query.request).split(','))
const LIST = 'GET /dashboard/api/admin/requests'

function linkOf(requests: readonly SeenRequest[], more: Parameters<typeof market>[0] = {}): FakeLink {
  return market({
    [LIST]: (call: LinkCall) => {
      const ids = idsOf(call)
      const found = ids === undefined ? requests : requests.filter(({ id }) => ids.includes(id))
      const told = found.map((one) => ({ ...one, steps: ids === undefined ? null : Number(one.id.slice(-3)) }))
      return { ok: true, value: { requests: told, next_cursor: '1' } }
    },
    ...more,
  })
}

async function logs(options: Partial<OpenOptions> = {}): Promise<Opened> {
  open = await openOn({ screen: 'logs', link: linkOf(day), columns: 120, rows: 40, ...options })
  await open.advance(1_000)
  return open
}

describe('a view', () => {
  it.each([
    ['requests', '', [8, 7, 5, 4, 3, 2]],
    ['paid', 'v', [2]],
    ['refused', 'vv', [7, 3]],
    ['admin', 'vvvvv', [5]],
  ] as const)('%s lists what its name says, the newest first', async (view, keys, wanted) => {
    const { type, host, text } = await logs()
    await type(keys)
    expect(text()).toContain(`[${view}]`)
    expect(host.face.current.ids).toEqual(wanted.map(idOf))
  })

  it('webhooks lists the messages to endpoints', async () => {
    const { answer } = examples.getWebhooks
    const link = linkOf(day, { 'GET /dashboard/api/admin/webhooks': answer })
    const { type, host, advance, text } = await logs({ link })
    await type('vvv')
    await advance(1_000)
    const { deliveries } = answer
    expect(host.face.current.ids).toEqual(deliveries.map(({ id }) => id))
    expect(text()).toMatch(/STATE +TIME +EVENT +TO +ANSWER/)
  })

  it('crons lists the runs of all crons, and everything the log with its level', async () => {
    const { type, host, text, advance } = await logs()
    await type('vvvv')
    await advance(1_000)
    const runs = host.face.current.ids
    expect(runs.length).toBeGreaterThan(0)
    expect(text()).toMatch(/TIME +WHAT +CRON +TOOK +BY/)
    await type('l')
    expect(text()).toContain('✗ Only the view everything has log levels: press v until it is shown.')
    await type('vv')
    expect(text()).toContain('[everything]   level info or above')
    await type('v')
    expect(text()).toContain('[requests]')
  })

  it.each([
    ['', 'no requests yet'],
    ['v', 'no paid requests yet: a buyer pays with souk buy SERVICE'],
    ['vv', 'no refused requests: '],
    ['vvv', 'no deliveries yet: participants with a webhook URL get them: souk account edit --webhook URL'],
    ['vvvvv', 'no changes by the operator yet: capital keys'],
  ])('that has nothing says so in a sentence: %j', async (keys, sentence) => {
    const none = { ...examples.getWebhooks.answer, deliveries: [], total: 0 }
    const { type, text, advance } = await logs({ link: linkOf([], { 'GET /dashboard/api/admin/webhooks': none }) })
    await type(keys)
    await advance(1_000)
    expect(text()).toContain(` ${sentence}`)
    await type('/no-such-thing\r')
    await advance(1_000)
    expect(text()).toContain('nothing matches the filter: esc clears it')
  })
})

describe('a 402 and the try that paid it', () => {
  it('are one row, and the 402 alone where its try is not looked for', async () => {
    const { type, host, text } = await logs()
    expect(host.face.current.ids).not.toContain(idOf(1))
    expect(text()).toMatch(/─ 6 of 6 /)
    await type('/status:402\r')
    expect(host.face.current.ids).toEqual([4, 3, 1].map(idOf))
  })
})

it('a request names the service that it is about, not only a path', async () => {
  const bought = asked(1, { service: 'Site audit' })
  open = await openOn({ link: linkOf([bought, asked(2, {})]), screen: 'logs', columns: 80, rows: 24 })
  await open.advance(1_000)
  expect(open.text()).toMatch(/SERVICE/)
  expect(open.text()).toMatch(/● bought +Site audit /)
  await open.type('/service:audit')
  await open.advance(1_000)
  expect(open.text()).toContain('1 of 2')
})

describe('steps', () => {
  it('are counted for the rows in sight alone, and stay while others are asked about', async () => {
    const many = Array.from({ length: 300 }, (_, i) => asked(i + 100, {}))
    const link = linkOf(many)
    const { text, type, advance } = await logs({ link, columns: 140, rows: 40 })
    expect(text()).toMatch(/Bot7 +399 steps/)
    const counted = () => link.calls.filter(({ query }) => query?.request !== undefined)
    expect(counted().length).toBeGreaterThan(0)
    for (const call of counted()) expect(idsOf(call)?.length).toBeLessThanOrEqual(50)
    await type('G')
    await advance(1_000)
    expect(text()).toMatch(/Bot7 +100 steps/)
    const told = counted().flatMap((call) => idsOf(call) ?? [])
    expect(new Set(told).size).toBeLessThanOrEqual(100)
  })
})

describe('the drawer', () => {
  it('has a story and JSON, beside the list or in place of it, and stays with its row while others come', async () => {
    const { type, text, host, advance, until } = await logs()
    expect(text()).toContain('[story]  json')
    await type('\u001B[C')
    expect(text()).toContain('"endpoint": "getCatalog"')
    await type('\u001B[D\r')
    expect(host.ui.get()).toMatchObject({ pane: { open: 'full' }, logs: { follow: false }, chosen: { logs: idOf(8) } })
    await type('e')
    await advance(1_000)
    expect(text()).toContain('"request_id": "req_0000000000000008"')
    await type('\u001B')
    await until(() => text().includes('[requests]'))
  })

  it('keeps the trace before, under its own id, until the next one is there', async () => {
    const story = (id: string) => ({ ...examples.getRequestStory.answer, id })
    const { type, text, advance, link } = await logs({
      link: linkOf(day, { [`${LIST}/${idOf(8)}/story`]: story(idOf(8)) }),
    })
    expect(text()).toContain(`─ ${idOf(8)} ─`)
    await type('j')
    expect(text()).not.toContain('asking…')
    expect(text()).toContain(`─ ${idOf(8)} ─`)
    link.answers[`${LIST}/${idOf(7)}/story`] = story(idOf(7))
    await advance(5_000)
    expect(text()).toContain(`─ ${idOf(7)} ─`)
  })

  it('of a line of the log is the line as JSON', async () => {
    const { type, text, advance } = await logs()
    await type('vvvvvv')
    await advance(1_000)
    await type('e')
    expect(text()).toMatch(/"msg": /)
  })

  it('c copies the command that tells the story', async () => {
    const { type, copied, host } = await logs()
    await type('jc')
    expect(copied.at(-1)).toContain(`why ${host.ui.get().chosen.logs}`)
  })
})

describe('what a request did', () => {
  const word = (what: Partial<SeenRequest>) => {
    const piece = askedWord({ ...NOTHING, ...what })
    return typeof piece === 'string' ? piece : piece.text
  }

  it.each([
    [{}, '● bought'],
    [{ endpoint: 'verifyJob' }, '✓ verified'],
    [{ endpoint: 'disputeJob' }, '? disputed'],
    [{ status: 402, code: 'payment_required' }, '? asked to pay'],
    [{ status: 402, code: 'insufficient_funds' }, '! no money'],
    [{ status: 402, code: 'signature_invalid' }, '! not paid'],
    [{ status: 403, code: 'forbidden' }, '× refused'],
    [{ status: 418, code: null }, '× refused'],
    [{ status: 500, code: 'internal' }, '✗ broken'],
    [{ status: null, ms: null }, '● under way'],
    [{ status: null, remembered: 'part' }, '– not known'],
    [{ status: null, remembered: 'part', code: 'refunded' }, '↩ refunded'],
    [{ endpoint: 'getCatalog', method: 'GET' }, '✓ read'],
    [{ endpoint: 'constructor', method: 'toString', code: 'valueOf' }, '✓ done'],
  ] as const)('%j is told as %s', (what, told) => {
    expect(word(what)).toBe(told)
  })
})
