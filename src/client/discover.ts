import { join } from 'node:path'
import type { chainNetworks } from '../core/authorization.ts'
import { AppError } from '../core/error.ts'
import { isObject, parseJson } from '../core/json.ts'
import { endpoints } from './endpoints.ts'
import { readText, removeFile, writeJson } from './files.ts'
import type { Places } from './paths.ts'
import { isSameProcess, type ProcessName, processStartedMs, processWork } from './process.ts'
import { createTransport } from './transport.ts'

const PROBE_TIMEOUT_MS = 2_000
/** Of a daemon that gets no processor. */
const MOST_PROBES = 15

type RegisteredProcess = ProcessName & {
  readonly version: string
  readonly data_dir: string
}

/** A daemon that serves. */
export type DaemonRegistration = RegisteredProcess & {
  readonly state: 'serving'
  readonly url: string
  /** Public name of the installation, also in `/health`; no credential. */
  readonly instance_id: string
  /** SHA-256 of its certificate where it serves https; see `src/client/pin.ts`. */
  readonly fingerprint?: string
  /** Where other machines of its network find it then. */
  readonly lan_url?: string
  /** Where payments settle (default: a sandbox). Payments are signed for this chain, never for one that an answer names. */
  readonly chain?: keyof typeof chainNetworks
  /** What its store began with: demo, house or none. */
  readonly seed?: string
}

/** A daemon that starts: registered before anything slow, so that every command knows of it. */
export type StartRegistration = RegisteredProcess & {
  readonly state: 'starting'
  /** One of `startSteps`, how far it is, and when it began. */
  readonly step: string
  readonly detail?: string
  readonly since: string
  /** Known once the port is taken. */
  readonly url?: string
  /** The options that it was started with. */
  readonly launch: unknown
}
type AnyRegistration = DaemonRegistration | StartRegistration

/**
 * `running`: the registered process lives and its `/health` answers with the registered instance id.
 * `starting`: it lives, and does not serve yet. `unresponsive`: it lives, but its address does not answer as it should.
 * `stale`: the process is gone, it ended without tidying up. `absent`: nothing is registered.
 */
export type FoundDaemon =
  | { readonly state: 'running'; readonly registration: DaemonRegistration }
  | { readonly state: 'unresponsive'; readonly registration: DaemonRegistration }
  | { readonly state: 'starting'; readonly registration: StartRegistration }
  | { readonly state: 'stale'; readonly registration: AnyRegistration }
  | { readonly state: 'absent' }

/** Whether a process lives that has the data of the instance, or is about to. */
export function isLive(found: FoundDaemon): found is Exclude<FoundDaemon, { state: 'stale' | 'absent' }> {
  return found.state !== 'stale' && found.state !== 'absent'
}

function fileOf(places: Pick<Places, 'runtime'>): string {
  return join(places.runtime, 'daemon.json')
}

/** Writes the registration, readable by its owner only. */
export function register(places: Pick<Places, 'runtime'>, registration: AnyRegistration): void {
  writeJson(fileOf(places), registration)
}

/** Removes the registration, but only that of the given process: a later daemon's stays. */
export function unregister(places: Pick<Places, 'runtime'>, run: ProcessName): void {
  if (isRegistered(places, run)) removeFile(fileOf(places))
}

/** Whether the registration is that of this process. */
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
    if (!isObject(value)) return undefined
    // An earlier version registered what serves, and named no state.
    const registration = { state: 'serving', ...value }
    return isRegistration(registration) ? registration : undefined
  } catch {
    // Not JSON: as damaged as a missing member.
    return undefined
  }
}

const textsOfAll = ['started_at', 'version', 'data_dir'] as const
const textsOf: Readonly<Record<string, { readonly needed: readonly string[]; readonly optional: readonly string[] }>> =
  {
    serving: { needed: [...textsOfAll, 'url', 'instance_id'], optional: ['fingerprint', 'lan_url', 'chain', 'seed'] },
    starting: { needed: [...textsOfAll, 'step', 'since'], optional: ['url', 'detail'] },
  }

// Read on every start: checked by hand, since a schema costs more here than the rest of finding the daemon.
function isRegistration(value: Readonly<Record<string, unknown>>): value is AnyRegistration {
  const texts = textsOf[String(value.state)]
  if (texts === undefined || !texts.needed.every((name) => typeof value[name] === 'string')) return false
  if (!texts.optional.every((name) => value[name] === undefined || typeof value[name] === 'string')) return false
  return Number.isInteger(value.pid) && Number(value.pid) > 0
}

/** Finds the daemon of an instance; a registration is believed only after its process and its address agree. */
export async function findDaemon(places: Pick<Places, 'runtime'>): Promise<FoundDaemon> {
  const found = registeredDaemon(places)
  if (found.state !== 'running') return found
  const { registration } = found
  const instanceId = await probeBusy(registration)
  return { state: instanceId === registration.instance_id ? 'running' : 'unresponsive', registration }
}

/** What the registration and its process say; nobody is asked. */
export function registeredDaemon(places: Pick<Places, 'runtime'>): FoundDaemon {
  const registration = readRegistration(places)
  if (!registration) return { state: 'absent' }
  if (!isSameProcess(registration)) return { state: 'stale', registration }
  return registration.state === 'serving' ? { state: 'running', registration } : { state: 'starting', registration }
}

/**
 * Finds the daemon without asking it: believed when its process is surely the registered one, which then also holds
 * its address. Where the system does not tell when a process started, its address is asked after all.
 */
export async function findLiveDaemon(places: Pick<Places, 'runtime'>): Promise<FoundDaemon> {
  const found = registeredDaemon(places)
  const isSure = found.state !== 'running' || processStartedMs(found.registration.pid) !== undefined
  return isSure ? found : findDaemon(places)
}

/** Asks again while the process waits for a processor: a busy machine is no silent daemon. */
async function probeBusy(registration: DaemonRegistration): Promise<string | undefined> {
  for (let tries = 1; ; tries += 1) {
    const before = processWork(registration.pid)
    const instanceId = await probe(registration)
    const after = processWork(registration.pid)
    const isStarved = after?.isRunnable === true && after.cpuMs - (before?.cpuMs ?? 0) < PROBE_TIMEOUT_MS / 2
    if (instanceId !== undefined || !isStarved || tries === MOST_PROBES) return instanceId
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
