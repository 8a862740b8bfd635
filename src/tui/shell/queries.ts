import type { WireAnswer } from '../../api/index.ts'
import type { Asked, Callable } from '../../client/asked.ts'
import { endpoints } from '../../client/endpoints.ts'
import type { Link, Outcome } from '../../client/link.ts'
import type { ListedCron } from './cron-facts.ts'
import { readHealth } from './health.ts'
import { text, time } from './read.ts'

/** Milliseconds between fetches of data that changes slowly or is costly. */
export const SLOW_EVERY_MS = 10_000
const READ_TIMEOUT_MS = 5_000
const CHANGE_TIMEOUT_MS = 10_000
export const LOG_RECORDS = 500
/** Id of this cockpit session. The instance uses it to log repeated reads of one session only once. */
const SITTING = `${process.pid}-${process.hrtime.bigint()}`

/** Headers of a read that shows what the cursor rests on. The instance logs these once a session, not one by one. */
export const glance = { 'souk-glance': '1' } as const

/** Calls an endpoint. `read` picks the displayed values from the response. */
export async function ask<K extends string, T>(
  link: Link,
  { name, asked }: { readonly name: K & Callable; readonly asked: Asked<K> },
  read: (answer: WireAnswer<K>) => T,
): Promise<Outcome<T>> {
  const timeoutMs = endpoints[name][0] === 'GET' ? READ_TIMEOUT_MS : CHANGE_TIMEOUT_MS
  const headers: Readonly<Record<string, string>> = { ...asked.headers, 'souk-sitting': SITTING }
  const answer = await link.call<K>(name, { ...asked, headers, timeoutMs })
  return answer.ok ? { ok: true, value: read(answer.value) } : answer
}

/** Creates what fetches from an endpoint, as `ask` does. */
export const fetching =
  <K extends string, T>(name: K & Callable, asked: Asked<K>, read: (answer: WireAnswer<K>) => T) =>
  (link: Link) =>
  (signal: AbortSignal) =>
    ask<K, T>(link, { name, asked: { ...asked, signal } }, read)

/** Fetches nothing, because nothing is chosen. */
export const fetchNothing = async () => ({ ok: true, value: undefined }) as const

export const fetchHealth = fetching('getHealth', {}, readHealth)

export type Crons = {
  readonly crons: readonly ListedCron[]
  /** Whether the daemon runs crons on schedule. */
  readonly automatic: boolean
}

export const fetchCrons = fetching('listCrons', {}, ({ crons, automatic }): Crons => {
  return { crons: crons.map((cron) => ({ ...cron, name: text(cron.name) })), automatic }
})

/** Business time, its offset to the machine's time, and whether it is frozen. */
export type BusinessClock = { readonly now: number | undefined; readonly offsetMs: number; readonly frozen: boolean }

export const fetchClock = fetching('getClock', {}, ({ now, offset_ms, state }): BusinessClock => {
  return { now: time(now), offsetMs: offset_ms, frozen: state === 'frozen' }
})

export const fetchPauseReason = fetching('getPlatformStatus', {}, ({ reason }) => text(reason))
