import { afterEach, describe, expect, it } from 'vitest'
import { widthOf } from '../../text/text.ts'
import { type Opened, type OpenOptions, openOn, sse } from '../cockpit.testkit.tsx'
import { market } from '../fixtures.testkit.ts'
import { job } from '../jobs/jobs.testkit.ts'
import { catalogOf, delivery, listing, OWN, selling, trusted } from './services.testkit.ts'

let open: Opened | undefined

afterEach(() => {
  open?.close()
  open = undefined
})

const first = listing(1).id
const TEST = `POST /v1/services/${first}/test`

function shop(more: Record<string, unknown> = {}) {
  return market({
    'GET /dashboard/api/admin/services': catalogOf(120),
    [`GET /v1/services/${first}`]: listing(1, trusted({ verdict: 'withheld', level: 0, level_name: 'indexed' })),
    'GET /dashboard/api/admin/webhooks': {
      deliveries: [
        delivery(first, 'pending', [502, null]),
        delivery(first, 'delivered', [200]),
        delivery('svc_00000000000000ff', 'dead', [500]),
      ],
    },
    ...more,
  })
}

/** Opened, and looked at long enough that the chosen listing was asked for. */
async function services(options: Partial<OpenOptions> = {}): Promise<Opened> {
  open = await openOn({ link: shop(), screen: 'services', ...options })
  await open.advance(1_000)
  return open
}

const trimmed = (rows: readonly string[]) => rows.map((row) => row.trimEnd())

