import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { chainNetworks } from '../core/authorization.ts'
import { AppError, errnoOf } from '../core/error.ts'
import { isObject, parseJson } from '../core/json.ts'
import { endpoints } from './endpoints.ts'
import { readText, removeFile, writeJson } from './files.ts'
import type { Places } from './paths.ts'
import { createTransport } from './transport.ts'

const PROBE_TIMEOUT_MS = 2_000
/** The kernel counts a start in clock ticks since boot: two readings of it may differ by this much. */
const START_TOLERANCE_MS = 2_000
/** `sysconf(_SC_CLK_TCK)`, fixed at 100 by the Linux user interface. */
const CLOCK_TICKS_PER_SECOND = 100
/** Field 22 of `/proc/<pid>/stat`, counted behind the command name's closing bracket. */
const START_FIELD_AFTER_NAME = 19

export type DaemonRegistration = {
  readonly pid: number
  /** Start of the process, ISO 8601; with the pid it names one process of this boot. */
  readonly started_at: string
  readonly url: string
  /** Public name of the installation, also in `/health`; no credential. */
  readonly instance_id: string
  readonly version: string
  readonly data_dir: string
  /** SHA-256 of its certificate where it serves https; see `src/client/pin.ts`. */
  readonly fingerprint?: string
  /** Where other machines of its network find it then. */
  readonly lan_url?: string
  /** Where payments settle; a sandbox unless told. What is signed for it goes by this, never by what an answer says. */
  readonly chain?: keyof typeof chainNetworks
}

/**
 * `running`: the registered process lives and its `/health` answers with the registered instance id.
 * `unresponsive`: the process lives, but its address does not answer as it should.
 * `stale`: the process is gone, it ended without tidying up. `absent`: nothing is registered.
 */
export type FoundDaemon =
  | { readonly state: 'running' | 'unresponsive' | 'stale'; readonly registration: DaemonRegistration }
  | { readonly state: 'absent' }

function fileOf(places: Pick<Places, 'runtime'>): string {
  return join(places.runtime, 'daemon.json')
}

/** Writes the registration, readable by its owner only. */
export function register(places: Pick<Places, 'runtime'>, registration: DaemonRegistration): void {
  writeJson(fileOf(places), registration)
}

/** Removes the registration, but only that of the given process: a later daemon's stays. */
export function unregister(places: Pick<Places, 'runtime'>, run: Pick<DaemonRegistration, 'pid' | 'started_at'>): void {
  const registered = readRegistration(places)
  if (registered?.pid === run.pid && registered.started_at === run.started_at) removeFile(fileOf(places))
}

export function readRegistration(places: Pick<Places, 'runtime'>): DaemonRegistration | undefined {
  const text = readText(fileOf(places))
  if (text === undefined) return undefined
  const registration = registrationFrom(text)
  if (registration) return registration
  throw new AppError('invalid_request', `${fileOf(places)} is damaged; remove it if no daemon runs.`)
}

function registrationFrom(text: string): DaemonRegistration | undefined {
  try {
    const value = parseJson(text)
    return isRegistration(value) ? value : undefined
  } catch {
    // Not JSON: as damaged as a missing member.
    return undefined
  }
}

const registeredTexts = ['started_at', 'url', 'instance_id', 'version', 'data_dir'] as const

// Read on every start: checked by hand, since a schema costs more here than the rest of finding the daemon.
function isRegistration(value: unknown): value is DaemonRegistration {
  if (!isObject(value) || !registeredTexts.every((name) => typeof value[name] === 'string')) return false
  const optional = [value.fingerprint, value.lan_url, value.chain]
  if (!optional.every((one) => one === undefined || typeof one === 'string')) return false
  return Number.isInteger(value.pid) && Number(value.pid) > 0
}

/** Finds the daemon of an instance; a registration is believed only after its process and its address agree. */
export async function findDaemon(places: Pick<Places, 'runtime'>): Promise<FoundDaemon> {
  const registration = readRegistration(places)
  if (!registration) return { state: 'absent' }
  if (!isSameProcess(registration)) return { state: 'stale', registration }
  const instanceId = await probe(registration)
  return { state: instanceId === registration.instance_id ? 'running' : 'unresponsive', registration }
}

/**
 * Finds the daemon without asking it: believed when its process is surely the registered one, which then also holds
 * its address. Where the system does not tell when a process started, its address is asked after all.
 */
export async function findLiveDaemon(places: Pick<Places, 'runtime'>): Promise<FoundDaemon> {
  const registration = readRegistration(places)
  if (registration && processStartedMs(registration.pid) === undefined) return findDaemon(places)
  if (!registration) return { state: 'absent' }
  return { state: isSameProcess(registration) ? 'running' : 'stale', registration }
}

/** Whether the registered process still runs: its pid lives and was not given to a later process. */
export function isSameProcess(registration: Pick<DaemonRegistration, 'pid' | 'started_at'>): boolean {
  if (!isAlive(registration.pid)) return false
  const startedMs = processStartedMs(registration.pid)
  return startedMs === undefined || Math.abs(startedMs - Date.parse(registration.started_at)) <= START_TOLERANCE_MS
}

/** Whether a process of this number runs, zombies not counted. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: it runs, but belongs to another user.
    return errnoOf(error) === 'EPERM'
  }
  return statFields(pid)?.[0] !== 'Z'
}

/** Start of a process in epoch milliseconds. @returns undefined where there is no `/proc`. */
export function processStartedMs(pid: number): number | undefined {
  const ticks = Number(statFields(pid)?.[START_FIELD_AFTER_NAME])
  const bootSeconds = Number(/^btime (\d+)$/m.exec(proc('stat') ?? '')?.[1])
  return Number.isNaN(ticks + bootSeconds) ? undefined : bootSeconds * 1_000 + (ticks * 1_000) / CLOCK_TICKS_PER_SECOND
}

/** Fields of `/proc/<pid>/stat` from the state on; the name before them may hold blanks and brackets. */
function statFields(pid: number): readonly string[] | undefined {
  const stat = proc(`${pid}/stat`)
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function proc(name: string): string | undefined {
  try {
    return readFileSync(`/proc/${name}`, 'utf8')
  } catch {
    // No such process, or a system without /proc: the caller goes by the pid alone.
    return undefined
  }
}

/** Asks an address for its instance id. @returns undefined when it is silent or no souk. */
export async function probe(
  { url, fingerprint }: Pick<DaemonRegistration, 'url' | 'fingerprint'>,
  timeoutMs = PROBE_TIMEOUT_MS,
): Promise<string | undefined> {
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const [method, path] = endpoints.getHealth
    const answer = await createTransport({ baseUrl: url, fingerprint })({ method, path, signal, timeoutMs })
    const health = parseJson(await answer.text())
    return isObject(health) && typeof health.instance_id === 'string' ? health.instance_id : undefined
  } catch {
    // Refused, silent, or not JSON: in each case nobody of ours answered there.
    return undefined
  }
}
