import { fork } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import type { Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createDaemon } from '../../daemon/index.ts'
import { configDefaults } from '../../fixtures/kit/config.ts'
import { credit } from '../../fixtures/kit/money.ts'
import type { TestServer } from '../../fixtures/kit/postgres.ts'
import { callsTo } from '../../fixtures/market/marketplace.ts'
import { registered } from '../../fixtures/market/people.ts'
import { answerOf } from './child.ts'
import { load, requestBytes } from './load.ts'
import { rounded, type Say } from './report.ts'

/* `souk store copy` of a market with many purchases, into a database and back, after a copy that was cut. */

const BUYERS = 16
const CONNECTIONS = 16
const PURCHASES_A_REPORT = 1_000
const SCHEMA = 'copied'
const CUT_POLL_MS = 20
const LIMIT_MS = 3_600_000
const LISTING = {
  name: 'Proofreading',
  description: 'A person reads your text.',
  price: '0.01',
  fulfillment_type: 'human',
  estimated_delivery: '1 day',
}

export type Move = { readonly dataDir: string; readonly to: 'files' | 'database'; readonly store: string }
type Copied = {
  readonly rows: number
  readonly files: number
  readonly sha256: string
  readonly seconds: number
  readonly peakMb: number
}
export type Moved = Copied | { readonly refused: string }

type Part = { readonly server: TestServer; readonly purchases: number; readonly say: Say }

export async function storeCopies({ server, purchases, say }: Part) {
  const dataDir = await mkdtemp(join(tmpdir(), 'souk-bench-'))
  const store = `postgres://souk@/postgres?host=${server.folder}&schema=${SCHEMA}`
  try {
    await fill({ dataDir, purchases, say })
    const refused = await cutCopy(server, { dataDir, to: 'database', store })
    say(`a copy that was cut: ${refused}`)
    const there = await copied({ dataDir, to: 'database', store })
    say(`in the database: ${there.rows} rows, ${there.sha256}`)
    const back = await copied({ dataDir, to: 'files', store })
    say(`in files again: ${back.rows} rows, ${back.sha256}`)
    if (there.sha256 !== back.sha256) throw new Error('the copies differ')
    return {
      copied_rows: back.rows,
      to_database_s: rounded(there.seconds),
      to_database_mb: rounded(there.peakMb),
      to_files_s: rounded(back.seconds),
      to_files_mb: rounded(back.peakMb),
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** Buys over HTTP from balances: a payment, a job, its escrow and their postings for each. */
async function fill({ dataDir, purchases, say }: { dataDir: string } & Omit<Part, 'server'>): Promise<void> {
  const daemon = await createDaemon({ dataDir, ...configDefaults })
  try {
    const market = callsTo(() => daemon.url, dataDir)
    const provider = await registered(market, { type: 'provider' })
    const { status, body, text } = await provider.call('POST', '/v1/services', LISTING)
    if (status !== 200) throw new Error(text)
    // A purchase costs between one cent and two.
    const balance = `${Math.ceil(purchases / BUYERS / 50)}.00`
    const requests: Buffer[] = []
    while (requests.length < BUYERS) {
      const buyer = await registered(market, { type: 'agent' })
      await credit({ daemon }, buyer.id, balance)
      const path = `/v1/services/${body.id}/purchase`
      const headers = { 'X-BALANCE-AUTH': buyer.key }
      requests.push(requestBytes({ url: daemon.url, method: 'POST', path, headers, body: '{"text":"Read this."}' }))
    }
    // After a pause of the machine, a server of this process would end connections that are just being used.
    subscribe('http.server.request.start', (message) => {
      const { server } = message as { readonly server: Server } // as Node documents it
      server.keepAliveTimeout = LIMIT_MS
    })
    let sent = 0
    const next = (): Buffer | undefined => {
      if (sent >= purchases) return undefined
      sent += 1
      if (sent % PURCHASES_A_REPORT === 0) say(`${sent} of ${purchases} purchases`)
      return requests[sent % BUYERS]
    }
    say('buying')
    const { statuses } = await load({ url: daemon.url, connections: CONNECTIONS, next })
    if (statuses.get(200) !== purchases) throw new Error(`the purchases were answered ${JSON.stringify([...statuses])}`)
  } finally {
    await daemon.stop()
  }
}

/** Cuts a copy that has begun to write. @returns what it said. @throws Error unless all is as it was before */
async function cutCopy(server: TestServer, move: Move): Promise<string> {
  const copy = runCopy(move)
  let outcome: Moved | undefined
  void copy.then((moved) => {
    outcome = moved
  })
  while (outcome === undefined) {
    await server.sql(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'souk store copy' and backend_xid is not null`,
    )
    await sleep(CUT_POLL_MS)
  }
  if (!('refused' in outcome)) throw new Error('the copy was over before it was cut')
  const tables = await server.sql(`select count(*) from pg_tables where schemaname = '${SCHEMA}'`)
  if (tables !== '0') throw new Error(`the copy that was cut left ${tables} tables`)
  if (!existsSync(join(move.dataDir, 'store'))) throw new Error('the copy that was cut took the files away')
  return outcome.refused
}

async function copied(move: Move): Promise<Copied> {
  const moved = await runCopy(move)
  if ('refused' in moved) throw new Error(moved.refused)
  return moved
}

async function runCopy(move: Move): Promise<Moved> {
  const worker = fileURLToPath(new URL('store-copy.worker.ts', import.meta.url))
  const child = fork(worker, [JSON.stringify(move)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  return (await answerOf(child, LIMIT_MS)) as Moved // the worker's only message
}
