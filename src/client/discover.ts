import { join } from 'node:path'
import type { chainNetworks } from '../core/authorization.ts'
import { AppError } from '../core/error.ts'
import { isObject, parseJson } from '../core/json.ts'
import { endpoints } from './endpoints.ts'
import { readText, removeFile, writeJson } from './files.ts'
import { isSameProcess, type ProcessName, processStartedMs, processWork } from './process.ts'
import type { Places } from './settings.ts'
import { createTransport } from './transport.ts'

const PROBE_TIMEOUT_MS = 2_000
/** Maximum number of probes while the daemon's process gets no processor time. */
const MOST_PROBES = 15

type RegisteredProcess = ProcessName & { readonly version: string; readonly data_dir: string }

export type DaemonRegistration = RegisteredProcess & {
  readonly state: 'serving'
  readonly url: string
  /** Public name of the installation, as in `/health`. */
  readonly instance_id: string
  /** SHA-256 of the daemon's https certificate; see `src/client/pin.ts`. */
  readonly fingerprint?: string
  /** The daemon's address in the local network. */
  readonly lan_url?: string
  /** Chain on which payments settle (default: sandbox). Payments are signed for this chain only. */
  readonly chain?: keyof typeof chainNetworks
  /** Initial data: demo, house or none. */
  readonly seed?: string
}

/** A daemon that is starting. It is registered before it serves, so that every command sees it. */
export type StartRegistration = RegisteredProcess & {
  readonly state: 'starting'
  /** Current step of the start, one of `startSteps`. */
  readonly step: string
  readonly detail?: string
  readonly since: string
  /** Set once the starting daemon holds a port. A front answers there. */
  readonly url?: string
  readonly fingerprint?: string
  /** Start options. */
  readonly launch: unknown
}
type AnyRegistration = DaemonRegistration | StartRegistration

/**
 * `running`: the process lives, and `/health` has its instance id. `starting`: the process lives, but does not serve
 * yet. `unresponsive`: the process lives, but `/health` does not have its instance id. `stale`: the process has ended,
 * but is still registered. `absent`: no process is registered.
 */
export type FoundDaemon =
  | { readonly state: 'running'; readonly registration: DaemonRegistration }
  | { readonly state: 'unresponsive'; readonly registration: DaemonRegistration }
  | { readonly state: 'starting'; readonly registration: StartRegistration }
  | { readonly state: 'stale'; readonly registration: AnyRegistration }
  | { readonly state: 'absent' }

/** A daemon that hands requests to the leader of its database. */
export function frontOf(found: FoundDaemon): Omit<DaemonRegistration, 'state' | 'instance_id'> | undefined {
  if (found.state !== 'starting' || found.registration.step !== 'front') return undefined
  const { url, launch, ...registration } = found.registration
  // This program wrote them, after a check.
  const { chain } = launch as Pick<DaemonRegistration, 'chain'>
  return url === undefined ? undefined : { ...registration, url, ...(chain ? { chain } : {}) }
}

/** Whether a process uses the instance's data, or is about to. */
export function isLive(found: FoundDaemon): found is Exclude<FoundDaemon, { state: 'stale' | 'absent' }> {
  return found.state !== 'stale' && found.state !== 'absent'
}

function fileOf(places: Pick<Places, 'runtime'>): string {
  return join(places.runtime, 'daemon.json')
}

/** Writes the registration, readable by the owner only. */
export function register(places: Pick<Places, 'runtime'>, registration: AnyRegistration): void {
  writeJson(fileOf(places), registration)
}

/** Removes the registration, unless it is of another process. */
export function unregister(places: Pick<Places, 'runtime'>, run: ProcessName): void {
  if (isRegistered(places, run)) removeFile(fileOf(places))
}

export function isRegistered(places: Pick<Places, 'runtime'>, { pid, started_at }: ProcessName): boolean {
  const registered = readRegistration(places)
  return registered?.pid === pid && registered.started_at === started_at
}

export function readRegistration(places: Pick<Places, 'runtime'>): AnyRegistration | undefined {
  const text = readText(fileOf(places))
  if (text === undefined) return undefined
  const registration = registrationFrom(text)
  if (registration) return registration
  throw new AppError('invalid_request', `${fileOf(places)} is damaged; remove it if no daemon runs.`)
}

function registrationFrom(text: string): AnyRegistration | undefined {
  try {
    const value = parseJson(text)
    return isObject(value) && isRegistration(value) ? value : undefined
  } catch {
    // Text that is not JSON counts as a damaged registration.
    return undefined
  }
}

const textsOfAll = ['started_at', 'version', 'data_dir'] as const
const textsOf: Readonly<Record<string, { readonly needed: readonly string[]; readonly optional: readonly string[] }>> =
  {
    serving: { needed: [...textsOfAll, 'url', 'instance_id'], optional: ['fingerprint', 'lan_url', 'chain', 'seed'] },
    starting: { needed: [...textsOfAll, 'step', 'since'], optional: ['url', 'fingerprint', 'detail'] },
  }

// Checks without a schema: every start reads the registration, and a schema would be slower.
function isRegistration(value: Readonly<Record<string, unknown>>): value is AnyRegistration {
  const texts = textsOf[String(value.state)]
  if (texts === undefined || !texts.needed.every((name) => typeof value[name] === 'string')) return false
  if (!texts.optional.every((name) => value[name] === undefined || typeof value[name] === 'string')) return false
  return Number.isInteger(value.pid) && Number(value.pid) > 0
}

/** Finds the registered daemon: checks its process, and asks its address for the instance id. */
export async function findDaemon(places: Pick<Places, 'runtime'>): Promise<FoundDaemon> {
  const found = registeredDaemon(places)
  if (found.state !== 'running') return found
  const { registration } = found
  const instanceId = await probeBusy(registration)
  return { state: instanceId === registration.instance_id ? 'running' : 'unresponsive', registration }
}

/** The daemon's state according to its registration and process. Sends no request. */
export function registeredDaemon(places: Pick<Places, 'runtime'>): FoundDaemon {
  const registration = readRegistration(places)
  if (!registration) return { state: 'absent' }
  if (!isSameProcess(registration)) return { state: 'stale', registration }
  return registration.state === 'serving' ? { state: 'running', registration } : { state: 'starting', registration }
}

/** Finds a daemon without a request if its process is surely the registered one; otherwise asks its address. */
export async function findLiveDaemon(places: Pick<Places, 'runtime'>): Promise<FoundDaemon> {
  const found = registeredDaemon(places)
  const isSure = found.state !== 'running' || processStartedMs(found.registration.pid) !== undefined
  return isSure ? found : findDaemon(places)
}

/** Probes a daemon again as long as its process waits for the processor, as on a busy machine. */
async function probeBusy(registration: DaemonRegistration): Promise<string | undefined> {
  for (let tries = 1; ; tries += 1) {
    const before = processWork(registration.pid)
    const instanceId = await probe(registration)
    const after = processWork(registration.pid)
    const isStarved = after?.isRunnable === true && after.cpuMs - (before?.cpuMs ?? 0) < PROBE_TIMEOUT_MS / 2
    if (instanceId !== undefined || !isStarved || tries === MOST_PROBES) return instanceId
  }
}

/** Asks an address for its instance id. @returns undefined without a response, or if the server is no souk */
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
    // No souk responded.
    return undefined
  }
}
