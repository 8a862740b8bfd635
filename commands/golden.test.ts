import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, it } from 'vitest'
import { runLine } from '../fixtures/kit/command-line.testkit.ts'
import { exampleAnswer } from '../fixtures/kit/example-answers.ts'
import { expectGolden } from '../fixtures/kit/golden.ts'
import { groups } from '../src/cli/run/groups.ts'
import { addRemote } from '../src/client/remotes.ts'
import { keepAdminKey, keepApiKey } from '../src/client/secrets.ts'
import { createWallet } from '../src/client/wallets.ts'
import { entries } from './index.ts'

/*
 * What the lists and views of the command line say of the examples of the contract, word by word. A change of a column is
 * seen here, and judged: `SOUK_GOLDEN=write npx vitest run commands/golden.test.ts` writes the file anew.
 */

const NOW = Date.parse('2026-11-21T14:03:07.000Z')
const SIZES = [80, 160]
/** What stands for any id, name and file in the examples. */
const GIVEN: Readonly<Record<string, string>> = {
  service: 'svc_0123456789abcdef',
  job: 'job_0123456789abcdef',
  plan: 'plan_0123456789abcdef',
  subscription: 'sub_0123456789abcdef',
  participant: 'p_0123456789abcdef',
  request: 'post_0123456789abcdef',
  product: 'prod_0123456789abcdef',
  thread: 'thr_0123456789abcdef',
  delivery: 'whd_0123456789abcdef',
  cron: 'auto-refund',
  receipt: 'rcp_0123456789abcdef',
}
/** What `receipts list` reads: an export has lines, and no example in the contract. */
const EXPORTED = [
  { kind: 'export', record: { as_of: '2026-11-21T14:03:07.000Z', participant_id: 'p_0123456789abcdef' } },
  {
    kind: 'payment',
    record: {
      receipt_id: 'rcp_0123456789abcdef',
      method: 'x402',
      status: 'fulfilled',
      amount: '0.525',
      endpoint: 'purchaseService',
      transaction: `0x${'ab'.repeat(32)}`,
      created_at: '2026-11-21T14:00:00.000Z',
      updated_at: '2026-11-21T14:00:00.000Z',
    },
  },
  { kind: 'end', record: { records: 1, counts: { payment: 1 } } },
]
/** They list what is on this machine, or the rows of the interface. */
const ELSEWHERE = /^(config|snapshots|wallet|remote|endpoints|discovery|facilitator) /
const lines = entries
  .filter(({ name, aliasOf }) => /(^| )(list|view)$/.test(name) && aliasOf === undefined && !ELSEWHERE.test(name))
  .map(({ name }) => name)

let home: string
let server: Server

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'souk-golden-'))
  server = createServer(({ method, url = '' }, response) => {
    if (url.startsWith('/v1/export')) {
      response.end(EXPORTED.map((line) => `${JSON.stringify(line)}\n`).join(''))
      return
    }
    const answer = exampleAnswer(`${method} ${url.replace(/\?.*/, '')}`)
    const body = answer ?? { error: { code: 'not_found', message: 'There is no example.' } }
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const places = { config: home }
  addRemote(places, { name: 'examples', url, network: 'sandbox' })
  keepAdminKey(places, 'examples', 'admin')
  const { address } = await createWallet(places, { name: 'main', createdAt: new Date(NOW).toISOString() })
  keepApiKey(places, url, { wallet: address, key: 'souk_key' })
})

afterAll(async () => {
  server.close()
  server.closeAllConnections()
  await rm(home, { recursive: true })
})

async function run(words: readonly string[], columns?: number): Promise<string> {
  const env = { HOME: home, SOUK_CONFIG_DIR: home, SOUK_REMOTE: 'examples', SOUK_UTC: '1', SOUK_NO_INPUT: '1' }
  const how = { env, now: () => NOW, ...(columns === undefined ? {} : { columns, rows: 10_000 }) }
  const { code, out, err } = await runLine({ entries, groups }, words, how)
  if (code !== 0) throw new Error(`${words.join(' ')}: ${err}`)
  return plain(out)
}

function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours say what the words say too
  return text.replaceAll(/\u001B\[[\d;?]*[A-Za-z]/g, '').replaceAll(/ +$/gm, '')
}

/** Names of members as deep as they go, without their values. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf)
  if (typeof value !== 'object' || value === null) return ''
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]))
}

it('lists and views of the command line say what they said', async () => {
  const told: string[] = []
  for (const name of lines) {
    const entry = entries.find((one) => one.name === name)
    const { args } = (await entry?.load())?.command ?? { args: { shape: {} } }
    const words = [...name.split(' '), ...Object.keys(args.shape).flatMap((arg) => GIVEN[arg] ?? [])]
    told.push(`==== souk ${words.join(' ')}`, await run([...words, '--help'], 100))
    for (const columns of SIZES) told.push(`---- at ${columns}`, await run(words, columns))
    told.push('---- in a pipe', await run(words))
    told.push(
      '---- members',
      JSON.stringify(shapeOf(JSON.parse(await run([...words, '--json'])))).replaceAll(':""', ''),
    )
  }
  expectGolden('lists.txt', told.join('\n'))
})
