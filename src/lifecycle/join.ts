import { isDeepStrictEqual } from 'node:util'
import type { CommandContext } from '../cli/command.ts'
import { CliError } from '../cli/exit.ts'
import { type DaemonRegistration, registeredDaemon, type StartRegistration } from '../client/discover.ts'
import { processWork } from '../client/process.ts'
import { startWords } from '../model/start.ts'
import { kebab } from '../text/text.ts'
import type { Typed } from './launch.ts'
import { logFile } from './log/bounded-log.ts'

export type StartHost = Pick<CommandContext<unknown, unknown>, 'places' | 'system' | 'globals' | 'io' | 'signal'> & {
  /** Of encrypted key files, when it is known already. */
  readonly passphrase?: string | undefined
}

/**
 * Waits for a start that another command began. Returns at once if the daemon already serves.
 * @throws CliError conflict if typed options differ, pending at the time limit, failure if the start fails, interrupted
 * by ctrl-c
 */
export async function joinStart(
  host: StartHost,
  other: DaemonRegistration | StartRegistration,
  said: Typed,
): Promise<DaemonRegistration> {
  if (other.state === 'serving') return other
  refuseOther(other, said)
  using progress = host.io.progress(startWords(other))
  return await follow(host, other, progress.update)
}

/** Follows the start of another command through its registration. Never stops that start. */
async function follow(
  host: StartHost,
  other: StartRegistration,
  show: (words: string) => void,
): Promise<DaemonRegistration> {
  const { system, signal } = host
  const patience = patienceWith(system.now, () => processWork(other.pid))
  const isOver = timedOut(host)
  for (let told = startWords(other); ; ) {
    await system.sleep(LOOK_MS, signal)
    requireWaiting(signal)
    const now = registeredDaemon(host.places)
    if (now.state === 'running') return now.registration
    if (now.state !== 'starting' || now.registration.pid !== other.pid) throw endedFor(other)
    const words = startWords(now.registration)
    if (words !== told) patience.progress()
    told = words
    show(words)
    if (isOver() || !patience.look()) throw stillStarting(host, other, told)
  }
}

function requireWaiting({ aborted }: AbortSignal): void {
  if (aborted)
    throw new CliError('interrupted', 'Interrupted by ctrl-c; the start continues.', { next: ['souk status'] })
}

/** Whether `--timeout` is over. */
export function timedOut({ system, globals: { timeoutMs } }: StartHost): () => boolean {
  const began = system.now()
  return () => timeoutMs !== undefined && system.now() - began >= timeoutMs
}

function stillStarting({ io, places }: StartHost, { pid }: StartRegistration, words: string): CliError {
  return new CliError('pending', `The daemon is still starting (pid ${pid}): ${words}.`, {
    facts: [`log: ${io.path(logFile(places.state))}`],
    next: ['souk status', 'souk down'],
  })
}

function endedFor({ pid }: StartRegistration): CliError {
  return new CliError('failure', `The other start (pid ${pid}) ended before the daemon was ready.`, {
    next: ['souk logs --tail 50', 'souk up'],
  })
}

/** Refuses typed options that differ from those of the start in progress. @throws CliError `conflict` */
function refuseOther({ pid, launch: begun }: StartRegistration, said: Typed): void {
  const others = differences(begun, said)
  if (others.length === 0) return
  const names = others.map((name) => `--${kebab(name)}`).join(', ')
  throw new CliError('conflict', `The daemon is starting with other options (pid ${pid}): ${names}.`, {
    next: ['souk status', 'souk down'],
  })
}

function differences(begun: unknown, said: Typed): readonly string[] {
  const before: Readonly<Record<string, unknown>> = typeof begun === 'object' && begun !== null ? { ...begun } : {}
  return Object.entries(said)
    .filter(([name, value]) => !isDeepStrictEqual(before[name], value))
    .map(([name]) => name)
}

/** A start without progress for this long is ended. */
export const SILENCE_MS = 60_000
export const LOOK_MS = 500
/** If more time passes between two checks, this process itself got no processor time. */
const LONGEST_LOOK_MS = 4 * LOOK_MS

/**
 * Decides how long to wait for a process: as long as it makes progress. Time without a processor does not count, so
 * that a start is not given up on a busy machine.
 */
export function patienceWith(now: () => number, workOf: () => ReturnType<typeof processWork>) {
  let silentMs = 0
  let at = now()
  let work = workOf()
  return {
    progress(): void {
      silentMs = 0
    },
    /** Checks the process. @returns whether to continue waiting */
    look(): boolean {
      const passedMs = Math.min(now() - at, LONGEST_LOOK_MS)
      const worked = workOf()
      const usedMs = Math.max(0, (worked?.cpuMs ?? 0) - (work?.cpuMs ?? 0))
      const isStarved = worked?.isRunnable === true && usedMs < passedMs / 2
      silentMs += isStarved ? usedMs : passedMs
      at = now()
      work = worked
      return silentMs < SILENCE_MS
    },
  }
}
