import { api } from '../../../src/api/index.ts'
import type { FreeHandler } from '../../endpoint/handler.ts'
import { html } from '../../endpoint/html.ts'
import { page } from '../../endpoint/page.ts'
import { referencePage } from './reference-page.ts'

export const getDocs: FreeHandler<typeof api.getDocs> = async () => referencePage()

/** Where to go from the bare address. */
const doors = [
  { path: api.getCatalog.path, what: 'what is for sale' },
  { path: api.getDocs.path, what: 'the reference' },
  { path: api.getOpenapi.path, what: 'the same as OpenAPI' },
  { path: api.getLlmsText.path, what: 'a guide for agents' },
  { path: api.getHealth.path, what: 'how this marketplace is' },
]

export const getHome: FreeHandler<typeof api.getHome> = async () =>
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
