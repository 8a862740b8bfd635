import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable, Writable } from 'node:stream'
import { SECOND_MS } from '../../../src/core/time.ts'
import { type Cdp, openCdp } from './cdp.ts'
import { BrowserError } from './error.ts'
import { browserFlags, type FlagFacts } from './flags.ts'
import { memoryOfGroup } from './memory.ts'
import { browserUser, makeProfile, removeProfile } from './profile.ts'

/** All processes of one browser together. */
export const MAX_BROWSER_BYTES = 1_024 * 1024 * 1024
/** Where the system keeps what a browser may start. */
const SEARCH_PATH = '/usr/local/bin:/usr/bin:/bin'
const LOOK_EVERY_MS = SECOND_MS / 4

/** One browser: its processes, and the pipe that leads to it. */
export type Launched = {
  readonly cdp: Cdp
  readonly pid: number
  /** The most that was seen of its memory, in bytes; 0 where the system does not say it. */
  readonly peakBytes: () => number
  /** Ends every process of it and removes its folder; what is under way fails with the error that is given. */
  readonly end: (why: BrowserError) => Promise<void>
}

export type LaunchOptions = Omit<FlagFacts, 'profile'> & {
  readonly path: string
  readonly onFailure: (why: BrowserError) => void
  readonly maxBytes?: number
}

/** Starts a browser as the leader of a process group of its own, under a user that may do nothing where we are root. */
export async function launchBrowser(options: LaunchOptions): Promise<Launched> {
  const profile = await makeProfile()
  const child = await spawned(options, profile)
  const { pid } = child
  const [, , , to, from] = child.stdio
  if (pid === undefined || !(to instanceof Writable) || !(from instanceof Readable)) {
    await removeProfile(profile)
    throw new BrowserError('gone', 'The browser does not start.')
  }
  const exited = once(child, 'exit')
  const cdp = openCdp(to, from)
  child.on('exit', () => {
    cdp.close('The browser ended.')
    options.onFailure(new BrowserError('gone', 'The browser ended by itself.'))
  })
  const memory = watchMemory(pid, options)
  return {
    cdp,
    pid,
    peakBytes: memory.peakBytes,
    end: async (why) => {
      memory.stop()
      cdp.close(why.message)
      killGroup(pid)
      await exited
      await removeProfile(profile)
    },
  }
}

async function spawned(options: LaunchOptions, profile: string): Promise<ChildProcess> {
  const child = spawn(options.path, browserFlags({ ...options, profile }), {
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    cwd: profile,
    env: { PATH: SEARCH_PATH, LANG: 'en_US.UTF-8', TZ: 'UTC', HOME: profile, TMPDIR: profile },
    ...browserUser,
  })
  // Without a listener a program that cannot be started would end the daemon; it has no pid, which tells the caller.
  child.on('error', () => undefined)
  return child
}

function watchMemory(pid: number, { onFailure, maxBytes = MAX_BROWSER_BYTES }: LaunchOptions) {
  let peak = 0
  let isLooking = false
  const look = async () => {
    if (isLooking) return
    isLooking = true
    const bytes = await memoryOfGroup(pid)
    isLooking = false
    peak = Math.max(peak, bytes)
    if (bytes > maxBytes) onFailure(new BrowserError('page', 'The page takes more memory than it may have'))
  }
  const timer = setInterval(() => void look(), LOOK_EVERY_MS).unref()
  return { peakBytes: () => peak, stop: () => clearInterval(timer) }
}

/** The program may be a script that starts the browser: only the group has all of it. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // All of them ended already.
  }
}
