import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { Agent, createServer, type IncomingMessage, request, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
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
const SOCKETS_AT_ONCE = 1_000
const KEYS_IN_ONE_WRITE = 200
const PROGRESS_EVERY = 5_000
const MAX_GROWN_RSS_MB = 200
const MAX_GROWN_STORE_MB = 100
const MAX_RESTART_MS = 60_000

export type Amounts = { readonly purchases: number; readonly sockets: number; readonly keys: number }
export type UnpaidResult = Amounts & {
  readonly startRssMb: number
  readonly afterPurchasesRssMb: number
  readonly afterSocketsRssMb: number
  readonly afterKeysRssMb: number
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

/** Connections that say nothing, in waves. */
async function staySilent({ child }: Soak, sockets: number): Promise<void> {
  const { port, hostname } = new URL(child.url)
  for (let done = 0; done < sockets; done += SOCKETS_AT_ONCE) {
    const wave: Socket[] = []
    for (let n = 0; n < Math.min(SOCKETS_AT_ONCE, sockets - done); n += 1) {
      wave.push(connect(Number(port), hostname).on('error', () => undefined))
    }
    await sleep(500)
    for (const socket of wave) socket.destroy()
  }
}

/** Requests with keys that nobody has, as from behind a proxy, so that they are counted. */
async function makeUpKeys({ child }: Soak, keys: number): Promise<void> {
  const { port, hostname, host } = new URL(child.url)
  const requestOf = () =>
    `GET /v1/services/catalog?limit=1 HTTP/1.1\r\nHost: ${host}\r\nX-Forwarded-For: 203.0.113.9\r\nX-API-Key: sk_${randomBytes(20).toString('hex')}\r\n\r\n`
  let left = keys
  await Promise.all(
    Array.from({ length: CALLS_AT_ONCE }, async () => {
      let socket: Socket | undefined
      while (left > 0) {
        const count = Math.min(KEYS_IN_ONE_WRITE, left)
        left -= count
        if (!socket || socket.destroyed) socket = connect(Number(port), hostname).on('error', () => undefined)
        await answered(socket, Array.from({ length: count }, requestOf).join(''), count)
      }
      socket?.destroy()
    }),
  )
}

/** Resolves when so many answers began, or the connection ended. */
async function answered(socket: Socket, text: string, count: number): Promise<void> {
  let seen = 0
  const done = Promise.withResolvers<void>()
  const hear = (chunk: Buffer) => {
    seen += chunk.toString('latin1').split('HTTP/1.1 ').length - 1
    if (seen >= count) done.resolve()
  }
  socket.on('data', hear).once('close', done.resolve)
  socket.write(text)
  await done.promise
  socket.off('data', hear).off('close', done.resolve)
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
 * Unpaid purchases of the largest size, silent connections and made-up keys against one daemon; prints what they left.
 * Sets a non-zero exit code when that is more than it may be.
 */
export async function run(amounts: Amounts): Promise<UnpaidResult> {
  const dir = await mkdtemp(join(tmpdir(), 'souk-unpaid-'))
  const child = await startDaemon({ ...configDefaults, dataDir: dir, durability: 'full' })
  const soak: Soak = { child, dir, market: callsTo(() => soak.child.url, dir) }
  try {
    const odd = new Set<string>()
    const rss = () => memoryMb(soak.child.pid, 'VmRSS')
    const startRssMb = await rss()
    const startStoreMb = await folderMb(dir)
    process.stderr.write(`unpaid: starts at ${startRssMb} MB\n`)
    await failToBuy(soak, amounts.purchases, odd)
    const afterPurchasesRssMb = await rss()
    const fullStoreMb = await folderMb(dir)
    await staySilent(soak, amounts.sockets)
    const afterSocketsRssMb = await rss()
    await makeUpKeys(soak, amounts.keys)
    const afterKeysRssMb = await rss()
    const peakRssMb = await memoryMb(soak.child.pid, 'VmHWM')
    await sweep(soak)
    const sweptStoreMb = await folderMb(dir)
    const restartMs = await restarted(soak)
    const found = { startRssMb, afterPurchasesRssMb, afterSocketsRssMb, afterKeysRssMb, peakRssMb }
    return verdict({ ...amounts, ...found, startStoreMb, fullStoreMb, sweptStoreMb, restartMs, odd: [...odd] })
  } finally {
    await soak.child.kill()
    await rm(dir, { recursive: true, force: true })
  }
}

function verdict(result: UnpaidResult): UnpaidResult {
  const grownRss = result.afterKeysRssMb - result.startRssMb
  const grownStore = result.sweptStoreMb - result.startStoreMb
  const isOver = grownRss > MAX_GROWN_RSS_MB || grownStore > MAX_GROWN_STORE_MB || result.restartMs > MAX_RESTART_MS
  if (isOver || result.odd.length > 0) process.exitCode = 1
  return result
}
