import type { Api } from '../../api/index.ts'
import type { Link, LinkCall, Outcome } from '../../client/link.ts'
import { type CronFacts, readCronFacts } from './cron-facts.ts'
import { type Health, readHealth } from './health.ts'
import { type Fields, fields, list, number, text, time } from './read.ts'

/** For what does not change by the second. */
export const SLOW_EVERY_MS = 10_000
/** Longest wait for an answer that is only looked at. */
const READ_TIMEOUT_MS = 5_000
/** Longest wait for a change. */
const CHANGE_TIMEOUT_MS = 10_000
export const LOG_RECORDS = 500

/** The rows of the interface that the cockpit uses, at the paths that the contract gives them. */
export const paths = {
  getHealth: '/health',
  getCatalog: '/v1/services/catalog',
  getHolds: '/dashboard/api/admin/holds',
  getPayouts: '/dashboard/api/admin/payouts',
  getClock: '/dashboard/api/admin/clock',
  getLogs: '/dashboard/api/admin/logs',
  listCrons: '/dashboard/api/admin/crons',
  runCron: '/dashboard/api/admin/crons/:name/run',
  pauseCron: '/dashboard/api/admin/crons/:name/pause',
  resumeCron: '/dashboard/api/admin/crons/:name/resume',
  getPlatformStatus: '/dashboard/api/admin/platform/status',
  pausePlatform: '/dashboard/api/admin/platform/pause',
  unpausePlatform: '/dashboard/api/admin/platform/unpause',
} as const satisfies Partial<{ [K in keyof Api]: Api[K]['path'] }>

type Read<T> = (body: Fields) => T

export async function get<T>(
  link: Link,
  call: Pick<LinkCall, 'path' | 'query' | 'signal' | 'own'>,
  read: Read<T>,
): Promise<Outcome<T>> {
  const admin = call.path.startsWith('/dashboard/')
  const answer = await link.call({ method: 'GET', timeoutMs: READ_TIMEOUT_MS, admin, ...call })
  return answer.ok ? { ok: true, value: read(fields(answer.value)) } : answer
}

export const fetchHealth =
  (link: Link) =>
  async (signal: AbortSignal): Promise<Outcome<Health>> => {
    const answer = await link.call({ method: 'GET', path: paths.getHealth, timeoutMs: READ_TIMEOUT_MS, signal })
    return answer.ok ? readHealth(answer.value) : answer
  }

export type Crons = {
  readonly crons: readonly CronFacts[] /** Whether the daemon runs them by itself. */
  readonly automatic: boolean
}

export const fetchCrons = (link: Link) => (signal: AbortSignal) =>
  get<Crons>(link, { path: paths.listCrons, signal }, (body) => ({
    crons: list(body.crons).map((cron) => readCronFacts(String(fields(cron).name ?? ''), cron)),
    automatic: body.automatic !== false,
  }))

/** Business time against the machine's: how far it is ahead, and whether it stands. */
export type BusinessClock = { readonly now: number | undefined; readonly offsetMs: number; readonly frozen: boolean }

export const fetchClock = (link: Link) => (signal: AbortSignal) =>
  get<BusinessClock>(link, { path: paths.getClock, signal }, (body) => ({
    now: time(body.now),
    offsetMs: number(body.offset_ms) ?? 0,
    frozen: body.state === 'frozen',
  }))

export const fetchPauseReason = (link: Link) => (signal: AbortSignal) =>
  get(link, { path: paths.getPlatformStatus, signal }, (body) => text(body.reason))

/** Totals of lists, where the instance has the list. */
export type Totals = Readonly<Partial<Record<(typeof totalRows)[number][0], number>>>

const totalRows = [
  ['services', paths.getCatalog, {}],
  ['held amounts', paths.getHolds, {}],
  ['payouts failed', paths.getPayouts, { status: 'failed' }],
] as const satisfies readonly (readonly [string, string, Readonly<Record<string, string>>])[]

export const fetchTotals =
  (link: Link) =>
  async (signal: AbortSignal): Promise<Outcome<Totals>> => {
    const read = (body: Fields) => number(body.total)
    const answers = await Promise.all(
      totalRows.map(([, path, query]) => get(link, { path, query: { ...query, limit: 1 }, signal }, read)),
    )
    const [first] = answers
    if (first && !first.ok) return first
    const known = answers.flatMap((answer, i) => {
      const name = totalRows[i]?.[0]
      return answer.ok && answer.value !== undefined && name !== undefined ? [[name, answer.value] as const] : []
    })
    return { ok: true, value: Object.fromEntries(known) }
  }

/** Sends a change, with the admin credential where the path wants one. */
export async function post<T>(
  link: Link,
  call: Pick<LinkCall, 'path' | 'body' | 'own'>,
  read: Read<T>,
): Promise<Outcome<T>> {
  const admin = call.path.startsWith('/dashboard/')
  const answer = await link.call({ method: 'POST', timeoutMs: CHANGE_TIMEOUT_MS, admin, ...call })
  return answer.ok ? { ok: true, value: read(fields(answer.value)) } : answer
}

/** A path with its one parameter. */
export function pathTo(path: string, name: string): string {
  return path.replace(/:[a-z]+/, () => encodeURIComponent(name))
}

/** Pauses or unpauses paid activity. @returns whether anything changed. */
export function setPlatformPaused(link: Link, paused: boolean, reason: string): Promise<Outcome<boolean>> {
  const body = reason === '' ? {} : { reason }
  return post(
    link,
    { path: paused ? paths.pausePlatform : paths.unpausePlatform, body },
    ({ changed }) => changed !== false,
  )
}

export function setCronPaused(link: Link, paused: boolean, name: string): Promise<Outcome<boolean>> {
  return post(
    link,
    { path: pathTo(paused ? paths.pauseCron : paths.resumeCron, name) },
    ({ changed }) => changed !== false,
  )
}

/** Runs a cron now. @returns how the run ended, in words. */
export function runCron(link: Link, name: string): Promise<Outcome<string>> {
  return post(link, { path: pathTo(paths.runCron, name) }, (body) => runWords(fields(body.run)))
}

function runWords(run: Fields): string {
  const why = typeof run.reason === 'string' ? ` (${run.reason})` : ''
  return `${String(run.result ?? 'done')}${why} in ${number(run.took_ms) ?? 0} ms`
}
