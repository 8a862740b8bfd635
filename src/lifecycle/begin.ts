import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { z } from 'zod'
import type { System } from '../cli/env.ts'
import { CliError, exits } from '../cli/exit.ts'
import {
  type FoundDaemon,
  isRegistered,
  register,
  registeredDaemon,
  type StartRegistration,
} from '../client/discover.ts'
import { processStartedMs } from '../client/process.ts'
import type { Places } from '../client/settings.ts'
import { errnoOf } from '../core/error.ts'
import { makeFolder } from '../core/folder.ts'
import { keysOf } from '../core/record.ts'
import { type ReportStart, startSteps } from '../model/start.ts'
import type { Launch } from './launch.ts'

/** Commands hold the lock briefly, but a busy machine may be slow. */
const LOCK_WAIT_MS = 60_000

/** Runs `work` while no other command holds this instance's lock. The OS frees the lock when the process ends. */
export function whileLocked<T>(places: Pick<Places, 'runtime'>, work: () => T): T {
  const db = lockedFile(join(makeFolder(places.runtime), 'start.lock'))
  try {
    return work()
  } finally {
    db.close()
  }
}

function lockedFile(path: string): DatabaseSync {
  try {
    const db = new DatabaseSync(path, { timeout: LOCK_WAIT_MS })
    db.exec('BEGIN EXCLUSIVE')
    return db
  } catch (error) {
    throw error instanceof Error ? Object.assign(error, { path }) : error // SQLite does not say which file
  }
}

type Context = { readonly places: Places; readonly system: System; readonly signal: AbortSignal }

/** First registered state of a starting daemon, before it reports a step. */
export function firstRegistration(
  { places, system }: Omit<Context, 'signal'>,
  { launch, pid }: { readonly launch: Launch; readonly pid: number },
): StartRegistration {
  const now = system.now()
  return {
    state: 'starting',
    pid,
    started_at: new Date(processStartedMs(pid) ?? now).toISOString(),
    version: system.version,
    data_dir: places.data,
    step: 'launch',
    since: new Date(now).toISOString(),
    launch,
  }
}

/**
 * Registers this process as the one that starts the daemon, unless `souk up` has already done so.
 * @throws CliError `conflict` while another daemon lives, `terminated` if the start was cancelled
 */
function enter(host: Context, launch: Launch): StartRegistration {
  const { places, system } = host
  return whileLocked(places, () => {
    const found = registeredDaemon(places)
    if (found.state === 'starting' && found.registration.pid === process.pid) return found.registration
    if (system.parent !== undefined) throw calledOff()
    if (found.state === 'starting' || found.state === 'running') throw heldBy(found)
    const own = firstRegistration(host, { launch, pid: process.pid })
    register(places, own)
    return own
  })
}

function heldBy({ registration }: Extract<FoundDaemon, { state: 'starting' | 'running' }>): CliError {
  const does = registration.state === 'starting' ? 'is starting' : `runs at ${registration.url}`
  return new CliError('conflict', `The daemon already ${does} (pid ${registration.pid}).`, { next: ['souk down'] })
}

function calledOff(): CliError {
  return new CliError('terminated', 'The start was cancelled.', { facts: ['another command stopped it: souk down'] })
}

export type StartUnderWay = {
  /** Registers the step that begins now. @throws CliError `terminated` if the start was cancelled */
  readonly report: ReportStart
  /** Adds the address or the data folder to the registration. */
  readonly amend: (facts: Partial<Pick<StartRegistration, 'url' | 'fingerprint' | 'data_dir'>>) => void
  readonly process: StartRegistration
}

/** Begins a start and registers it, so that every command sees it. */
export function beginStart(host: Context, launch: Launch): StartUnderWay {
  const { places, system, signal } = host
  let own = enter(host, launch)
  const write = (change: Partial<StartRegistration>) => {
    if (signal.aborted || !isRegistered(places, own)) throw calledOff()
    own = { ...own, ...change }
    register(places, own)
  }
  return {
    process: own,
    amend: write,
    report(step, detail) {
      const { detail: _, ...rest } = own
      own = rest
      const since = step === own.step ? own.since : new Date(system.now()).toISOString()
      write({ step, since, ...(detail === undefined ? {} : { detail }) })
      void system.parent?.tell({ kind: 'step', step, detail } satisfies ChildWord)
    },
  }
}

/** Messages that the starting daemon, a child process, sends to the waiting `up`. */
export const ChildWord = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('step'), step: z.enum(keysOf(startSteps)), detail: z.string().optional() }),
  z.object({ kind: z.literal('ready'), notes: z.array(z.string()).default([]) }),
  z.object({
    kind: z.literal('failed'),
    /** Code of the system error that caused the failure, such as `EADDRINUSE`; null if none did. */
    cause: z.string().nullable(),
    exit: z.enum(keysOf(exits)),
    sentence: z.string(),
    facts: z.array(z.string()),
    next: z.array(z.string()),
  }),
])
export type ChildWord = z.output<typeof ChildWord>

/** The system error code of an error or, if it has none, of its nearest cause with a code; null without one. */
export function systemCode(error: unknown): string | null {
  for (let at = error; at instanceof Error; at = at.cause) {
    const code = errnoOf(at)
    if (code !== undefined && /^E[A-Z]+$/.test(code)) return code
  }
  return null
}
