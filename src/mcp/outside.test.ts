import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openUserAtMarket, type User } from '../../fixtures/kit/user.ts'
import { load, OUTSIDE } from '../../fixtures/outside/load.ts'

/* Programs that others publish for agents, unmodified: each starts `souk mcp` by itself, at a real daemon. */

const ENTRY = join(import.meta.dirname, '../../bin/souk.ts')

describe('published programs for agents', () => {
  let user: User
  let env: Record<string, string>
  beforeAll(async () => {
    user = await openUserAtMarket()
    env = { HOME: user.home, PATH: process.env.PATH ?? '', TMPDIR: user.home }
  })
  afterAll(() => user.close())

  const server = (...words: string[]) => ({ command: process.execPath, args: [ENTRY, 'mcp', ...words] })
  const run = async (...words: string[]) =>
    (await promisify(execFile)(process.execPath, words, { env, cwd: user.home })).stdout

  test('the Vercel AI SDK hands every tool to Gemini as it takes them, and runs the one that Gemini calls', async () => {
    const [{ createMCPClient }, { StdioMCPTransport }] = await Promise.all([
      load('@ai-sdk/mcp'),
      load('@ai-sdk/mcp/mcp-stdio'),
    ])
    const [{ createGoogle }, { generateText, isStepCount }] = await Promise.all([load('@ai-sdk/google'), load('ai')])
    const transport = new StdioMCPTransport({ ...server('--tools', 'all', '--admin'), env, stderr: 'ignore' })
    const client = await createMCPClient({ transport })
    try {
      const tools = await client.tools()
      expect(Object.keys(tools).length).toBeGreaterThan(100)
      const gemini = geminiThatCalls('get_catalog', { q: 'qr' })
      const google = createGoogle({ apiKey: 'none', baseURL: 'http://gemini.test', fetch: gemini.fetch })
      const prompt = 'What makes QR codes?'
      const { text } = await generateText({
        model: google('gemini-2.5-flash'),
        tools,
        prompt,
        stopWhen: isStepCount(2),
      })
      expect([text, gemini.refused]).toEqual(['found', []])
      expect(gemini.declared.toSorted()).toEqual(Object.keys(tools).toSorted())
      expect(gemini.told).toContain('QR')
    } finally {
      await client.close()
    }
  })

  test('mcporter lists the tools and calls one', async () => {
    const config = join(user.home, 'mcporter.json')
    await writeFile(config, JSON.stringify({ mcpServers: { souk: { ...server(), env } } }))
    const mcporter = [join(OUTSIDE, 'mcporter/dist/cli.js'), '--config', config]
    expect(await run(...mcporter, 'list', 'souk', '--schema')).toContain('purchase_service')
    const called = await run(...mcporter, 'call', 'souk.get_catalog', 'q=qr', '--output', 'json')
    expect(called).toContain('svc_')
  })

  test('the inspector lists tools and resources, and calls a tool', async () => {
    const { command, args } = server()
    // Published apart, it still reads the name and version of the package that it is a part of.
    await writeFile(join(OUTSIDE, '@modelcontextprotocol/package.json'), '{"name":"inspector","version":"1.0.3"}')
    const inspect = (...words: string[]) =>
      run(join(OUTSIDE, '@modelcontextprotocol/inspector-cli/build/cli.js'), '--cli', command, ...args, ...words)
    expect(JSON.parse(await inspect('--method', 'tools/list')).tools.length).toBeGreaterThan(20)
    const { resources } = JSON.parse(await inspect('--method', 'resources/list'))
    expect(resources[0].uri).toMatch(/^souk:\/\/services\//)
    const called = await inspect('--method', 'tools/call', '--tool-name', 'get_catalog', '--tool-arg', 'q=qr')
    expect(JSON.parse(called).structuredContent.total).toBeGreaterThan(0)
  })
})

/** Fields of a schema that the API knows; another one is refused as an unknown name. */
const KNOWN =
  'type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength pattern anyOf items minimum maximum default'.split(
    ' ',
  )

type Node = Readonly<Record<string, unknown>>

/** What the API refuses in a schema, by place. */
function faultsOf(schema: Node, place: string): string[] {
  const { type, anyOf, items, properties = {} } = schema
  const unknown = Object.keys(schema).filter((name) => !KNOWN.includes(name))
  const own = [
    ...unknown.map((name) => `${place}: unknown name ${name}`),
    ...(type === 'array' && items === undefined ? [`${place}.items: missing field`] : []),
    ...(Array.isArray(type) ? [`${place}.type: not one value`] : []),
  ]
  const below: [string, unknown][] = [
    ...Object.entries(properties as Node),
    ...(items === undefined ? [] : [['items', items] as [string, unknown]]),
    ...(Array.isArray(anyOf) ? anyOf.map((one): [string, unknown] => ['anyOf', one]) : []),
  ]
  return [...own, ...below.flatMap(([name, one]) => faultsOf(one as Node, `${place}.${name}`))]
}

/** Stands for the API: it looks at the declarations, calls a function, and ends when it is told the result. */
function geminiThatCalls(name: string, args: object) {
  const seen = { declared: [] as string[], refused: [] as string[], told: '' }
  const answers = [{ functionCall: { name, args } }, { text: 'found' }]
  return Object.assign(seen, {
    fetch: async (_url: string, { body }: { body: string }) => {
      const { tools, contents } = JSON.parse(body)
      const declarations: { name: string; parameters?: Node }[] = tools[0].functionDeclarations
      seen.declared = declarations.map((one) => one.name)
      seen.refused = declarations.flatMap((one) => faultsOf(one.parameters ?? {}, one.name))
      seen.told = JSON.stringify(contents)
      const content = { role: 'model', parts: [answers.shift()] }
      return Response.json({
        candidates: [{ content, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      })
    },
  })
}