describe('services', () => {
  it('are listed with the chosen one below, at 80 x 24', async () => {
    const { rows } = await services()
    expect(trimmed(rows().slice(2, 8))).toEqual([
      `─ Services ${'─'.repeat(42)} 1 to 50 of 120  / filter ─`,
      ' [services 120]  plans  subscriptions  requests  products     most sold  s sort',
      '  NAME            PROVIDER  KIND  BUYER PAYS  REP      SOLD 7D  ENDPOINT',
      '▌ Translation 1   Lingua    auto     $0.2625   71  184 ▅▇▇▇▆▇▆  ✗ 502 ×16',
      '  Translation 2   Lingua    auto     $0.2625   71  184 ▅▇▇▇▆▇▆  ✗ 502 ×16',
      '  Translation 3   Lingua    auto     $0.2625   71  184 ▅▇▇▇▆▇▆  ✗ 502 ×16',
    ])
    expect(trimmed(rows().slice(16, 23))).toEqual([
      '─ svc_0000000000000001 ────────────── [about]  schema  deliveries  sales  json ─',
      ' provider  Lingua p_4b7000000000beef email_verified',
      ' standing  rated 71   trust withheld, level 0 indexed',
      ' price     buyer pays $0.2625   provider gets $0.25   platform $0.0125 (5%)',
      ' input     text* (max 50,000)  target (de|fr)',
      ' result    translation* ({ text })',
      ' webhook   ✗ failing   newest first connect ECO… 200   last 3m ago',
    ])
  })

  it('have tabs for schema, deliveries, sales and JSON, beside the list where there is room', async () => {
    const link = shop()
    const sales = { jobs: [job(1, 'released'), job(2, 'disputed')], total: 2, limit: 30, offset: 0 }
    link.answers['GET /dashboard/api/admin/jobs'] = sales
    const { rows, type, text, advance } = await services({ link, columns: 160, rows: 40 })
    const drawer = () =>
      trimmed(
        rows()
          .slice(3, 12)
          .map((row) => row.slice(101)),
      )
    expect(rows()[2]).toMatch(/ 1 to 50 of 120 {2}\/ filter ─┬─ svc_0000000000000001 ─+ enter whole screen ─$/)
    expect(drawer()[0]).toBe(' [about]  schema  deliveries  sales  json               ←→')
    expect(text()).toMatch(/NAME +PROVIDER +KIND +BUYER PAYS +REP +SOLD 7D +REFUND +ENDPOINT +│/)
    expect(text()).toMatch(/184 ▅▇▇▇▆▇▆ +2\.7 % +✗ 502 ×16/)
    await type('\u001B[C')
    expect(drawer()[0]).toContain('[schema]')
    expect(drawer()[1]).toMatch(/^ input +text\* +string {2}max 50,000/)
    await type('\u001B[C')
    expect(drawer()[1]).toMatch(/^ webhook +✗ failing/)
    await type('\u001B[C')
    await advance(1_000)
    expect(link.calls.map(({ query }) => query?.filter)).toContain('service:svc_0000000000000001')
    expect(drawer()[1]).toBe(' 7 days    184 sold ▅▇▇▇▆▇▆   5 refunded')
    expect(drawer()[2]).toMatch(/^ ✓ paid +Bot7 +\$0\.525 +\d+m$/)
    expect(drawer()[3]).toMatch(/^ \? disputed +Bot7 +\$0\.525 +\d+m$/)
    await type('\u001B[C')
    expect(drawer()[1]).toContain('{')
    await type('\u001B[C')
    expect(drawer()[0]).toContain('[about]')
  })

  it.each([
    [60, 18],
    [80, 24],
    [100, 30],
  ])('never leave the frame of %i x %i, in full or as JSON', async (columns, height) => {
    const { rows, type } = await services({ columns, rows: height })
    for (const key of ['', '\r', '\r', 'o', 'G']) {
      await type(key)
      expect(rows()).toHaveLength(height)
      for (const row of rows()) expect(widthOf(row)).toBeLessThanOrEqual(columns)
    }
  })

  it('are asked for a page at a time, and never all drawn', async () => {
    const { rows, text, type, link } = await services({ columns: 100, rows: 30 })
    const asked = () =>
      link.calls.filter(({ path }) => path === '/dashboard/api/admin/services').map(({ query }) => query?.offset)
    await type('>')
    expect(rows()[2]).toContain(' 51 to 100 of 120 ')
    await type('>>')
    expect(rows()[2]).toContain(' 101 to 120 of 120 ')
    expect(text()).not.toContain('svc_0000000000000100')
    await type('<')
    expect(asked().filter(Number)).toEqual(['50', '100', '50'])
    expect(text().match(/^. Translation/gm)?.length).toBeLessThan(20)
  })

  it('are searched by the instance, once the typing stops', async () => {
    const { type, rows, link, advance } = await services()
    const asked = () =>
      link.calls.filter(({ path }) => path === '/dashboard/api/admin/services').map(({ query }) => query?.filter)
    await type('>/')
    await type('7')
    await type('7')
    await type(' !177 kind:automated')
    expect(asked()).not.toContain('7')
    await advance(1_000)
    expect(asked().filter(Boolean)).toEqual(['77 !177 kind:automated'])
    expect(rows()[3]).toMatch(/^ \[services 120\] {3}\/77 !177 kind:automated▏/)
    expect(rows()[2]).toContain(' 1 of 1 ')
  })

  it('are sorted by the instance', async () => {
    const { type, rows, link } = await services()
    await type('ssssssssr')
    expect(rows()[3]).toContain('by price ↓')
    expect(link.calls.findLast(({ path }) => path === '/dashboard/api/admin/services')?.query).toMatchObject({
      sort: '-price',
    })
  })

  it('open in full and as JSON, scroll, and close with esc', async () => {
    const { type, text, rows, until } = await services()
    await type('\r')
    expect(text()).toContain('Translates a text.')
    expect(text()).toMatch(/● job\.dispatched +3m ago +2 tries +connect ECO… {2}http:\/\/127\.0\.0\.1:9/)
    await type('e')
    expect(rows()[3]?.trimEnd()).toBe(' {')
    expect(rows()[2]).toMatch(/1-20 of \d+ ─$/)
    await type('jj')
    expect(rows()[3]).toContain('"service_id": "svc_0000000000000001",')
    await type('\u001B')
    await until(() => text().includes('newest first'))
    expect(rows()[5]).toMatch(/^▌ Translation 1 /)
  })

  it('show what strangers wrote without what a terminal would act upon', async () => {
    const name = 'Nice \u001B[2Jname\u202E\nhere'
    const nasty = listing(1, { name, description: name, input_schema: { properties: { [name]: { enum: [name] } } } })
    const { type, text } = await services({
      link: shop({
        'GET /dashboard/api/admin/services': { total: 1, limit: 50, offset: 0, services: [selling(nasty)] },
        [`GET /v1/services/${first}`]: nasty,
      }),
    })
    for (const key of ['', '\r', 'e']) {
      await type(key)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
      expect(text().replaceAll('\n', '')).not.toMatch(/[\u0000-\u001F\u202E]/)
    }
    expect(text()).toContain('Nice \\u001b[2Jname\uFFFD\\nhere')
  })

  it('follow the event stream and ask no more often than its hints allow', async () => {
    const { link, tell, advance } = await services()
    const asked = () => link.calls.filter(({ path }) => path === '/dashboard/api/admin/services').length
    const before = asked()
    for (let i = 1; i <= 20; i += 1) await tell(sse(i, 'service.updated', { subject: first }))
    await advance(3_000)
    expect(asked() - before).toBeLessThanOrEqual(2)
    expect(asked()).toBeGreaterThan(before)
  })
})

