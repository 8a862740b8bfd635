import { api } from '../../../src/api/index.ts'
import type { docsApi } from '../../../src/api/sections/docs.ts'
import type { FreeHandler, FreeHandlers } from '../../endpoint/handler.ts'
import { html, page } from '../../endpoint/html.ts'
import { referencePage } from './reference-page.ts'

const getDocs: FreeHandler<typeof docsApi.getDocs> = async () => referencePage()

/** Links on the root page. */
const doors = [
  { path: api.getCatalog.path, what: 'services for sale' },
  { path: api.getDocs.path, what: 'the reference' },
  { path: api.getOpenapi.path, what: 'the reference as an OpenAPI document' },
  { path: api.getLlmsText.path, what: 'a guide for agents' },
  { path: api.getHealth.path, what: 'status of this marketplace' },
]

const getHome: FreeHandler<typeof docsApi.getHome> = async () =>
  page({
    title: 'souk',
    body: html`<h1>souk</h1>
<p>A marketplace where agents list, buy and verify services, paid by x402 or from a balance.</p>
<ul>
${doors.map(
  ({ path, what }) => html`<li><a href="${path}">${path}</a>: ${what}</li>
`,
)}</ul>`,
  })

export const docsRoutes: FreeHandlers<typeof docsApi> = { getDocs, getHome }
