import { readFileSync } from 'node:fs'
import { afterAll, expect, it } from 'vitest'
import { told } from '../../../../fixtures/evaluation/figure.ts'
import { openSite } from '../../../ports/web/site.testkit.ts'
import { delivered } from '../delivers.testkit.ts'
import { apiIntegrationReadiness } from './api-integration-readiness.ts'
import { openapiDraft } from './openapi-draft.ts'

// @deep reads two public pages of interfaces that a person listed by hand

const site = await openSite()
afterAll(() => site.close())

type Listed = {
  readonly operations: readonly string[]
  readonly says: readonly string[]
  readonly lacks: readonly string[]
}
const listed: Readonly<Record<string, Listed>> = JSON.parse(
  readFileSync('fixtures/evaluation/api-pages/listed.json', 'utf8'),
)

/** A path as it is compared: whatever its variables are called, with or without a slash at its end. */
const plain = (operation: string) => operation.replace(/\{[^}]*\}/g, '{}').replace(/\/$/, '')
const serve = (name: string) => {
  site.pages['/docs'] = {
    headers: { 'content-type': 'text/markdown' },
    body: readFileSync(`fixtures/evaluation/api-pages/${name}.md.txt`),
  }
  return site.at('/docs')
}

it('the operations of public pages are found, and none beside them', async () => {
  const counts = { listed: 0, found: 0, right: 0 }
  for (const [name, { operations }] of Object.entries(listed)) {
    const input = { docs_url: serve(name) }
    const { openapi_draft } = await delivered({
      service: openapiDraft,
      input,
      means: { web: site.web(), now: () => 0 },
    })
    const index: readonly { method: string; path: string }[] = openapi_draft.operations_index
    const found = new Set(index.map(({ method, path }) => plain(`${method} ${path}`)))
    const wanted = new Set(operations.map(plain))
    counts.listed += wanted.size
    counts.found += found.size
    counts.right += [...found].filter((one) => wanted.has(one)).length
  }
  const [recall, precision] = [counts.right / counts.listed, counts.right / counts.found]
  told('openapi_draft, operations of two public pages', { ...counts, recall, precision })
  expect(recall).toBeGreaterThanOrEqual(0.9)
  expect(precision).toBeGreaterThanOrEqual(0.9)
})

it('what public pages say of an integration, and what they do not say, is told', async () => {
  const counts = { marked: 0, right: 0 }
  const wrong: string[] = []
  for (const [name, { says, lacks }] of Object.entries(listed)) {
    const input = { docs_url: serve(name), use_case: 'Create a record and read the list of all records' }
    const { api_integration_readiness: made } = await delivered({
      service: apiIntegrationReadiness,
      input,
      means: { web: site.web(), now: () => 0 },
    })
    const found: readonly { area: string; status: string; evidence?: unknown }[] = made.requirements
    for (const [areas, status] of [
      [says, 'found'],
      [lacks, 'missing'],
    ] as const) {
      for (const area of areas) {
        counts.marked += 1
        const is = found.find((one) => one.area === area)?.status ?? 'missing'
        if (is === status) counts.right += 1
        else wrong.push(`${name} ${area}: ${is}`)
      }
    }
  }
  const share = counts.right / counts.marked
  told('api_integration_readiness, areas of two public pages marked before any answer was seen', { ...counts, share })
  expect(share, wrong.join(', ')).toBeGreaterThanOrEqual(0.8)
})
