import { spawn } from 'node:child_process'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { honest } from '../../fixtures/hostile/answers.ts'
import { type Hostile, openHostile } from '../../fixtures/hostile/server.ts'
import { tricks } from '../../fixtures/hostile/tricks.ts'
import { PROGRAM } from '../../fixtures/kit/program.ts'
import { openUserAtMarket, type User } from '../../fixtures/kit/user.ts'
import { type Foreign, load as outside } from '../../fixtures/outside/load.ts'

// @slow real programs speak with each other

/* An agent's program, the official client, talks to a real server process over stdio, at a real daemon. */

const { Client } = await outside('@modelcontextprotocol/client')
const { StdioClientTransport } = await outside('@modelcontextprotocol/client/stdio')

const MODERN = { versionNegotiation: { mode: { pin: '2026-07-28' } } }

let user: User
const open: Foreign[] = []
beforeAll(async () => {
  user = await openUserAtMarket()
  for (const name of ['buyer', 'seller', 'unset', 'admin']) await user.register(name, '60.00')
  for (const name of ['buyer', 'admin']) await user.json('wallet', 'policy', 'set', name, '--per-day', '50.00')
})
afterAll(() => user.close())
afterEach(async () => {
  for (const client of open.splice(0)) await client.close()
})

const env = () => ({ HOME: user.home, PATH: process.env.PATH ?? '', TMPDIR: user.home })

