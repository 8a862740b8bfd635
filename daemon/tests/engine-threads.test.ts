import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Worker } from 'node:worker_threads'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Marketplace, openMarketplace } from '../../fixtures/market/marketplace.ts'
import { amountOf } from '../../src/core/money.ts'
import { engineBoard } from '../engines/engines.ts'
import { builtIn } from '../ports/engine.ts'
import { openAuthority, openTlsListener } from '../ports/tls/authority.testkit.ts'
import { openTls } from '../ports/tls/tls.ts'

/* A thread of the daemon that works for somebody ends: nobody pays for nothing, and the next purchase has a new thread. */

const FUNDS = '1.00'
const HOST = 'site.test'

/** While true, connections to the TLS host are held without an answer. */
let isHolding = false
const held: Socket[] = []
/** Threads of this process, in order of their start. */
const threads: Worker[] = []
const note = (worker: Worker) => threads.push(worker)

let market: Marketplace
const opened: { close: () => unknown }[] = []

beforeAll(async () => {
  const authority = openAuthority()
  const listener = await openTlsListener(authority.leaf({ name: HOST }))
  const door = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    if (isHolding) return void held.push(socket)
    socket.pipe(connect(listener.port, '127.0.0.1').on('error', () => socket.destroy())).pipe(socket)
  }).listen(0, '127.0.0.1')
  await once(door, 'listening')
  const toLoopback = async () => [{ address: '127.0.0.1', family: 4 as const }]
  const tls = openTls({ resolve: toLoopback, port: (door.address() as AddressInfo).port, ca: authority.root })
  opened.push(door, listener, authority)
  process.on('worker', note)
  market = await openMarketplace(
    {},
    {
      web: { resolve: toLoopback },
      engines: {
        tls: { ...builtIn(tls, 'of the test'), close: tls.close },
      },
    },
  )
  await engineBoard.of(market.daemon.ctx).ready
})
afterEach(() => {
  isHolding = false
  for (const socket of held.splice(0)) socket.destroy()
})
afterAll(async () => {
  process.off('worker', note)
  await market.close()
  for (const one of opened) await one.close()
})

async function bought(slug: string, input: object) {
  const buyer = await market.buyer(FUNDS)
  const path = `${market.url()}/v1/services/${await market.serviceId(slug)}/purchase`
  const headers = { 'Content-Type': 'application/json' }
  const answer = await buyer.fetch(1)(path, { method: 'POST', headers, body: JSON.stringify(input) })
  return {
    status: answer.status,
    paid: async () => amountOf(FUNDS) - (await market.daemon.ctx.chain.balanceOf(buyer.wallet)),
  }
}

async function hasSoundBooks(): Promise<void> {
  const { body } = await market.admin('GET', '/dashboard/api/admin/audit')
  expect(body.checks.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([])
}

describe('a thread that ends in the middle of a purchase', () => {
  it('of a TLS handshake takes no money, and the next purchase is served', async () => {
    isHolding = true
    const before = threads.length
    const buying = bought('certificate_check', { domain: HOST })
    await expect.poll(() => held.length).toBeGreaterThan(0)
    await Promise.all(threads.slice(before).map((worker) => worker.terminate()))
    const lost = await buying
    expect([lost.status, await lost.paid()]).toEqual([502, 0n])
    isHolding = false
    const next = await bought('certificate_check', { domain: HOST })
    expect([next.status, await next.paid()]).toEqual([200, amountOf('0.01')])
    await hasSoundBooks()
  })
})
