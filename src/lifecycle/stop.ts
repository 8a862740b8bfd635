import { existsSync, readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import type { CommandContext } from '../cli/command.ts'
import { CliError } from '../cli/exit.ts'
import { registeredDaemon, unregister } from '../client/discover.ts'
import { isSameProcess, type ProcessName } from '../client/process.ts'
import { isInstanceName, type Places, placesOf } from '../client/settings.ts'
import { errnoOf } from '../core/error.ts'
import { whileLocked } from './begin.ts'

/** Time before a daemon is killed. An orderly stop takes less, so it is never interrupted. */
export const GRACE_MS = 25_000
const KILL_WAIT_MS = 5_000
const PORT_WAIT_MS = 1_000
const POLL_MS = 25

export type Stopped = {
  readonly stopped: boolean
  /** `graceful`: stopped in order. `killed`: ended by force. `crashed`: had already died. `absent`: there was none. */
  readonly how: 'graceful' | 'killed' | 'crashed' | 'absent'
  readonly pid: number | null
  readonly url: string | null
  readonly port_free: boolean | null
}

type Context = Pick<CommandContext<unknown, unknown>, 'places' | 'system' | 'io'>
const ABSENT = { state: 'absent' } as const
type Choice = { graceMs: number; force: boolean }

/** Stops a running or starting daemon by SIGTERM, then SIGKILL. Does nothing if there is none. */
export async function stopDaemon(host: Context, choice: Choice): Promise<Stopped> {
  const { places } = host
  // If another command is starting a daemon now, waits until the start is registered.
  const found = existsSync(places.runtime) ? whileLocked(places, () => registeredDaemon(places)) : ABSENT
  if (found.state === 'absent') return { stopped: false, how: 'absent', pid: null, url: null, port_free: null }
  const { registration } = found
  const how = found.state === 'stale' ? 'crashed' : await end(host, registration, choice)
  unregister(places, registration)
  const { pid, url = null } = registration
  const free = url === null ? null : await portGetsFree(host, url)
  return { stopped: how !== 'crashed', how, pid, url, port_free: free }
}

/** All local instances whose folders are in the same parent folder, including this one. */
export function instancesBeside({ places, system }: Pick<Context, 'places' | 'system'>): Places[] {
  const { chosenData: dataDir } = places
  const names = namesIn(dataDir ?? dirname(places.state)).filter(isInstanceName)
  return names.map((instance) => placesOf(system.env, { instance, dataDir }))
}

/** Names of the entries of a folder; empty if the folder does not exist. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw error
  }
}

async function end(
  host: Context,
  registration: ProcessName,
  { graceMs, force }: Choice,
): Promise<'graceful' | 'killed'> {
  const progress = host.io.progress(`waiting for pid ${registration.pid} to exit`)
  try {
    if (!force) {
      signal(registration, 'SIGTERM')
      if (await gone(host, registration, graceMs)) return 'graceful'
    }
    signal(registration, 'SIGKILL')
    if (await gone(host, registration, KILL_WAIT_MS)) return 'killed'
  } finally {
    progress.stop()
  }
  throw new CliError('failure', `Process ${registration.pid} does not exit, not even after SIGKILL.`, {
    facts: ['it is blocked in the kernel, often by an unresponsive disk'],
    next: [`ps -o pid,stat,wchan,cmd -p ${registration.pid}`],
  })
}

function signal(registration: ProcessName, name: 'SIGTERM' | 'SIGKILL'): void {
  // Check again before the signal is sent, since another process may have this pid now.
  if (!isSameProcess(registration)) return
  try {
    process.kill(registration.pid, name)
  } catch (error) {
    if (errnoOf(error) !== 'ESRCH') throw error
  }
}

async function gone({ system }: Context, registration: ProcessName, withinMs: number): Promise<boolean> {
  for (let waited = 0; waited < withinMs; waited += POLL_MS) {
    if (!isSameProcess(registration)) return true
    await system.sleep(POLL_MS)
  }
  return !isSameProcess(registration)
}

/** Waits for the port: a killed process may hold its sockets briefly. @returns whether the port is free */
async function portGetsFree({ system }: Context, url: string): Promise<boolean> {
  for (let waited = 0; waited < PORT_WAIT_MS; waited += POLL_MS) {
    if (await portIsFree(url)) return true
    await system.sleep(POLL_MS)
  }
  return portIsFree(url)
}

function portIsFree(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) }, () =>
      server.close(() => resolve(true)),
    )
  })
}
