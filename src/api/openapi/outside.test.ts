import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OUTSIDE, load as outside } from '../../../fixtures/outside/load.ts'
import type { Endpoint } from '../endpoint/define.ts'
import { api, endpointNames } from '../index.ts'
import { openapiDocument, readAnswerExamples } from './document.ts'
import type { OpenApiNode } from './schemas.ts'

// @deep linters and generators of others, each over the whole description

/* What tools of others make of the description: linters, and generators of clients whose output has to compile. */

let description: OpenApiNode
beforeAll(async () => {
  const names = endpointNames.map((name): Endpoint => api[name]).flatMap((row) => row.switch ?? [])
  const switches = { paused: false, checkoutV2: false, enabled: new Set(names) }
  description = openapiDocument({ url: 'https://souk.example', switches, examples: await readAnswerExamples() })
})

describe('a linter of others finds nothing to mend', () => {
  test('redocly lint, its recommended rules', async () => {
    const { createConfig, lintFromString } = await outside('@redocly/openapi-core')
    const config = await createConfig({ extends: ['recommended'] })
    const found: Redocly[] = await lintFromString({ source: JSON.stringify(description), config })
    expect(found.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`)).toEqual([])
  })

  test('spectral:oas, its recommended rules', async () => {
    const [{ Spectral }, { oas }] = [
      await outside('@stoplight/spectral-core'),
      await outside('@stoplight/spectral-rulesets'),
    ]
    const spectral = new Spectral()
    spectral.setRuleset({ extends: [[oas, 'recommended']] })
    const found: Spectral[] = await spectral.run(description)
    expect(found.map(({ code, message, path }) => `${code}: ${message} ${path.join('.')}`)).toEqual([])
  })
})

type Redocly = { ruleId: string; message: string; location: { pointer?: string }[] }
type Spectral = { code: string; message: string; path: string[] }

test('names of components start with a letter, as identifiers of generated clients must', () => {
  const groups = Object.values(description['components'] as Record<string, OpenApiNode>)
  const names = groups.flatMap((group) => Object.keys(group))
  expect(names.length).toBeGreaterThan(100)
  expect(names.filter((name) => !/^[A-Za-z][\w.-]*$/.test(name))).toEqual([])
})

test('every operation and parameter says what it is', () => {
  const operations = Object.values(description['paths'] as Record<string, OpenApiNode>).flatMap((path) =>
    Object.values(path),
  )
  for (const operation of operations as { operationId: string; description: string; parameters: OpenApiNode[] }[]) {
    const texts = [operation.description, ...operation.parameters.map((parameter) => parameter['description'])]
    const isSaid = texts.every((text) => typeof text === 'string' && text.length > 5)
    expect([operation.operationId, isSaid, texts]).toEqual([operation.operationId, true, texts])
  }
})

/** Programs as users of each generator write them: success and failure, and the sentence of a failure. */
const programs = {
  'by-openapi-typescript.ts': `
import createClient from 'openapi-fetch'
import type { paths } from './openapi-typescript.ts'
const client = createClient<paths>({ baseUrl: 'https://souk.example' })
export async function read(): Promise<string> {
  const { data, error } = await client.GET('/v1/jobs/{id}', { params: { path: { id: 'job_1' } } })
  if (error) return error.message + error.error
  return data.status
}`,
  'by-hey-api.ts': `
import { getJob } from './hey-api/index'
export async function read(): Promise<string> {
  const { data, error } = await getJob({ path: { id: 'job_1' } })
  if (error) return error.message + error.error
  return data?.status ?? ''
}`,
  'by-orval.ts': `
import { getJob } from './orval'

export async function read(): Promise<string> {
  const answer = await getJob('job_1')
  if (answer.status === 200) return answer.data.status
  return answer.data.message + answer.data.error
}`,
}

describe('a client that others generate compiles, and its errors have a message', () => {
  let dir: string
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'souk-generated-'))
    await symlink(OUTSIDE, join(dir, 'node_modules'))
    const { default: openapiTS, astToString } = await outside('openapi-typescript')
    const input = join(dir, 'openapi.json')
    await writeFile(input, JSON.stringify(description))
    await writeFile(join(dir, 'openapi-typescript.ts'), astToString(await openapiTS(JSON.stringify(description))))
    const { createClient } = await outside('@hey-api/openapi-ts')
    const plugins = ['@hey-api/typescript', '@hey-api/sdk', '@hey-api/client-fetch']
    await createClient({ input, output: { path: join(dir, 'hey-api') }, plugins, logs: { level: 'silent' } })
    const { generate } = await outside('orval')
    await generate({ input: { target: input }, output: { target: join(dir, 'orval.ts'), client: 'fetch' } })
    for (const [name, text] of Object.entries(programs)) await writeFile(join(dir, name), text)
  })
  afterAll(() => rm(dir, { recursive: true, force: true }))

  test('openapi-typescript, @hey-api/openapi-ts, orval', () => {
    const files = Object.keys(programs).map((name) => join(dir, name))
    const program = ts.createProgram(files, {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
      types: [],
      strict: true,
      skipLibCheck: true,
      noEmit: true,
      allowImportingTsExtensions: true,
    })
    const faults = ts.getPreEmitDiagnostics(program).map(({ file, start = 0, messageText }) => {
      const line = (file?.getLineAndCharacterOfPosition(start).line ?? 0) + 1
      return `${file?.fileName.slice(dir.length + 1)}:${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
    })
    expect(faults).toEqual([])
  })
})
