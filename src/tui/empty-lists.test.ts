import { afterEach, describe, expect, it } from 'vitest'
import examples from '../api/answer-examples.json' with { type: 'json' }
import { endpoints } from '../client/endpoints.ts'
import type { ScreenId } from '../nouns/screens.ts'
import { widthOf } from '../text/text.ts'
import { fakeLink, type LinkCall, type Opened, openOn } from './cockpit.testkit.tsx'
import { health } from './fixtures.testkit.ts'
import { screens } from './screens.ts'
import { jobViews, logViews, moneyViews, shopViews, threadViews } from './shell/ui.ts'

/* A market in which nothing has happened: every list says why it is empty, and what fills it or leads elsewhere. */

let open: Opened | undefined
afterEach(() => {
  open?.close()
  open = undefined
})

const patterns = Object.entries(endpoints).map(([name, [method, path]]) => ({
  name,
  method,
  path: new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+')}$`),
}))
const known: Readonly<Record<string, { readonly answer?: object }>> = examples

/** The example of an answer without a row in any of its lists. */
function withoutRows({ method, path }: LinkCall) {
  if (path === '/health') return { ok: true, value: health } as const
  const name = patterns.find((one) => one.method === method && one.path.test(path))?.name ?? ''
  const answer = Object.entries(known[name]?.answer ?? {}).map(([member, value]) => {
    if (Array.isArray(value)) return [member, []]
    return [member, member === 'total' ? 0 : value]
  })
  return { ok: true, value: Object.fromEntries(answer) } as const
}
const emptyMarket = () => fakeLink(new Proxy({}, { get: () => withoutRows }))
const cronsAlone = (call: LinkCall) =>
  call.path === '/dashboard/api/admin/crons'
    ? ({ ok: true, value: examples.listCrons.answer } as const)
    : withoutRows(call)

const views: Readonly<Partial<Record<ScreenId, number>>> = {
  services: shopViews.length,
  jobs: jobViews.length,
  threads: threadViews.length,
  money: moneyViews.length,
  logs: logViews.length,
  requests: 6,
}
const lists = screens.map(({ id }) => id).filter((id) => !['overview', 'crons', 'endpoints'].includes(id))
const cases = lists.flatMap((id) => Array.from({ length: views[id] ?? 1 }, (_, view) => [id, view] as const))

/** What is so, then a key, a command, or what will make a row. */
const SAYS = /^[▌ ](?:no|nothing) [\s\S]*(?:: press v for|\n {3}→ souk |: [a-z0-9])/m

describe.each([
  [60, 18],
  [160, 50],
])('at %i x %i', (columns, rows) => {
  it.each(cases)('%s, view %i, says why it is empty and what to do', async (screen, view) => {
    open = await openOn({ link: emptyMarket(), screen, columns, rows })
    await open.advance(1_000)
    await open.type('v'.repeat(view))
    await open.advance(1_000)
    const left = open.rows().map((row) => (row.split(/[│┤]/)[0] ?? '').trimEnd())
    expect(left.join('\n')).toMatch(SAYS)
    const from = left.findIndex((row) => /^ (?:no|nothing) /.test(row))
    for (const row of left.slice(from, from + 3)) expect(row).not.toContain('…')
    for (const row of open.rows()) expect(widthOf(row)).toBeLessThanOrEqual(columns)
  })
})

it.each([...lists, 'crons', 'endpoints'] as const)(
  '%s says how to leave a filter that matches nothing',
  async (screen) => {
    open = await openOn({ link: fakeLink(new Proxy({}, { get: () => cronsAlone })), screen, columns: 80, rows: 24 })
    await open.advance(1_000)
    await open.type('/nothing-like-it\r')
    await open.advance(1_000)
    expect(open.text()).toMatch(/ (?:no such [a-z ]+|nothing matches the filter): esc clears/)
  },
)

it('the command that fills a list names the remote that is shown', async () => {
  const place = { name: 'prod-eu', guarded: true, option: '-r prod-eu' }
  open = await openOn({ link: fakeLink(new Proxy({}, { get: () => withoutRows }), place), screen: 'jobs' })
  await open.advance(1_000)
  await open.type('v'.repeat(jobViews.length - 1))
  await open.advance(1_000)
  expect(open.text()).toContain('→ souk -r prod-eu buy SERVICE')
})