describe('the test of a webhook', () => {
  it('is for the provider alone, who is told how to be it', async () => {
    const { type, text, link } = await services()
    await type('T')
    expect(text()).toContain('✗ Only its provider may test a webhook.  → souk tui services --as WALLET')
    expect(link.calls.filter(({ method }) => method === 'POST')).toEqual([])
  })

  const own = async (answer: unknown) => {
    const link = shop({ [TEST]: answer })
    link.me = OWN
    return services({ link })
  }

  it('is confirmed first, and told as a message', async () => {
    const { type, text, link } = await own({ delivered: true, status: 200, latency_ms: 12 })
    await type('T')
    expect(text()).toContain('TEST A WEBHOOK')
    expect(text()).toContain('[>Cancel  esc ]')
    expect(text()).toContain(`same as  souk services test ${first}`)
    await type('y')
    expect(link.calls.filter(({ method }) => method === 'POST')).toMatchObject([{ opens: 'key' }])
    expect(text()).toContain('The endpoint accepted it: HTTP 200 in 12 ms.')
  })

  it('tells what came back when it was not taken, and what to do', async () => {
    const { type, text, advance } = await own({
      delivered: false,
      status: null,
      latency_ms: 3,
      error: 'refused\u001B[2J',
    })
    await type('Ty')
    await advance(60_000)
    expect(text()).toContain(`✗ Not taken: no answer in 3 ms: refused\uFFFD[2J  → souk services edit`)
  })

  it('is offered in the key row to its provider alone', async () => {
    const { rows } = await services()
    expect(rows().at(-1)).not.toContain('T test hook')
    open?.close()
    const mine = await own({})
    expect(mine.rows().at(-1)).toContain('T test hook')
  })

  it('is not there in a read-only cockpit', async () => {
    const { type, text } = await services({ readonly: true })
    await type('T')
    expect(text()).not.toContain('Only its provider')
    expect(text()).not.toContain('test hook')
  })
})

describe('e on a listing', () => {
  const differences = [['price', '0.50 → 0.75']] as const
  const edited = { body: { price: 0.75 }, settings: ['price=0.75'], differences }
  const PUT = `PUT /v1/services/${first}`
  const mine = (edit: OpenOptions['edit'], more: Partial<OpenOptions> = {}) => {
    const link = shop({ [PUT]: {} })
    link.me = OWN
    return services({ link, ...(edit === undefined ? {} : { edit }), ...more })
  }

  it("of one's own asks about what the editor saved, and sends just that", async () => {
    const { type, text, link, rows } = await mine(async () => ({ ok: true, value: edited }))
    expect(rows().at(-1)).toContain('e edit')
    await type('e')
    expect(text()).toMatch(/CHANGE A LISTING[\s\S]*price +0\.50 → 0\.75/)
    expect(text()).toContain(`same as  souk services edit ${first} --set price=0.75`)
    expect(link.calls.filter(({ method }) => method === 'PUT')).toEqual([])
    await type('y')
    expect(link.calls.filter(({ method }) => method === 'PUT')).toMatchObject([{ body: { price: 0.75 }, opens: 'key' }])
  })

  it('that was not changed asks nothing and says so', async () => {
    const sentence = 'Nothing was changed.'
    const problem = { kind: 'failed', sentence, facts: [], next: [] } as const
    const { type, text, host } = await mine(async () => ({ ok: false, problem }))
    await type('e')
    expect(host.ui.get().dialog).toBeUndefined()
    expect(text()).toContain(sentence)
  })

  it.each([
    ['of another', {}, undefined],
    ['in a read-only cockpit', { readonly: true }, OWN],
  ])('%s opens no editor: it is JSON', async (_which, more, me) => {
    const link = shop()
    link.me = me
    const { type, text } = await services({ link, edit: () => Promise.reject(new Error('opened')), ...more })
    await type('e')
    expect(text()).toContain(`"service_id": "${first}"`)
    expect(text()).not.toContain('e edit')
  })
})
