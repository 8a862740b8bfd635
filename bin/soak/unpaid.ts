import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { Agent, createServer, type IncomingMessage, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Child, startDaemon } from '../../fixtures/kit/child.ts'
import { configDefaults } from '../../fixtures/kit/config.ts'
import { priced } from '../../fixtures/market/escrow.ts'
import { type Calls, callsTo } from '../../fixtures/market/marketplace.ts'
import { type Person, registered } from '../../fixtures/market/people.ts'
import { DAY_MS } from '../../src/core/time.ts'

/* What strangers do without paying: it must leave neither memory nor files behind, and never keep a daemon from starting. */

const MB = 1024 * 1024
const INPUT_CHARS = 250_000
const UNPAID_OF_ONE_BUYER = 500
const CALLS_AT_ONCE = 16
const PROGRESS_EVERY = 5_000
const MAX_GROWN_RSS_MB = 200
const MAX_GROWN_STORE_MB = 100
const MAX_RESTART_MS = 60_000

type UnpaidResult = {
  readonly purchases: number
  readonly startRssMb: number
  readonly afterRssMb: number
  readonly peakRssMb: number
  readonly startStoreMb: number
  readonly fullStoreMb: number
  readonly sweptStoreMb: number
  readonly restartMs: number
  /** Answers that were not what an unpaid call gets. Must be empty. */
  readonly odd: readonly string[]
}

type Soak = { child: Child & { readonly url: string }; readonly dir: string; readonly market: Calls }

/** Resident memory of the daemon, by the registration of its own: `VmRSS`, and `VmHWM` for the most there was. */
async function memoryMb(pid: number, line: 'VmRSS' | 'VmHWM'): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(new RegExp(`${line}:\\s+(\\d+) kB`).exec(text)?.[1] ?? 0) / 1_024)
}

async function folderMb(dir: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name)).catch(() => undefined))?.size ?? 0
  }
  return Number((bytes / MB).toFixed(1))
}

/** An endpoint that takes everything and does nothing. */
async function failingProvider(): Promise<{ server: Server; url: string }> {
  const server = createServer((req, res) => {
    req.resume().on('end', () => res.writeHead(500).end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` }
}

/** A few callers at once, until so many calls were made. */
async function inTurn(count: number, call: (number: number) => Promise<void>): Promise<void> {
  let next = 0
  await Promise.all(
    Array.from({ length: CALLS_AT_ONCE }, async () => {
      while (next < count) await call(next++)
    }),
  )
}

async function failToBuy({ child, market }: Soak, purchases: number, odd: Set<string>): Promise<void> {
  const { server, url } = await failingProvider()
  try {
    const provider = await registered(market, { type: 'provider', webhook_url: url })
    const listed = await provider.call('POST', '/v1/services', {
      ...priced,
      price: '0.01',
      fulfillment_type: 'instant',
    })
    const buyers: Person[] = []
    for (let n = 0; n * UNPAID_OF_ONE_BUYER < purchases; n += 1) {
      const buyer = await registered(market, { type: 'agent' })
      await buyer.pay('/v1/balance/deposit', { body: { amount: '5.00' } })
      buyers.push(buyer)
    }
    const body = Buffer.from(JSON.stringify({ text: 'x'.repeat(INPUT_CHARS) }))
    const to = new URL(`/v1/services/${listed.body.id}/purchase`, child.url)
    const agent = new Agent({ keepAlive: true, maxSockets: CALLS_AT_ONCE })
    await inTurn(purchases, async (n) => {
      const buyer = buyers[n % buyers.length] as Person
      const answer = await post(to, { agent, key: buyer.key, body })
      if (answer.status !== 502) odd.add(`purchase: ${answer.status} ${answer.text.slice(0, 200)}`)
      if (n % PROGRESS_EVERY === PROGRESS_EVERY - 1) {
        const rssMb = await memoryMb(child.pid, 'VmRSS')
        process.stderr.write(`unpaid: ${n + 1}/${purchases} purchases, ${rssMb} MB\n`)
      }
    })
    agent.destroy()
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

type Post = { readonly agent: Agent; readonly key: string; readonly body: Buffer }

/** One POST over a kept connection: `fetch` costs more than what it would be sent to. */
async function post(to: URL, { agent, key, body }: Post): Promise<{ status: number; text: string }> {
  const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length, 'X-BALANCE-AUTH': key }
  const sent = request(to, { method: 'POST', agent, headers })
  sent.end(body)
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of answer.setEncoding('utf8')) text += chunk
  return { status: answer.statusCode ?? 0, text }
}

/** The sweep of the day after. */
async function sweep({ market }: Soak): Promise<void> {
  await market.admin('POST', '/dashboard/api/admin/clock', { body: { advance_ms: DAY_MS + 1 } })
  await market.admin('POST', '/dashboard/api/admin/crons/housekeeping/run')
}

/** Answers when a daemon does again. */
async function restarted(soak: Soak): Promise<number> {
  await soak.child.kill()
  const before = performance.now()
  soak.child = await startDaemon({ ...configDefaults, dataDir: soak.dir, durability: 'full' })
  return Math.round(performance.now() - before)
}

/**
 * Unpaid purchases of the largest size against one daemon; returns what they left.
 * Sets a non-zero exit code when that is more than it may be.
 */
export async function run(purchases: number): Promise<UnpaidResult> {
  const dir = await mkdtemp(join(tmpdir(), 'souk-unpaid-'))
  const child = await startDaemon({ ...configDefaults, dataDir: dir, durability: 'full' })
  const soak: Soak = { child, dir, market: callsTo(() => soak.child.url, dir) }
  try {
    const odd = new Set<string>()
    const startRssMb = await memoryMb(child.pid, 'VmRSS')
    const startStoreMb = await folderMb(dir)
    process.stderr.write(`unpaid: starts at ${startRssMb} MB\n`)
    await failToBuy(soak, purchases, odd)
    const afterRssMb = await memoryMb(child.pid, 'VmRSS')
    const fullStoreMb = await folderMb(dir)
    const peakRssMb = await memoryMb(child.pid, 'VmHWM')
    await sweep(soak)
    const sweptStoreMb = await folderMb(dir)
    const restartMs = await restarted(soak)
    const isOver =
      afterRssMb - startRssMb > MAX_GROWN_RSS_MB ||
      sweptStoreMb - startStoreMb > MAX_GROWN_STORE_MB ||
      restartMs > MAX_RESTART_MS
    if (isOver || odd.size > 0) process.exitCode = 1
    const found = { startRssMb, afterRssMb, peakRssMb, startStoreMb, fullStoreMb, sweptStoreMb, restartMs }
    return { purchases, ...found, odd: [...odd] }
  } finally {
    await soak.child.kill()
    await rm(dir, { recursive: true, force: true })
  }
}