/** A client whose person says yes or no; one that cannot ask where nothing is said. */
async function connect(
  words: readonly string[],
  { says, ...options }: { says?: boolean; [option: string]: unknown } = {},
) {
  const capabilities = says === undefined ? {} : { elicitation: {} }
  const client = new Client({ name: 'agent', version: '1' }, { capabilities, ...options })
  const asked: string[] = []
  if (says !== undefined) {
    client.setRequestHandler('elicitation/create', ({ params }: Foreign) => {
      asked.push(params.message)
      return says ? { action: 'accept', content: { agree: true } } : { action: 'decline' }
    })
  }
  const args = [PROGRAM, 'mcp', ...words]
  const transport = new StdioClientTransport({ command: process.execPath, args, env: env(), stderr: 'ignore' })
  await client.connect(transport)
  open.push(client)
  const codes: number[] = []
  const { onmessage } = transport
  transport.onmessage = (message: { error?: { code: number } }) => {
    if (message.error) codes.push(message.error.code)
    onmessage?.(message)
  }
  return Object.assign(client, { asked, codes })
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every tool, each read by the test that asked
type Answer = { isError: boolean; text: string; data: any }

async function call(client: Foreign, name: string, given: object = {}): Promise<Answer> {
  const result = await client.callTool({ name, arguments: { ...given } })
  const content = result.content as readonly { readonly text?: string }[]
  return {
    isError: result.isError === true,
    text: content.map(({ text }) => text ?? '').join('\n'),
    data: result.structuredContent,
  }
}

/** What a tool answers. @throws Error with what it said when it failed */
async function done(client: Foreign, name: string, given: object = {}) {
  const { isError, text, data } = await call(client, name, given)
  if (isError) throw new Error(`${name}: ${text}`)
  return data
}

const LISTING = {
  name: 'A careful count',
  description: 'Counts words by hand.',
  price: '0.40',
  fulfillment_type: 'human',
  input_schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
}

describe.each([
  ['of today', {}],
  ['of the revision without connections', MODERN],
] as const)('an agent %s', (_, options) => {
  test('discovers, buys, watches, verifies and disputes, while another one sells', async () => {
    const buyer = await connect(['--as', 'buyer'], options)
    const seller = await connect(['--as', 'seller'], options)
    const { id } = await done(seller, 'create_service', { body: LISTING })
    const { services } = await done(buyer, 'get_catalog', { q: 'careful count' })
    expect(services.map((one: { id: string }) => one.id)).toContain(id)
    const bought = await Promise.all([1, 2].map(() => done(buyer, 'purchase_service', { id, body: { text: 'a b' } })))
    const told: string[] = []
    const [first, second] = bought.map(({ job_id }) => job_id as string)
    const waiting = buyer.callTool(
      { name: 'wait_for_job', arguments: { id: first, seconds: 60 } },
      { onprogress: ({ message = '' }) => told.push(message) },
    )
    const { jobs } = await done(seller, 'list_jobs', { role: 'provider' })
    expect(jobs.map((job: { job_id: string }) => job.job_id)).toEqual(expect.arrayContaining([first, second]))
    for (const job of [first, second]) {
      await done(seller, 'update_job', { id: job, body: { status: 'completed', deliverables: [{ words: 2 }] } })
    }
    expect((await waiting).structuredContent).toMatchObject({ over: true, job: { job_id: first, status: 'completed' } })
    expect(told).toContain(`waiting for ${first}`)
    expect(await done(buyer, 'verify_job', { id: first, body: { rating: 5 } })).toMatchObject({ status: 'released' })
    const complaint = { reason: 'There are three.', category: 'quality' }
    expect(await done(buyer, 'dispute_job', { id: second, body: complaint })).toMatchObject({ status: 'disputed' })
    const { resources } = await buyer.listResources()
    const uris = resources.map(({ uri }: Foreign) => uri)
    expect(uris).toEqual(expect.arrayContaining([`souk://services/${id}`, `souk://jobs/${second}`]))
    const { contents } = await buyer.readResource({ uri: `souk://jobs/${second}` })
    expect(
      JSON.parse(String('text' in (contents[0] ?? {}) ? (contents[0] as { text: string }).text : '')),
    ).toMatchObject({
      job_id: second,
      status: 'disputed',
    })
  })

  test('is asked for a person where nobody set a policy, and pays what was agreed to, once', async () => {
    const client = await connect(['--as', 'unset'], { ...options, says: true })
    const { services } = await done(client, 'get_catalog', { q: 'qr' })
    const before = (await user.json('wallet', 'spend', 'unset')).day.count
    const { text, isError } = await call(client, 'purchase_service', { id: services[0].id, body: { data: 'x' } })
    expect([isError, text]).toEqual([false, expect.stringContaining('paid $0.01')])
    expect(client.asked).toEqual([expect.stringMatching(/^Pay \$0\.01 to p_[0-9a-f]{16}@local from wallet unset\?$/)])
    expect((await user.json('wallet', 'spend', 'unset')).day.count).toBe(before + 1)
    await done(client, 'purchase_service', { id: services[0].id, body: { data: 'y' } })
    expect(client.asked).toHaveLength(2)
  })

  test.each([
    ['says no', { says: false }, 'Not approved'],
    ['cannot be asked', {}, '$0.01 needs approval, and there is no terminal to ask on'],
  ])('whose person %s pays nothing, and reads the way out', async (_name, person, why) => {
    const client = await connect(['--as', 'unset'], { ...options, ...person })
    const { services } = await done(client, 'get_catalog', { q: 'qr' })
    const before = await user.json('wallet', 'spend', 'unset')
    const refused = await call(client, 'purchase_service', { id: services[0].id, body: { data: 'x' } })
    expect(refused).toMatchObject({ isError: true, data: { error: { code: 'payment', exit: 5 } } })
    expect(refused.text).toContain(why)
    if (!('says' in person)) expect(refused.text).toContain('wallet policy set unset --ask-above 0.01')
    expect(await user.json('wallet', 'spend', 'unset')).toEqual(before)
  })

  test('is stopped by the policy of its wallet, and told which rule it was', async () => {
    await user.json('wallet', 'policy', 'set', 'admin', '--per-payment', '0.005')
    const client = await connect(['--as', 'admin', '--max-price', '2.00'], options)
    const { services } = await done(client, 'get_catalog', { q: 'qr' })
    const refused = await call(client, 'purchase_service', { id: services[0].id, body: { data: 'x' } })
    expect(refused.text).toContain('rule: per_payment')
    // The policy of now holds, not that of when the server was started.
    await user.json('wallet', 'policy', 'set', 'admin', '--per-payment', 'none')
    await done(client, 'purchase_service', { id: services[0].id, body: { data: 'x' } })
    const bounded = await call(client, 'purchase_service', {
      id: services[0].id,
      body: { data: 'x' },
      max_price: '0.001',
    })
    expect(bounded.text).toContain('above the limit of $0.001')
  })
})

test('tools are chosen by group, and those that change or cost nothing alone', async () => {
  const client = await connect(['--readonly', '--tools', 'services,jobs'])
  const names: string[] = (await client.listTools()).tools.map(({ name }: Foreign) => name)
  expect(names).toEqual(expect.arrayContaining(['get_catalog', 'get_service', 'list_jobs', 'wait_for_job']))
  expect(names.filter((name) => /purchase|create|update|delete|admin|participant/.test(name))).toEqual([])
  // Not a result: a model that made the name up would take it for an answer of the tool.
  await expect(call(client, 'purchase_service', { id: 'svc_0000000000000000', body: {} })).rejects.toMatchObject({
    code: -32_602,
    message: expect.stringContaining('There is no tool purchase_service'),
  })
  const { code, err } = await user.souk('mcp', '--tools', 'servces')
  expect([code, err]).toEqual([2, expect.stringContaining('There is no tool group servces (did you mean services?)')])
})

/** An object in an object in an object … */
function nested(depth: number): object {
  let inner = {}
  for (let i = 0; i < depth; i++) inner = { inner }
  return inner
}

test('the default tools are 40 or fewer, and `mcp install` names them', async () => {
  const client = await connect([])
  const names = (await client.listTools()).tools.map(({ name }: { name: string }) => name)
  expect(names.length).toBeLessThanOrEqual(40)
  expect(names).toEqual(expect.arrayContaining(['purchase_service', 'create_service', 'update_job', 'wait_for_job']))
  const { err } = await user.souk('mcp', 'install', 'cursor')
  expect(err).toContain(`tools: ${names.join(' ')}\n`)
  const more = await connect(['--tools', 'default,postings'])
  expect((await more.listTools()).tools.length).toBeGreaterThan(names.length)
})

test.each([
  ['of today', {}, -32_002],
  ['of the revision without connections', MODERN, -32_602],
] as const)(
  'resources %s: a listing says its price, an unknown one has the code for that',
  async (_, options, code) => {
    const client = await connect(['--as', 'buyer'], options)
    const { resources } = await client.listResources()
    const listings = resources.filter(({ uri }: { uri: string }) => uri.startsWith('souk://services/'))
    expect(listings.length).toBeGreaterThan(10)
    for (const { description } of listings) expect(description).toMatch(/^(\$\d+\.\d+|price on request): \S/)
    for (const uri of ['souk://services/svc_0000000000000000', 'souk://nothing/here']) {
      const failed = await client.readResource({ uri }).catch((error: unknown) => error)
      expect(failed).toMatchObject({ data: { uri }, message: expect.stringMatching(/no|not/) })
      // The client's own error has one code for both: what counts is what was sent.
      expect(client.codes.at(-1)).toBe(code)
    }
  },
)

test('slips are refused in words that lead on', async () => {
  const slips: readonly (readonly [name: string, given: object, why: string])[] = [
    ['get_service', {}, 'get_service needs id'],
    ['get_service', { id: '' }, 'id is empty'],
    ['get_catalog', { categry: 'x' }, 'has no argument categry (did you mean category?)'],
    ['purchase_service', { id: 'svc_0000000000000000', body: {}, text: 'x' }, 'put request fields into body'],
    ['purchase_service', { id: 'svc_0000000000000000', body: {}, max_price: 'much' }, 'max_price must be an amount'],
    ['wait_for_job', { id: 'job' }, 'id must be a job'],
    ['create_service', { body: nested(3_000) }, 'body: is nested more than 32 levels deep'],
  ]
  const client = await connect(['--as', 'buyer'])
  await expect(call(client, 'get_servce')).rejects.toThrow('did you mean get_service?')
  for (const [name, given, why] of slips) {
    const { isError, text } = await call(client, name, given)
    expect([isError, text]).toEqual([true, expect.stringContaining(why)])
  }
})

test('keys and tokens are kept on this machine, and not told to the agent', async () => {
  await user.json('wallet', 'new', 'fresh')
  await user.json('wallet', 'fund', 'fresh', '--amount', '1.00')
  const client = await connect(['--as', 'fresh'], { says: true })
  const { services } = await done(client, 'get_catalog', { q: 'qr' })
  const bought = await done(client, 'purchase_service', { id: services[0].id, body: { data: 'x' } })
  expect(bought).toMatchObject({ access_token: null, kept_on_this_machine: ['access_token'] })
  expect((await done(client, 'wait_for_job', { id: bought.job_id })).over).toBe(true)
  expect(await done(client, 'register', { body: { name: 'Fresh', type: 'agent' } })).toMatchObject({
    api_key: null,
    kept_on_this_machine: ['api_key'],
  })
  expect(await done(client, 'get_balance')).toMatchObject({ available: '0.00' })
})

test('only the protocol goes to stdout, whatever comes in', async () => {
  const child = spawn(process.execPath, [PROGRAM, 'mcp', '--debug'], { env: env(), stdio: ['pipe', 'pipe', 'ignore'] })
  const said = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
  const lines = [
    'no json at all',
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: said }),
    JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
    JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'get_catalog', arguments: {} } }),
    JSON.stringify({ jsonrpc: '2.0', id: 3, method: 'no/such' }),
  ]
  child.stdin.write(`${lines.join('\n')}\n`)
  let out = ''
  for await (const part of child.stdout) {
    out += String(part)
    // The input ends, and with it the server, once all three are answered.
    if ([1, 2, 3].every((id) => out.includes(`"id":${id}`))) child.stdin.end()
  }
  const answers = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(answers.every(({ jsonrpc }) => jsonrpc === '2.0')).toBe(true)
  expect(child.exitCode ?? 0).toBe(0)
})

