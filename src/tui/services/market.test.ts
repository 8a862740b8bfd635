import { afterEach, describe, expect, it } from 'vitest'
import examples from '../../api/answer-examples.json' with { type: 'json' }
import { widthOf } from '../../text/text.ts'
import { type Opened, type OpenOptions, openOn } from '../cockpit.testkit.tsx'
import { market } from '../fixtures.testkit.ts'

let open: Opened | undefined

afterEach(() => {
  open?.close()
  open = undefined
})

const [plan] = examples.listAllPlans.answer.plans
const [subscription] = examples.listAllSubscriptions.answer.subscriptions
const [posting] = examples.listAllPostings.answer.postings
const [product] = examples.listAllProducts.answer.products
const PATH = '/dashboard/api/admin'
const page = { limit: 50, offset: 0 }

const NAME = 'Nice \u001B[2Jname\u202E'
const id = (prefix: string, n: number) => `${prefix}_${String(n).padStart(16, '0')}`

function offers(more: Record<string, unknown> = {}) {
  const plans = [{ ...plan, id: id('plan', 1), plan_id: id('plan', 1), name: NAME, agent_price: '1050.000001' }]
  const dues = { status: 'past_due', failed_charges: 2, amount: '5.25', ended_at: null, cancel_at_period_end: false }
  const subscriptions = [
    { ...subscription, ...dues, id: id('sub', 1), subscription_id: id('sub', 1), subscriber_name: 'Bot7' },
    { ...subscription, ...dues, id: id('sub', 2), subscription_id: id('sub', 2), cancel_at_period_end: true },
  ]
  const postings = [{ ...posting, id: id('post', 1), posting_id: id('post', 1), status: 'open', budget_min_usd: 1.5 }]
  const products = [{ ...product, id: id('prod', 1), product_id: id('prod', 1), status: 'draft', file: null }]
  return market({
    [`GET ${PATH}/plans`]: { ...page, plans, total: 3 },
    [`GET ${PATH}/subscriptions`]: { ...page, subscriptions, total: 14 },
    [`GET ${PATH}/postings`]: { ...page, postings, total: 2 },
    [`GET ${PATH}/products`]: { ...page, products, total: 6 },
    ...more,
  })
}

async function shop(options: Partial<OpenOptions> = {}): Promise<Opened> {
  open = await openOn({ link: offers(), screen: 'services', columns: 100, rows: 30, ...options })
  await open.advance(1_000)
  return open
}

/** The view that so many steps of `v` lead to. */
async function at(steps: number, options: Partial<OpenOptions> = {}): Promise<Opened> {
  const opened = await shop(options)
  await opened.type('v'.repeat(steps))
  await opened.advance(1_000)
  return opened
}

