import { Validator } from '@seriousme/openapi-schema-validator'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { openSite, type Site } from '../../../ports/web/site.testkit.ts'
import { delivered } from '../delivers.testkit.ts'
import type { JsonInput } from '../service/service.ts'
import { parseHtml } from '../web/document.ts'
import { htmlBlocks, markdownBlocks } from './blocks.ts'
import { badges, blueprint, bold, commands, definitions, html, markdown, snippets } from './docs-pages.testkit.ts'
import { authOf } from './openapi-document.ts'
import { openapiDraft } from './openapi-draft.ts'
import { operationsIn } from './operations.ts'

// @slow whole descriptions are drafted

let site: Site
beforeAll(async () => {
  site = await openSite()
})
beforeEach(() => site.clear())
afterAll(() => site.close())

const md = (body: string) => ({ headers: { 'content-type': 'text/markdown' }, body })
const wanted = ['DELETE /v1/ducks/{id}', 'GET /v1/ducks', 'GET /v1/ducks/{id}', 'POST /v1/ducks']
const same = (path: string) => path.replace('{duck_id}', '{id}')

describe('the draft of an OpenAPI description', () => {
  const draft = async (input: JsonInput = {}) =>
    (
      await delivered({
        service: openapiDraft,
        input: { docs_url: site.at('/docs'), ...input },
        means: { web: site.web(), now: () => 0 },
      })
    ).openapi_draft

  it.each([
    ['html', { body: html }],
    ['markdown', md(markdown)],
    ['badges beside paths', { body: badges }],
    ['commands', { body: commands }],
    ['client code', md(snippets)],
    ['headings with the method behind', md(blueprint)],
    ['lines in bold', md(bold)],
    ['definitions', { body: definitions }],
  ])('finds the operations of documentation in %s, none in its prose, and is valid', async (_, page) => {
    site.pages['/docs'] = page
    const made = await draft()
    const found = made.operations_index.map(({ method, path }: { method: string; path: string }) =>
      same(`${method} ${path}`),
    )
    expect(found.sort()).toEqual(wanted)
    expect((await new Validator().validate(JSON.parse(made.document))).valid).toBe(true)
    expect(made).toMatchObject({ operations: 4, source: 'documentation', openapi: '3.1.0', format: 'json' })
  })

  it('takes a type from the brackets behind a description, and the one of a collection in -ies', async () => {
    site.pages['/docs'] = md(
      '# Feeds\n\n## Create\n\n    POST /v1/feeds\n\nRequired fields:\n\n- `category_id`: Category ID (int)\n- `on`: Enable it (boolean)\n- `title`: Its title (see below)\n\n## Feeds of one\n\n    GET /v1/categories/40/feeds\n',
    )
    const { paths } = JSON.parse((await draft()).document)
    const { properties } = paths['/v1/feeds'].post.requestBody.content['application/json'].schema
    expect(properties).toMatchObject({
      category_id: { type: 'integer' },
      on: { type: 'boolean' },
      title: { type: 'string' },
    })
    expect(Object.keys(paths)).toContain('/v1/categories/{category_id}/feeds')
  })

  it('takes the title, and what a heading, its text and its examples say of each operation', async () => {
    site.pages['/docs'] = md(
      '### On this page\n\n# Pond API\n\n## 1) GET `/v1/ducks`\n\n### About\n\nLists all ducks. Slowly.\n\n### Call\n\n- Path: `/v1/ducks`\n- Method: GET\n\n### Answer\n\n#### 404 Not Found\n\n    {"duck": null}\n\n## 2) POST `/v1/ducks`\n\nAdds one.\n',
    )
    const { info, paths } = JSON.parse((await draft()).document)
    const { get, post } = paths['/v1/ducks']
    expect([info.title, get.summary, post.summary]).toEqual(['Pond API', 'Lists all ducks.', 'Adds one.'])
    expect(Object.keys(get.responses)).toEqual(['404'])
  })

  it.each([
    [
      'labels of their own',
      '### List\n\n- Endpoint: /v1/ducks/{name}\n- Method: PUT\n\n### Search\n\n|Method|GET|\n|---|---|\n|URL|/v1/ducks|\n',
      'PUT /v1/ducks/{name}|GET /v1/ducks',
    ],
    [
      'placeholders of several words, each with a call below',
      '`GET /ducks/(id or name)/json`\n\nFor example:\n\n    GET /v1.24/ducks/ada/json?size=1 HTTP/1.1\n\n`GET /ducks`\n\nText.\n\n    GET /v1.24/ducks HTTP/1.1\n',
      'GET /ducks/{id_or_name}/json|GET /ducks',
    ],
    [
      'headings of a chapter that names the method',
      '## POST Endpoints\n\n### `/v1/ducks/:id/eggs/`: Lay an egg\n\nRequired:\n',
      'POST /v1/ducks/{id}/eggs/',
    ],
    [
      'calls with example values',
      '    curl http://site.test/ducks/1.json\n\n    curl -XPUT http://site.test/ducks/example.ada\n\n    curl http://site.test/nests/4fa6e0f0c678/id:1\n',
      'GET /ducks/{duck_id}.json|PUT /ducks/{duck_id}|GET /nests/{nest_id}/id:{id}',
    ],
    [
      'a call whose answer names its value',
      '    curl http://site.test/v1/types/Duck\n\n```\n{"results": [{"name": "Duck"}]}\n```\n',
      'GET /v1/types/{type_id}',
    ],
    [
      'quoted addresses',
      '    HTTP GET "/ducks/{id}"\n\n    HTTP PUT \'http://host:3000/ducks/{id}\'\n',
      'GET /ducks/{id}|PUT /ducks/{id}',
    ],
    ['sentences', 'To free a duck, submit an HTTP DELETE request to `/ducks/{id}`.', 'DELETE /ducks/{id}'],
    [
      'two in a cell',
      '| Call |\n|-|\n| `POST /ducks/{id}/start` and <br>`POST /ducks/{id}/stop` |',
      'POST /ducks/{id}/start|POST /ducks/{id}/stop',
    ],
    [
      'bare paths',
      '## HTTP Endpoints\n\n    /api/duck/[:id]\n    /api/duck/4711\n\nPOST method:\n\n    /api/ducks\n',
      'GET /api/duck/{id}|POST /api/ducks',
    ],
    [
      'methods under the heading of their address, with the version first',
      '## /2/ducks/[name]\n\n### GET\n\nReads a duck.\n\n### DELETE\n\n## Notes\n\n### POST\n\n    curl https://pond:5080/2/info\n',
      'GET /2/ducks/{name}|DELETE /2/ducks/{name}|GET /2/info',
    ],
    ['numbered headings', '## 2) POST `/v1/ducks`\n', 'POST /v1/ducks'],
    ['ranges', '### GET /ducks/:from..:to', 'GET /ducks/{from}..{to}'],
    [
      'an example of a placeholder',
      '    POST /ducks/{id}/feed\n\n    POST /ducks/my-duck-1/feed\n',
      'POST /ducks/{id}/feed',
    ],
    ['paths of files', '## Install\n\n    /etc/ducks/config\n\n## API\n\n### GET /ducks\n', 'GET /ducks'],
  ])('reads %s as public pages have them', (_, text, operations) => {
    const found = operationsIn(markdownBlocks(text)).map(({ method, path }) => `${method} ${path}`)
    expect(found.join('|')).toBe(operations)
  })

  it('carries parameters, bodies, statuses and how callers authenticate', async () => {
    site.pages['/docs'] = { body: html }
    const document = parse((await draft({ target_format: 'yaml' })).document)
    expect(document.security).toEqual([{ bearer: [] }])
    expect(document.paths['/v1/ducks'].post.requestBody.content['application/json']).toMatchObject({
      schema: { required: ['name'] },
      example: { name: 'Ada' },
    })
    expect(document.paths['/v1/ducks'].get.parameters).toEqual([expect.objectContaining({ name: 'page', in: 'query' })])
    expect(Object.keys(document.paths['/v1/ducks/{id}'].get.responses)).toEqual(['200', '404'])
  })

  const parametersOf = async (body: string) => {
    site.pages['/docs'] = md(body)
    const document = parse((await draft({ target_format: 'yaml' })).document)
    const [[path, item]] = Object.entries<Record<string, Foreign>>(document.paths) as [
      [string, Record<string, Foreign>],
    ] // one path
    const [operation] = Object.values(item)
    const told = (operation.parameters ?? []) as Foreign[]
    const sent = operation.requestBody?.content['application/json'].schema
    const names = told.map(({ name, in: place, required }) => `${place} ${name}${required ? '*' : ''}`)
    const fields = Object.keys(sent?.properties ?? {}).map(
      (name) => `body ${name}${sent.required?.includes(name) ? '*' : ''}`,
    )
    return { path, parameters: [...names, ...fields] }
  }
  // biome-ignore lint/suspicious/noExplicitAny: documents of many shapes
  type Foreign = any

  it.each([
    '/d/:id',
    '/d/{id}',
    '/d/<id>',
    '/d/<int:id>',
    '/d/[id]',
    '/d/{id:int}',
    '/d/$ID',
    '{{host}}/d/{{id}}',
    '/d/%id%',
  ])('knows %s for a place to fill in', async (path) => {
    expect(await parametersOf(`# A\n\n\`\`\`\nGET ${path}\n\`\`\`\n`)).toEqual({
      path: '/d/{id}',
      parameters: ['path id*'],
    })
  })

  it.each<[string, string, string[]]>([
    [
      'without outer pipes',
      'Name | Type | Required\n---- | ---- | ----\na | STRING | YES\nb | INT | NO',
      ['query a*', 'query b'],
    ],
    ['that says mandatory', '|Name|Mandatory|\n|---|---|\n|a|YES|\n|b|NO|', ['query a*', 'query b']],
    ['that says optional', '|Name|Optional|\n|---|---|\n|a|no|\n|b|yes|', ['query a*', 'query b']],
    ['with stars', '|Parameter|Description|\n|---|---|\n|`a`*|x|\n|`b`|y|', ['query a*', 'query b']],
    [
      'whose descriptions say it',
      '|Field|Description|\n|---|---|\n|a|Required. x|\n|b|Optional.|',
      ['query a*', 'query b'],
    ],
    ['under a heading that says it', '#### Required parameters\n\n|Name|\n|---|\n|a|', ['query a*']],
    ['of headers', '#### Headers\n\n|Name|\n|---|\n|X-A|', ['header X-A']],
    ['of an answer, which is none', '#### Response\n\n|Name|\n|---|\n|a|', []],
    ['that is a list', '**Parameters**\n\n- `a` (string, required): x\n- `b` - y', ['query a*', 'query b']],
  ])('reads the parameters of a table %s', async (_, table, parameters) => {
    expect((await parametersOf(`# A\n\n### One\n\nGET /d\n\n${table}\n`)).parameters).toEqual(parameters)
  })

  it('reads a table with a column for each method, and slanted words of a path as variables', async () => {
    const row = (cells: string[]) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`
    const rows = [
      ['GET', 'PUT', 'DELETE', 'Path', 'Description'],
      ['X', '', '', '/ponds', 'All ponds'],
      ['X', 'X', '', '/ponds/<i>name</i>/ducks<br>/lakes/<i>name</i>', 'Ducks'],
    ]
    site.pages['/docs'] = { body: `<h1>HTTP API</h1><table>${rows.map(row).join('')}</table>` }
    const { operations_index: index } = await draft()
    const named = ['GET /ponds', 'GET /ponds/{name}/ducks', 'PUT /ponds/{name}/ducks']
    expect(index.map(({ method, path }: Record<string, string>) => `${method} ${path}`)).toEqual([
      ...named,
      'GET /lakes/{name}',
      'PUT /lakes/{name}',
    ])
  })

  it('says of each operation of a table what its row says, and reads calls of the own host in a list', async () => {
    const table =
      '| Endpoint | Description |\n|---|---|\n| `GET /ducks` | lists all ducks |\n| `POST /ducks` | adds a duck |'
    site.pages['/docs'] = md(
      `# REST API\n\n${table}\n\n- \`http://ipaddress:8093/v1/state/plain\` - read the state\n- https://duck.example/more - a link\n`,
    )
    const { paths } = JSON.parse((await draft()).document)
    expect(paths['/ducks'].get.summary).toBe('lists all ducks')
    expect(paths['/ducks'].post.summary).toBe('adds a duck')
    expect(Object.keys(paths)).toEqual(['/ducks', '/v1/state/plain'])
  })

  it('keeps the slash at the end, sums up by the sentence below, and reads shortened examples', () => {
    const text =
      '### Ducks\n\n**List**\n\n```\nGET /api/ducks/\n```\n\nList ducks.\n\nParameters:\n\n- `limit` - Most ducks. Default is `100`.\n\nExample response:\n\n```json\n{\n  "count": 2,\n  "ducks": [\n    {"id": 1},\n    ...\n  ]\n}\n```\n\n**Update**\n\n```\nPUT /api/ducks/<id>/\nPATCH /api/ducks/<id>/\n```\n\nUpdates a duck.\n\nExample payload:\n\n```json\n{"name": "Ada"}\n```\n'
    const [list, ...changes] = operationsIn(markdownBlocks(text))
    expect(list).toMatchObject({
      path: '/api/ducks/',
      summary: 'List ducks.',
      parameters: [{ name: 'limit', type: 'integer', in: 'query' }],
      responses: new Map([['200', { count: 2, ducks: [{ id: 1 }] }]]),
    })
    expect(changes.map(({ method, path, summary, request }) => [method, path, summary, request])).toEqual([
      ['PUT', '/api/ducks/{id}/', 'Updates a duck.', { name: 'Ada' }],
      ['PATCH', '/api/ducks/{id}/', 'Updates a duck.', { name: 'Ada' }],
    ])
    expect(authOf('The token goes as `Authorization` header:\nAuthorization: Token KEY')?.scheme).toEqual({
      type: 'apiKey',
      in: 'header',
      name: 'Authorization',
    })
  })

  it('takes what stands below a line of a request for its body', async () => {
    const request = '```\nPOST {{host}}/d\nContent-Type: application/json\n\n{"a": 1}\n```'
    expect(await parametersOf(`# A\n\n${request}\n`)).toEqual({ path: '/d', parameters: ['body a'] })
  })

  it('gives each call of a session what it sends, and not what the next one does', async () => {
    site.pages['/docs'] = { body: commands }
    const { paths } = parse((await draft({ target_format: 'yaml' })).document)
    expect(paths['/v1/ducks'].post.requestBody.content['application/json'].example).toEqual({ name: 'Ada' })
    expect(paths['/v1/ducks/{duck_id}'].delete.requestBody).toBeUndefined()
  })

  it('takes what the makers publish, cut to what was asked for', async () => {
    site.pages['/docs'] = { body: `${html}<script>SwaggerUI({ url: "/openapi.json" })</script>` }
    const item = { get: { responses: { 200: { description: 'ok' } } } }
    site.pages['/openapi.json'] = {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        openapi: '3.0.3',
        info: { title: 'Pond', version: '1' },
        paths: { '/ducks': item, '/geese': item },
      }),
    }
    const made = await draft({ endpoint_focus: '/geese' })
    expect(made).toMatchObject({
      source: 'published',
      operations: 1,
      operations_index: [{ method: 'GET', path: '/geese' }],
      valid: true,
      faults: [],
      checked: [expect.stringContaining('OpenAPI 3.0'), expect.stringContaining('reference')],
    })
    expect((await new Validator().validate(JSON.parse(made.document))).valid).toBe(true)
  })

  const ok = { responses: { 200: { description: 'ok' } } }
  const lost = { $ref: '#/components/parameters/nowhere' }
  it.each<[string, object, string]>([
    ['of 3.1 without a title', { openapi: '3.1.0', info: { version: '1' }, paths: { '/a': { get: ok } } }, '/info'],
    [
      'of 3.0 with an operation that answers nothing',
      { openapi: '3.0.3', info: { title: 'A', version: '1' }, paths: { '/a': { get: {} } } },
      '/paths/~1a/get',
    ],
    [
      'of 2.0 with a version that is a number',
      { swagger: '2.0', info: { title: 'A', version: 1 }, paths: { '/a': { get: ok } } },
      '/info/version',
    ],
    [
      'whose reference leads nowhere',
      { openapi: '3.1.0', info: { title: 'A', version: '1' }, paths: { '/a': { get: { ...ok, parameters: [lost] } } } },
      '/paths//a/get/parameters/0',
    ],
    ['of a version that nobody published', { openapi: '3.9', info: {}, paths: { '/a': { get: ok } } }, ''],
  ])('says that a published one %s is not valid, and where', async (_, published, path) => {
    site.pages['/docs'] = { body: `${html}<script>SwaggerUI({ url: "/openapi.json" })</script>` }
    site.pages['/openapi.json'] = {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(published),
    }
    const made = await draft()
    expect([made.source, made.valid]).toEqual(['published', false])
    expect(made.faults.map((fault: { path: string }) => fault.path)).toContain(path)
  })

  it('fails for a page without endpoints, and survives YAML that multiplies itself', async () => {
    site.pages['/docs'] = { body: '<p>Ducks swim. We GET a lot of them.</p>' }
    await expect(draft()).rejects.toMatchObject({ message: expect.stringContaining('No endpoints') })
    const bomb = `openapi: 3.1.0\na: &a [x, x, x]\n${'bcdefghij'
      .split('')
      .map((name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghij'[at]}`).join(', ')}]`)
      .join('\n')}\npaths: {}\n`
    site.pages['/docs'] = { headers: { 'content-type': 'text/yaml' }, body: bomb }
    await expect(draft()).rejects.toMatchObject({ code: 'provider_failed' })
  })
})

