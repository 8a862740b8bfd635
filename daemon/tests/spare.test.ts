import { once } from 'node:events'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Child, startDaemon } from '../../fixtures/kit/child.ts'
import { configDefaults } from '../../fixtures/kit/config.ts'
import { hasPostgres, testServer } from '../../fixtures/kit/postgres.ts'
import { callsTo, signPayment } from '../../fixtures/market/marketplace.ts'

// @slow daemons that die, and a lease that has to run out

/* Two daemons on one database behind a plain proxy. The leader is killed, hangs or stops; buyers only ever wait. */

const KILLS = Number(process.env.SOUK_TEST_KILLS ?? 1)
const BUYERS = 4
const BETWEEN = 8
const PAUSE_MS = 50
/** However slow the machine is, a payment outlives the change of daemons. */
const SIGNED = { change: { validBefore: 4_102_444_800n } }
/** A daemon that hangs does not answer. */
const HANGS_MS = 20_000

type Side = { readonly dir: string; child: Child & { readonly url: string } }
const sides: Side[] = []
let store: string
let proxy: Server

const start = (dir: string) => startDaemon({ ...configDefaults, dataDir: dir, durability: 'full', store, spare: true })
const probe = (side: Side, path: string) =>
  fetch(`${side.child.url}${path}`, { signal: AbortSignal.timeout(HANGS_MS) }).catch(() => undefined)
const leads = async (side: Side) => (await (await probe(side, '/ready'))?.text()) === 'ok\n'

/** Waits for a fact; the runner's limit ends a wait for one that never comes. */
async function until<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const found = await look()
    if (found) return found
    await sleep(PAUSE_MS)
  }
}

/** Asks both at once: one that hangs does not hold up the look at the other. */
const leading = () =>
  until(() =>
    Promise.any(
      sides.map(async (one) => {
        if (await leads(one)) return one
        throw new Error('a front')
      }),
    ).catch(() => undefined),
  )
const side = (n: number): Side => sides[n] as Side
const other = (one: Side): Side => (one === side(0) ? side(1) : side(0))

/** Hands each request to the leader. */
async function openProxy(): Promise<Server> {
  const server = createServer((req, res) => {
    // A daemon may be gone with the request. Only the client knows what it may send again.
    pass(req, res).catch(() => res.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

async function pass(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { connection: _, host: __, 'content-length': ___, ...headers } = req.headers
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk as Buffer)
  const sent = Buffer.concat(chunks)
  const answer = await fetch(`${(await leading()).child.url}${req.url}`, {
    method: req.method ?? 'GET',
    headers: headers as Record<string, string>,
    signal: AbortSignal.timeout(HANGS_MS),
    ...(sent.length === 0 ? {} : { body: sent }),
  })
  const body = Buffer.from(await answer.arrayBuffer())
  for (const [name, value] of answer.headers)
    if (!/^(content-(length|encoding)|transfer-|connection)/.test(name)) res.setHeader(name, value)
  res.writeHead(answer.status).end(body)
}

beforeAll(async () => {
  if (!hasPostgres()) return
  const { folder } = await testServer()
  store = `postgres://souk@/postgres?host=${folder}&schema=spare${process.pid}`
  const dirs = await Promise.all([0, 1].map(() => mkdtemp(join(tmpdir(), 'souk-spare-'))))
  for (const dir of dirs) {
    const first = sides[0]
    if (first) await copyFile(join(first.dir, 'admin.key'), join(dir, 'admin.key'))
    const begun = { dir, child: await start(dir) }
    sides.push(begun)
    if (!first) await until(() => leads(begun))
  }
  proxy = await openProxy()
})
afterAll(async () => {
  proxy?.close()
  for (const { child, dir } of sides) {
    await child.kill()
    await rm(dir, { recursive: true, force: true })
  }
})

describe.skipIf(!hasPostgres())('a spare', () => {
  test('is ready, and hands on what it is asked', async () => {
    const fronting = other(await leading())
    const ready = await until(async () => {
      const answer = await probe(fronting, '/ready')
      return answer?.status === 200 && answer.text()
    })
    expect(ready).toMatch(/^ok: a front of pid \d+ on .+\n$/)
    expect((await probe(fronting, '/live'))?.status).toBe(200)
    const [here, there] = await Promise.all(
      [fronting, other(fronting)].map(async (one) => (await probe(one, '/v1/services/catalog'))?.text()),
    )
    expect(JSON.parse(here ?? '').services).toEqual(JSON.parse(there ?? '').services)
  })

  test('takes over from one that is killed, hangs or stops, and no acknowledged purchase is lost or doubled', async () => {
    const { port } = proxy.address() as AddressInfo
    // Both folders have the same key.
    const { call, admin } = callsTo(() => `http://127.0.0.1:${port}`, side(0).dir)
    /** Sends a request again until it is answered so. */
    const answered = (status: number, ...sent: Parameters<typeof call>) =>
      until(async () => {
        const answer = await call(...sent).catch(() => undefined)
        if (answer && answer.status !== status && answer.status !== 503)
          throw new Error(`${answer.status} ${answer.text}`)
        return answer?.status === status && answer
      })
    const catalog = await answered(200, 'GET', '/v1/services/catalog?q=qr')
    const target = `/v1/services/${catalog.body.services[0].id}/purchase`
    const jobs: string[] = []
    let isOver = false

    async function buy(): Promise<void> {
      const payer = privateKeyToAccount(generatePrivateKey())
      const funds = { body: { wallet: payer.address, amount: '100.00' } }
      await until(() =>
        admin('POST', '/dashboard/api/admin/faucet', funds)
          .then(({ status }) => status === 200)
          .catch(() => false),
      )
      for (let n = 0; !isOver; n += 1) {
        const body = { data: `${payer.address} ${n}` }
        const payment = await signPayment(payer, await answered(402, 'POST', target, { body }), SIGNED)
        const bought = await answered(200, 'POST', target, { body, headers: payment })
        jobs.push(bought.body.job_id)
      }
    }

    const more = (count: number, from = jobs.length) => until(async () => jobs.length >= from + count)
    const buyers = Promise.all(Array.from({ length: BUYERS }, buy))
    const ends = {
      kill: async ({ child }: Side) => child.kill(),
      stop: async ({ child }: Side) => {
        process.kill(child.pid, 'SIGTERM')
        await expect(child.line()).rejects.toThrow('ended')
      },
      hang: async ({ child }: Side) => void process.kill(child.pid, 'SIGSTOP'),
    }
    for (const end of [...Array.from({ length: KILLS }, () => 'kill' as const), 'stop', 'hang', 'kill'] as const) {
      await more(BETWEEN)
      const served = await leading()
      await ends[end](served)
      await until(() => leads(other(served)))
      await more(BETWEEN)
      if (end === 'hang') {
        // It wakes with a lease that another one took: it must end, and write nothing.
        process.kill(served.child.pid, 'SIGCONT')
        await expect(served.child.line()).rejects.toThrow('ended')
      }
      served.child = await start(served.dir)
    }
    isOver = true
    await buyers
    const { body: all } = await admin('GET', '/dashboard/api/admin/jobs?limit=1')
    expect(new Set(jobs).size).toBe(jobs.length)
    expect(all.total).toBe(jobs.length)
    const { body: audit } = await admin('GET', '/dashboard/api/admin/audit')
    expect(audit.checks.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([])
  })
})
