import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Marketplace, openMarketplace } from '../../fixtures/market/marketplace.ts'
import { OUTSIDE } from '../../fixtures/outside/load.ts'
import { amountOf } from '../../src/core/money.ts'
import { engineBoard } from '../engines/engines.ts'
import { openDom } from '../ports/dom/dom.ts'
import { builtIn } from '../ports/engine.ts'
import { openAuthority, openTlsListener } from '../ports/tls/authority.testkit.ts'
import { openTls } from '../ports/tls/tls.ts'
import { openSite, type Site } from '../ports/web/site.testkit.ts'

/* A thread of the daemon that works for somebody ends: nobody pays for nothing, and the next purchase has a new thread. */

const FUNDS = '1.00'
const HOST = 'site.test'

/** While true, connections to the TLS host are held without an answer. */
let isHolding = false
const held: Socket[] = []
/** Threads of this process, in order of their start. */
const threads: Worker[] = []
const note = (worker: Worker) => threads.push(worker)

/** A file that is there once jsdom parsed a page. */
const folder = mkdtempSync(join(tmpdir(), 'souk-jsdom-'))
const parsed = join(folder, 'parsed')
let site: Site
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
  site = await openSite({ '/': { body: `<title>Ducks</title>${'<p>Ducks</p>'.repeat(200)}` } })
  opened.push(site)
  const exempt = (place: { readonly port: number }) => place.port === site.port
  market = await openMarketplace(
    {},
    {
      web: { resolve: toLoopback, exempt },
      engines: {
        dom: openDom({ isAllowed: true, folder: toldJsdom() }),
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
  rmSync(folder, { recursive: true })
})

/** Folder of a package that is jsdom, and tells when it parses. */
function toldJsdom(): string {
  const real = join(OUTSIDE, 'jsdom')
  writeFileSync(join(folder, 'package.json'), '{"name": "jsdom", "version": "1.0.0", "main": "main.cjs"}')
  writeFileSync(
    join(folder, 'main.cjs'),
    `const real = require(${JSON.stringify(real)}), { writeFileSync } = require('node:fs')
    const construct = (...made) => (writeFileSync(${JSON.stringify(parsed)}, '1'), Reflect.construct(...made))
    const JSDOM = new Proxy(real.JSDOM, { construct })
    module.exports = { ...real, VirtualConsole: real.VirtualConsole, JSDOM }`,
  )
  return folder
}

async function bought(slug: string, input: object) {
  const buyer = await market.buyer(FUNDS)
  const path = `${market.url()}/v1/services/${await market.serviceId(slug)}/purchase`
  const headers = { 'Content-Type': 'application/json' }
  const answer = await buyer.fetch(1)(path, { method: 'POST', headers, body: JSON.stringify(input) })
  const { job_id: id, access_token: token } = (await answer.json()) as { job_id?: string; access_token?: string }
  const job = async () => {
    const headers = { Authorization: `Bearer ${token}` }
    return (await market.call('GET', `/v1/jobs/${id}`, { headers })).body.status
  }
  return {
    status: answer.status,
    job,
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

  it('of jsdom gives the price back, and the next job is done', async () => {
    const before = threads.length
    const audit = () => bought('accessibility_audit', { site_url: site.at('/') })
    const lost = await audit()
    expect([lost.status, await lost.paid()]).toEqual([200, amountOf('0.25')])
    await expect.poll(() => existsSync(parsed)).toBe(true)
    await Promise.all(threads.slice(before).map((worker) => worker.terminate()))
    await expect.poll(lost.job).toBe('failed')
    await expect.poll(lost.paid).toBe(0n)
    const next = await audit()
    await expect.poll(next.job).toBe('verified')
    expect(await next.paid()).toBe(amountOf('0.25'))
    await hasSoundBooks()
  })
})