const bits = fc.constantFrom(
  'GET',
  'POST ',
  ' /v1/ducks',
  '/{id}',
  'curl ',
  '-X ',
  '-d ',
  "'{}'",
  'https://a.test',
  '$',
  '{b}',
  '{{b}}',
  'requests.get(',
  'fetch("',
  '`',
  '"',
  '\n',
  '|',
  '```',
  '# ',
  '[',
  ']',
  '<pre>',
  '</pre>',
  '<h1>',
  '<table><tr><td>',
  '<dl><dt>',
  '{"a": ',
  '$',
  '\\',
  '\u0000',
  '💩',
)

it('whatever stands in documentation, its operations are few, have paths and are read at once', () => {
  const text = fc.oneof(
    fc.array(bits, { maxLength: 60 }).map((all) => all.join('')),
    fc.tuple(bits, fc.integer({ min: 1, max: 20_000 })).map(([bit, times]) => bit.repeat(times)),
    fc.string({ unit: 'binary', maxLength: 2_000 }),
  )
  fc.assert(
    fc.property(text, (said) => {
      for (const blocks of [markdownBlocks(said), htmlBlocks(parseHtml(said))]) {
        const found = operationsIn(blocks)
        expect(found.length).toBeLessThanOrEqual(200)
        for (const { path, confidence } of found) {
          expect(path).toMatch(/^\//)
          expect(confidence).toBeGreaterThan(0)
          expect(confidence).toBeLessThanOrEqual(1)
        }
      }
    }),
    { numRuns: 60 },
  )
})