describe('the views of Services', () => {
  it('are the whole market, each with how much there is of it', async () => {
    const { rows } = await shop()
    expect(rows()[3]).toMatch(
      /^ \[services \d+\] {2}plans 3 {2}subscriptions 14 {2}requests 2 {2}products 6 +most sold/,
    )
  })

  it.each([
    [1, 'plans', /STATE +NAME +BUYER PAYS +SERVICES +PROVIDER +SUBSCRIBERS +AGE/, /\$1050\.000001 a month +\d+ /],
    [2, 'subscriptions', /STATE +PLAN +SUBSCRIBER +PROVIDER +PRICE +PAID +NEXT/, /▌ ! past due .*Bot7 .*\$5\.25/],
    [3, 'requests', /STATE +TITLE +ASKED BY +BUDGET +BIDS +.*NEXT/, /▌ ● open .*\$1\.50 to \$/],
    [4, 'products', /STATE +NAME +PROVIDER +CATEGORY +BUYER PAYS +.*SOLD/, /▌ ○ draft /],
  ] as const)('after %i steps are the %s, with their columns', async (...[steps, name, head, row]) => {
    const { text, rows } = await at(steps)
    expect(rows()[3]).toContain(`[${name} `)
    expect(text()).toMatch(head)
    expect(text()).toMatch(row)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(text().replaceAll('\n', '')).not.toMatch(/[\u0000-\u001F\u202E]/)
  })

  it('say of a subscription that was cancelled that it ends', async () => {
    const { text } = await at(2, { columns: 200, rows: 40 })
    expect(text()).toMatch(/ {2}● ends .*ends in \d|ends, due/)
  })

  it.each([
    [1, 'plans', 'price', 'plans view plan_0000000000000001'],
    [2, 'subscriptions', 'failed', 'admin subs list --filter id:sub_0000000000000001'],
    [3, 'postings', 'bids', 'requests view post_0000000000000001'],
    [4, 'products', 'sold', 'products view prod_0000000000000001'],
  ] as const)(
    'after %i steps are filtered and sorted by the instance, and copied',
    async (...[steps, row, field, command]) => {
      const { type, link, advance, copied, text } = await at(steps)
      const asked = () =>
        link.calls.findLast(({ path, query }) => path === `${PATH}/${row}` && query?.limit === '50')?.query
      await type(`/${field}:>0 !nobody\r`)
      await advance(1_000)
      expect(asked()).toMatchObject({ filter: `${field}:>0 !nobody`, offset: '0' })
      await type('sr')
      await advance(1_000)
      expect(asked()).toMatchObject({ sort: '-id' })
      await type('c')
      expect(copied.at(-1)).toBe(`souk ${command}`)
      await type('vvvvv')
      expect(text()).not.toContain('!nobody')
    },
  )

  it.each([1, 2, 3, 4])('after %i steps have a drawer with a tab for JSON, open whole and as JSON', async (steps) => {
    const { type, text, host, until } = await at(steps)
    const [chosen = ''] = host.face.current.ids
    expect(text()).toMatch(new RegExp(`─ ${chosen} ─+ \\[about\\] {2}json ─`))
    await type('\u001B[C')
    expect(text()).toMatch(new RegExp(`─ ${chosen} ─+ about {2}\\[json\\] ─`))
    expect(text()).toContain(`"id": "${chosen}"`)
    await type('\u001B[D\r')
    expect(text()).toMatch(new RegExp(`─ ${chosen} ─+ esc closes ─`))
    expect(text()).toMatch(/^ name +/m)
    await type('e')
    expect(text()).toContain(`"id": "${chosen}"`)
    await type('\u001B')
    await until(() => text().includes('newest first'))
    await type('T')
    expect(text()).toContain('Only a listing has an endpoint to test.')
  })

  it('that the instance does not have are told as missing, and the listings stay', async () => {
    const absent = { kind: 'absent', sentence: 'There is no such row.', facts: [], next: [] } as const
    const gone = () => ({ ok: false, problem: absent }) as const
    const link = offers({ [`GET ${PATH}/plans`]: gone, [`GET ${PATH}/products`]: gone })
    const { rows, text, type } = await shop({ link })
    expect(rows()[3]).toMatch(/^ \[services \d+\] {2}plans {2}subscriptions 14 {2}requests 2 {2}products {2}/)
    await type('v')
    expect(text()).toContain('There is no such row.')
  })

  it('are the administrator’s alone', async () => {
    const link = offers()
    link.admin = false
    const { type, text } = await shop({ link })
    await type('v')
    expect(text()).toContain('Only the administrator can see all trades.')
    expect(link.calls.filter(({ path }) => path === `${PATH}/plans`)).toEqual([])
  })

  it.each([
    [60, 18],
    [80, 24],
    [100, 30],
    [160, 50],
  ])('never leave the frame of %i x %i', async (columns, height) => {
    const { rows, type } = await shop({ columns, rows: height })
    for (const key of ['', 'v', '\r', '\u001B', 'v', 'e', 'e', 'v', '\u001B[C', 'v', 'G']) {
      await type(key)
      expect(rows()).toHaveLength(height)
      for (const row of rows()) expect(widthOf(row)).toBeLessThanOrEqual(columns)
    }
  })
})
