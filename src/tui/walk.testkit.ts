import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { sampled } from '../../fixtures/kit/depth.ts'
import { PROGRAM } from '../../fixtures/kit/program.ts'
import type { WireAnswer } from '../api/index.ts'
import type { Callable } from '../client/asked.ts'
import { readAnswer } from '../client/call.ts'
import { endpoints } from '../client/endpoints.ts'
import { localAdminKey } from '../client/secrets.ts'
import { createTransport } from '../client/transport.ts'
import { missingOf, type RowSays } from './facts.testkit.ts'
import { recorded } from './recorded.testkit.ts'
import { openTerminal, type Terminal } from './tmux.testkit.ts'

/* A daemon of the built program with three months of trade, cockpits in terminals of every size, and what both say. */

const exec = promisify(execFile)
const ALL_SIZES = [
  [60, 18],
  [80, 24],
  [100, 30],
  [160, 50],
] as const
/** Two of them with each commit. */
export const SIZES = sampled(ALL_SIZES, 2)
export type Columns = (typeof ALL_SIZES)[number][0]
/** Minutes: on a busy machine what comes may take long. */
const TRIES = 1_200
const TRY_MS = 250
export const TRADES = ['--rate', '120', '--for', '2s'] as const

let home: string
let env: Record<string, string>
let url: string
export const terminals = new Map<Columns, Terminal>()

export const souk = async (...words: string[]) => (await exec(process.execPath, [PROGRAM, ...words], { env })).stdout
export const json = async (...words: string[]) => JSON.parse(await souk(...words, '--json'))

/** What the interface answers now. */
export async function ask<K extends Callable>(name: K, { query = '', id = '' } = {}): Promise<WireAnswer<K>> {
  const key = localAdminKey(join(home, '.local/share/souk/default'))
  const path = endpoints[name][1].replace(':id', id)
  const send = createTransport({ baseUrl: url, headers: { authorization: `Bearer ${key}` } })
  const answer = await send({ method: 'GET', path: `${path}${query}` })
  expect(answer.status).toBe(200)
  return readAnswer(name, JSON.parse(await answer.text()))
}
export const FIRST = { query: '?limit=1' }
export const PAGE = { query: '?limit=50' }
export const businessNow = async () => Date.parse((await ask('getClock')).now)

export async function up(): Promise<void> {
  await souk('up', '--port', '0')
  url = (await json('status')).url
}

async function openCockpit(columns: Columns, rows: number): Promise<void> {
  const terminal = await openTerminal({ columns, rows, folder: home, env })
  terminals.set(columns, terminal)
  await terminal.line(`${process.execPath} ${PROGRAM} tui`)
  await terminal.see('Open problems')
}

/** A market in which people traded, and a cockpit in front of it at each size. */
export async function openMarket(path = ''): Promise<void> {
  if (!existsSync(PROGRAM)) throw new Error('dist/ is not built: npm run build')
  home = await mkdtemp(join(tmpdir(), 'souk-facts-'))
  env = { HOME: home, PATH: path, TMPDIR: home, CI: 'true' }
  await souk('seed', 'demo')
  await up()
  await souk('seed', 'traffic', ...TRADES)
  // One to be decided at each size.
  for (const _ of SIZES) await souk('trigger', 'job.disputed')
  await Promise.all(SIZES.map(([columns, rows]) => openCockpit(columns, rows)))
}

/** A cockpit of its own, in front of the same market: what it is answered is remembered. */
export async function watched(columns: number, rows: number) {
  const seen = await recorded(url)
  const remote = `seen${++watching}`
  const key = localAdminKey(join(home, '.local/share/souk/default'))
  const adding = exec(process.execPath, [PROGRAM, 'remote', 'add', remote, seen.url, '--admin-key-stdin'], { env })
  adding.child.stdin?.end(key)
  await adding
  const terminal = await openTerminal({ columns, rows, folder: home, env })
  await terminal.line(`${process.execPath} ${PROGRAM} tui --write -r ${remote}`)
  await terminal.see('Open problems')
  const close = async () => {
    await terminal.close()
    await seen.close()
  }
  return { terminal, seen, close }
}

let watching = 0

export async function closeMarket(): Promise<void> {
  for (const terminal of terminals.values()) await terminal.close()
  await souk('down', '--force')
  await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
}

export function terminalOf(columns: Columns): Terminal {
  const terminal = terminals.get(columns)
  if (terminal === undefined) throw new Error(`no terminal of ${columns} columns was opened`)
  return terminal
}

/** What a screen lacks of what the interface says at that moment. */
export type Lacks = (screen: readonly string[]) => Promise<readonly string[]>

export const words = (wanted: () => Promise<readonly (string | RegExp)[]>): Lacks => {
  return async (screen) => {
    const text = screen.join('\n')
    return (await wanted())
      .filter((one) => !(typeof one === 'string' ? text.includes(one) : one.test(text)))
      .map(String)
  }
}
export const list = (rows: () => Promise<readonly RowSays[]>, isOrdered = true): Lacks => {
  return async (screen) => missingOf(screen, { rows: await rows(), isOrdered })
}
export const both = (one: Lacks, other: Lacks): Lacks => {
  return async (screen) => [...(await one(screen)), ...(await other(screen))]
}

/** The screen comes to say what the interface says: both go on meanwhile. */
export async function agree(terminal: Terminal, lacks: Lacks): Promise<readonly string[]> {
  for (let tries = 1; ; tries += 1) {
    const rows = await terminal.rows()
    const missing = await lacks(rows)
    if (missing.length === 0) return rows
    if (tries === TRIES) throw new Error(`the screen does not say ${missing.join('\n')}:\n${rows.join('\n')}`)
    await new Promise((resolve) => setTimeout(resolve, TRY_MS))
  }
}

export async function until(done: () => Promise<boolean>): Promise<void> {
  for (let tries = 1; !(await done()); tries += 1) {
    if (tries === TRIES) throw new Error('it did not come to that')
    await new Promise((resolve) => setTimeout(resolve, TRY_MS))
  }
}
