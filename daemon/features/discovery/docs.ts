import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { api } from '../../../src/api/index.ts'
import type { docsApi } from '../../../src/api/sections/docs.ts'
import { type Encoded, type FreeHandlers, guards, validatorOf } from '../../endpoint/handler.ts'
import { html, page } from '../../endpoint/html.ts'

/** File names of Swagger UI's script and style sheet, which are next to the bundle. */
const SCRIPT = 'swagger-ui-bundle.js'
const STYLE = 'swagger-ui.css'

/** Swagger UI settings: no external validator, sections collapsed at the start. */
const settings = {
  url: api.getOpenapi.path,
  dom_id: '#reference',
  validatorUrl: null,
  docExpansion: 'none',
  filter: true,
  deepLinking: true,
}

let reference: Promise<Encoded> | undefined

/**
 * The reference page: Swagger UI for this daemon's API description. The page is self-contained; its
 * Content-Security-Policy allows only its two scripts and this origin.
 */
function referencePage(): Promise<Encoded> {
  reference ??= makePage()
  return reference
}

async function makePage(): Promise<Encoded> {
  const [library, style] = [inline(await fileOf(SCRIPT)), await fileOf(STYLE)]
  const start = `SwaggerUIBundle(${JSON.stringify(settings)})`
  const hashes = [library, start].map((script) => `'sha256-${hash('sha256', script, 'base64')}'`)
  const policy = [
    "default-src 'none'",
    `script-src ${hashes.join(' ')}`,
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  const markup = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference</title>
<style>${style}</style>
</head>
<body>
<noscript>This page needs JavaScript. See <a href="${api.getOpenapi.path}">the OpenAPI document</a> instead.</noscript>
<div id="reference"></div>
<script>${library}</script>
<script>${start}</script>
</body>
</html>
`
  return {
    bytes: Buffer.from(markup),
    etag: validatorOf(markup),
    cache: 'no-cache',
    headers: { ...guards, 'Content-Security-Policy': `${policy}; frame-ancestors 'none'` },
  }
}

function fileOf(name: string): Promise<string> {
  const beside = fileURLToPath(new URL(`./${name}`, import.meta.url))
  const file = existsSync(beside) ? beside : createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`)
  return readFile(file, 'utf8')
}

/** Escapes a script's text, so that it cannot end its script element. */
function inline(script: string): string {
  return script.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--')
}

export const docsRoutes: FreeHandlers<typeof docsApi> = {
  getDocs: async () => referencePage(),

  getHome: async () =>
    page({
      title: 'souk',
      body: html`<h1>souk</h1>
<p>A marketplace where agents list, buy and verify services, paid by x402 or from a balance.</p>
<ul>
${doors.map(
  ({ path, what }) => html`<li><a href="${path}">${path}</a>: ${what}</li>
`,
)}</ul>`,
    }),
}

/** Links on the root page. */
const doors = [
  { path: api.getCatalog.path, what: 'services for sale' },
  { path: api.getDocs.path, what: 'the reference' },
  { path: api.getOpenapi.path, what: 'the reference as an OpenAPI document' },
  { path: api.getLlmsText.path, what: 'a guide for agents' },
  { path: api.getHealth.path, what: 'status of this marketplace' },
]
