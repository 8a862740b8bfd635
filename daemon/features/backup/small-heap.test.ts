import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, open, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Child, startChild } from '../../../fixtures/kit/child.ts'
import { configDefaults } from '../../../fixtures/kit/config.ts'
import { priced } from '../../../fixtures/market/escrow.ts'
import { callsTo } from '../../../fixtures/market/marketplace.ts'
import { registered } from '../../../fixtures/market/people.ts'
import { frame } from '../../store/lowdb/frame.ts'
import { FORMAT } from '../../store/migrations.ts'
import { STORE_FOLDER } from './import-state.ts'

/* Real daemons with little memory: nobody fills it without paying, and none is too full to start again. */
// @deep stores are filled until no memory is left

const SMALL_HEAP = { nodeArgs: ['--max-old-space-size=128'] }
/** Together several times what the heap holds. */
const PURCHASES = 300
const BIG = 'x'.repeat(250_000)

let dir: string
let child: Child | undefined
let server: Server | undefined
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'souk-heap-'))
})
afterEach(async () => {
  await child?.kill()
  server?.close()
  server?.closeAllConnections()
  await rm(dir, { recursive: true, force: true })
})

const config = (rows?: 'memory') => ({
  ...configDefaults,
  dataDir: dir,
  durability: 'full' as const,
  ...(rows && { rows }),
})

async function startSmall(): Promise<string> {
  child = startChild('daemon-process.ts', config(), SMALL_HEAP)
  return JSON.parse(await child.line()).url
}

/** @returns what a start prints to stderr that keeps all rows in memory and fails. */
async function refusedStart(): Promise<string> {
  const program = fileURLToPath(new URL('../../../fixtures/kit/daemon-process.ts', import.meta.url))
  const words = [...SMALL_HEAP.nodeArgs, program, JSON.stringify(config('memory'))]
  const refused = spawn(process.execPath, words, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  refused.stderr.on('data', (chunk) => {
    said += chunk
  })
  await once(refused, 'close')
  return said
}

/** An endpoint that takes everything and does nothing. */
async function failingProvider(): Promise<string> {
  const failing = createServer((req, res) => {
    req.resume().on('end', () => res.writeHead(500).end())
  })
  server = failing
  await new Promise<void>((resolve) => failing.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(failing.address() as AddressInfo).port}/hook`
}

test('large purchases that fail neither kill a daemon nor keep it from starting again', async () => {
  let url = await startSmall()
  const market = callsTo(() => url, dir)
  const provider = await registered(market, { type: 'provider', webhook_url: await failingProvider() })
  const listed = await provider.call('POST', '/v1/services', {
    ...priced,
    price: '0.01',
    fulfillment_type: 'instant',
  })
  const buyer = await registered(market, { type: 'agent' })
  await buyer.pay('/v1/balance/deposit', { body: { amount: '5.00' } })
  const body = JSON.stringify({ text: BIG })
  const buy = async () => {
    const headers = { 'Content-Type': 'application/json', 'X-BALANCE-AUTH': buyer.key }
    const answer = await fetch(`${url}/v1/services/${listed.body.id}/purchase`, { method: 'POST', headers, body })
    await answer.text()
    return answer.status
  }
  for (let n = 0; n < PURCHASES; n += 10) {
    const statuses = await Promise.all(Array.from({ length: 10 }, buy))
    expect(new Set(statuses)).toEqual(new Set([502]))
  }
  await child?.kill()
  url = await startSmall()
  expect((await market.call('GET', '/health')).status).toBe(200)
})

/** A store as a version wrote it that kept what was asked for with every payment, however it ended. */
async function oldStore({ format }: { format: number }): Promise<void> {
  const folder = join(dir, STORE_FOLDER)
  await mkdir(folder, { recursive: true })
  const journal = await open(join(folder, 'journal-1.ndjson'), 'w')
  for (let n = 1; n <= PURCHASES; n += 1) {
    const input = { params: {}, query: {}, body: { text: `${n}${BIG}` } }
    const row = { ...released(n), input, terms: { input: input.body } }
    await journal.write(frame(JSON.stringify({ s: n, t: n, w: [['payments', row.id, row]] })))
  }
  await journal.close()
  const manifest = { format, store: 'old', snapshot: 0, previous: null, segments: [1] }
  const file = await open(join(folder, 'MANIFEST.json'), 'w')
  await file.writeFile(JSON.stringify(manifest))
  await file.close()
}

function released(n: number) {
  return {
    id: `balance:${n}`,
    version: 1,
    method: 'balance',
    state: 'released',
    open: false,
    payer: `0x${'1'.repeat(40)}`,
    participant_id: null,
    price: '1000',
    settle: 'last',
    endpoint: 'purchaseService',
    fingerprint: 'f',
    idempotency: null,
    receipt_id: `rcp_${n}`,
    authorization: null,
    outcome: null,
    transaction: null,
    created_at: n,
    updated_at: n,
  }
}

test('a store that unpaid work once filled opens in a small heap', async () => {
  await oldStore({ format: 1 })
  const url = await startSmall()
  expect((await callsTo(() => url, dir).call('GET', '/health')).status).toBe(200)
})

test('a store whose journal alone does not fit opens with its rows on disk', async () => {
  await oldStore({ format: FORMAT })
  const url = await startSmall()
  expect((await callsTo(() => url, dir).call('GET', '/health')).status).toBe(200)
})

test('a store that does not fit into memory says so, names the repair, and that repair works in the same heap', async () => {
  await oldStore({ format: FORMAT })
  expect(await refusedStart()).toMatch(/StoreTooLarge: .* does not fit .* Run souk doctor --repair/)
  const repair = startChild('repair-process.ts', dir, SMALL_HEAP)
  expect(JSON.parse(await repair.line())).toMatchObject({ repaired: true, droppedTransactions: 0, seq: PURCHASES })
  const url = await startSmall()
  expect((await callsTo(() => url, dir).call('GET', '/health')).status).toBe(200)
})