test('the printed configuration starts a server that answers, whoever reads it', async () => {
  const { configs, command, args } = await user.json('mcp', 'install', '--as', 'buyer', '--readonly')
  expect(configs.map((one: { agent: string }) => one.agent)).toEqual(
    expect.arrayContaining(['claude-code', 'claude-desktop', 'cursor', 'vscode', 'codex', 'zed']),
  )
  for (const { format, text } of configs) {
    if (format === 'json') expect(JSON.stringify(JSON.parse(text))).toContain(JSON.stringify(args))
    else expect(text).toContain(command)
  }
  const { mcpServers } = JSON.parse(configs.find((one: { agent: string }) => one.agent === 'cursor').text)
  const client = new Client({ name: 'agent', version: '1' })
  open.push(client)
  await client.connect(
    new StdioClientTransport({ ...mcpServers.souk, env: { ...env(), ...mcpServers.souk.env }, stderr: 'ignore' }),
  )
  expect((await client.listTools()).tools.length).toBeGreaterThan(10)
})

describe('a server that means ill', () => {
  let hostile: Hostile
  beforeAll(async () => {
    hostile = await openHostile()
    await user.json('wallet', 'new', 'prey')
    await user.json('wallet', 'policy', 'set', 'prey', '--per-day', '0.40')
  })
  afterAll(() => hostile.close())

  const visible = /^[^\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}]*$/u

  test('is shown as data without what acts or hides, and no longer than what is read', async () => {
    const client = await connect(['--base-url', hostile.url, '--as', 'prey'])
    hostile.play(({ origin, received }) =>
      honest(origin, received, (value) => ({ ...(value as object), name: `\u001b[31m\u202e${'x'.repeat(50_000)}` })),
    )
    const { text } = await call(client, 'get_service', { id: 'svc_0123456789abcdef' })
    expect(text.replace(/\\n/g, '')).toMatch(visible)
    expect(text.length).toBeLessThan(40_000)
    expect(text).toContain('more characters)')
  })

  test('that asks and asks gets no more than the limit of a day', async () => {
    await user.json('remote', 'add', 'evil', hostile.url, '--network', 'sandbox').catch(() => undefined)
    const client = await connect(['--base-url', hostile.url, '--as', 'prey'])
    hostile.play(tricks['the same wall for ever'] as never)
    for (let i = 0; i < 4; i++) await call(client, 'verify_job', { id: 'job_0123456789abcdef', body: {} })
    const { day } = await user.json('wallet', 'spend', 'prey')
    expect(Number(day.agreed)).toBeLessThanOrEqual(0.4)
  })
})
