import { afterAll, beforeAll, expect, it } from 'vitest'
import { openSite, type Site } from '../../../ports/web/site.testkit.ts'
import { delivered } from '../delivers.testkit.ts'
import { apiIntegrationReadiness } from './api-integration-readiness.ts'

let site: Site
beforeAll(async () => {
  site = await openSite()
})
afterAll(() => site.close())

it.each<[string, string, 'found' | 'missing']>([
  ['base_url', 'The next page is http://127.0.0.1:8000/api/ducks.', 'missing'],
  ['base_url', 'Try curl http://localhost:3000/ducks.', 'missing'],
  ['base_url', 'Try curl https://ducks.example.org/v1/me.', 'found'],
  ['auth', 'If you need to add authentication, use another program.', 'missing'],
  ['auth', 'Requests must authenticate.', 'found'],
  ['sdk', 'There are two official API clients, one of them in Python.', 'found'],
  ['sdk', 'There is an official API client in Go.', 'missing'],
])('what documentation says of %s: %s', async (area, said, status) => {
  const headers = { 'content-type': 'text/markdown' }
  site.pages['/docs'] = { headers, body: `# Ducks\n\n    GET /v1/ducks\n\nLists all ducks.\n\n${said}\n` }
  const input = { docs_url: site.at('/docs'), use_case: 'List all ducks', target_stack: 'Python' }
  const made = await delivered({ service: apiIntegrationReadiness, input, means: { web: site.web(), now: () => 0 } })
  const found = made.api_integration_readiness.requirements.find((one: { area: string }) => one.area === area)
  expect(found).toMatchObject({ status })
})
