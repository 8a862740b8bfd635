import { existsSync, readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import type { CommandContext } from '../cli/command.ts'
import { CliError } from '../cli/exit.ts'
import { registeredDaemon, unregister } from '../client/discover.ts'
import { isInstanceName, type Places, placesOf } from '../client/paths.ts'
import { isSameProcess, type ProcessName } from '../client/process.ts'
import { errnoOf } from '../core/error.ts'
import { whileLocked } from './begin.ts'

/** Longer than a daemon takes at most to end in order: a kill never comes between its last answer and its store. */
export const GRACE_MS = 25_000
const KILL_WAIT_MS = 5_000
const PORT_WAIT_MS = 1_000
const POLL_MS = 25

export type Stopped = {
  readonly stopped: boolean
  /** `graceful`: it ended in order. `killed`: it had to be. `crashed`: it was gone already. `absent`: none ran. */
  readonly how: 'graceful' | 'killed' | 'crashed' | 'absent'
  readonly pid: number | null
  readonly url: string | null
  /** Its port can be bound again. */
  readonly port_free: boolean | null
}

type Host = Pick<CommandContext<unknown, unknown>, 'places' | 'system' | 'io'>
const ABSENT = { state: 'absent' } as const
type Choice = { graceMs: number; force: boolean }

/**
 * Ends the instance's daemon, one that is still starting too: SIGTERM, then SIGKILL after the grace; already down is
 * fine.
 */
export async function stopDaemon(host: Host, choice: Choice): Promise<Stopped> {
  const { places } = host
  // A start that is just being made is waited for, so that it does not come up behind our back.
  const found = existsSync(places.runtime) ? whileLocked(places, () => registeredDaemon(places)) : ABSENT
  if (found.state === 'absent') return { stopped: false, how: 'absent', pid: null, url: null, port_free: null }
  const { registration } = found
  const how = found.state === 'stale' ? 'crashed' : await end(host, registration, choice)
  unregister(places, registration)
  const { pid, url = null } = registration
  const free = url === null ? null : await portGetsFree(host, url)
  return { stopped: how !== 'crashed', how, pid, url, port_free: free }
}

/** All instances of this machine whose state lies beside this one's, itself included. */
export function instancesBeside({ places, system }: Pick<Host, 'places' | 'system'>): Places[] {
  const { chosenData: dataDir } = places
  const names = namesIn(dataDir ?? dirname(places.state)).filter(isInstanceName)
  return names.map((instance) => placesOf(system.env, { instance, dataDir }))
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw error
  }
}

async function end(host: Host, registration: ProcessName, { graceMs, force }: Choice): Promise<'graceful' | 'killed'> {
  const progress = host.io.progress(`waiting for pid ${registration.pid} to end`)
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
  throw new CliError('failure', `Process ${registration.pid} does not end, not even by SIGKILL.`, {
    facts: ['it hangs in the system, often on a disk that does not answer'],
    next: [`ps -o pid,stat,wchan,cmd -p ${registration.pid}`],
  })
}

function signal(registration: ProcessName, name: 'SIGTERM' | 'SIGKILL'): void {
  // Looked at once more just before: the number may have gone to somebody else's process meanwhile.
  if (!isSameProcess(registration)) return
  try {
    process.kill(registration.pid, name)
  } catch (error) {
    if (errnoOf(error) !== 'ESRCH') throw error
  }
}

async function gone({ system }: Host, registration: ProcessName, withinMs: number): Promise<boolean> {
  for (let waited = 0; waited < withinMs; waited += POLL_MS) {
    if (!isSameProcess(registration)) return true
    await system.sleep(POLL_MS)
  }
  return !isSameProcess(registration)
}

/** Threads of a killed process may hold its sockets for a moment after it counts as ended. */
async function portGetsFree({ system }: Host, url: string): Promise<boolean> {
  for (let waited = 0; waited < PORT_WAIT_MS; waited += POLL_MS) {
    if (await portIsFree(url)) return true
    await system.sleep(POLL_MS)
  }
  return portIsFree(url)
}

/** Whether an address can be bound: tried, not guessed. */
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
