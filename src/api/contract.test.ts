import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { formatPrice } from '../core/money.ts'
import { type Endpoint, templatePath } from './endpoint/define.ts'
import { api, endpointNames } from './index.ts'
import { statusOf } from './status.ts'

/** Rows of the specification and of our extensions that have no endpoint yet; may only shrink. */
const MISSING_AT_MOST = { endpoints: 0, extensions: 0 }

type SpecRow = {
  method: string
  path: string
  section: string
  door: string
  role: string | null
  price: string
  shelved_area: string | null
  purpose: string
  status_when_paused_and_cutover?: string | null
  note?: string
}

const read = (name: string): SpecRow[] =>
  JSON.parse(readFileSync(new URL(`../../fixtures/spec/${name}.json`, import.meta.url), 'utf8'))

const keyOf = (row: { method: string; path: string }) => `${row.method} ${templatePath(row.path)}`
/** Where decisions settle what the tables leave open: the plan's alias is shelved with all subscriptions. */
const settledAreas: Record<string, string> = { 'POST /v1/services/maintenance-plan': 'subscriptions' }
const rows = endpointNames.map((name): [string, Endpoint] => [name, api[name]])

function priceOf({ access }: Endpoint): string {
  if (!('price' in access)) return 'free'
  return access.price === 'varies' ? 'varies' : formatPrice(access.price)
}

describe.each(['endpoints', 'extensions'] as const)('the contract against the data of %s', (name) => {
  const spec = new Map(read(name).map((row) => [keyOf(row), row]))
  const mine = rows.filter(([, row]) => (row.origin === 'ours') === (name === 'extensions'))

  test.each(mine)('%s is as the data says', (_, row) => {
    const expected = spec.get(keyOf(row))
    expect({
      section: row.section,
      door: row.access.kind,
      role: ('role' in row.access && row.access.role) || null,
      price: priceOf(row),
      area: row.feature ?? null,
      purpose: row.summary,
      isSwitched: row.switch !== undefined,
    }).toEqual({
      section: expected?.section,
      door: expected?.door,
      role: expected?.role,
      price: expected?.price,
      area: expected?.shelved_area ?? settledAreas[keyOf(row)] ?? null,
      purpose: expected?.purpose,
      isSwitched: expected?.note?.includes('switched off') ?? false,
    })
  })

  test('the number still missing only shrinks', () => {
    const have = new Set(rows.map(([, row]) => keyOf(row)))
    const missing = [...spec.keys()].filter((key) => !have.has(key))
    // biome-ignore lint/suspicious/noConsole: the number is there to be read in the output of the tests
    console.info(`${name}: ${missing.length} of ${spec.size} rows are still missing`)
    expect(missing.length).toBeLessThanOrEqual(MISSING_AT_MOST[name])
  })
})

test('every endpoint of every section is in the contract, and none is given twice', async () => {
  const folder = new URL('./sections/', import.meta.url)
  const files = readdirSync(folder).filter((name) => !name.endsWith('.test.ts'))
  const sections: object[] = await Promise.all(files.map((name) => import(new URL(name, folder).href)))
  const records = sections.flatMap((section) => Object.entries(section).filter(([name]) => name.endsWith('Api')))
  const names = records.flatMap(([, record]) => Object.keys(record))
  expect(names.toSorted()).toEqual(endpointNames.toSorted())
})

test('a status is computed as the specification lists it, paused and cut over', () => {
  const flags = { paused: true, checkoutV2: true, enabled: new Set<string>() }
  const spec = new Map(read('endpoints').map((row) => [keyOf(row), row.status_when_paused_and_cutover]))
  for (const [, row] of rows.filter(([, { origin }]) => origin !== 'ours')) {
    const expected = spec.get(keyOf(row))
    if (expected) expect([keyOf(row), statusOf(row, flags)]).toEqual([keyOf(row), expected])
  }
})

test('no row is shadowed by one before it', () => {
  rows.forEach(([, later], at) => {
    for (const [, earlier] of rows.slice(0, at)) {
      if (earlier.method !== later.method) continue
      const pattern = new RegExp(`^${earlier.path.replace(/[.]/g, '\\.').replace(/:[A-Za-z]+/g, '[^/]+')}$`)
      expect(pattern.test(later.path), `${earlier.path} shadows ${later.path}`).toBe(false)
    }
  })
})
