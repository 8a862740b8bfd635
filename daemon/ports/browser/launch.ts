import { removeLeftover } from '../program/leftovers.ts'
import { killGroup } from '../program/spawn.ts'
import { starter } from '../program/start.ts'
import { type Cdp, openCdp } from './cdp.ts'
import { BrowserError } from './error.ts'
import { browserFlags, type FlagFacts } from './flags.ts'
import { browserUser, makeProfile } from './profile.ts'

/** Memory limit for all processes of one browser. */
export const MAX_BROWSER_BYTES = 1_024 * 1024 * 1024
/** `PATH` of the browser process. */
const SEARCH_PATH = '/usr/local/bin:/usr/bin:/bin'
/** The browser's file descriptors for the DevTools protocol. */
const TO_BROWSER = 3
const FROM_BROWSER = 4

export type Launched = {
  readonly cdp: Cdp
  readonly pid: number
  /** Highest memory seen, in bytes; 0 if unknown. */
  readonly peakBytes: () => number
  /** Kills all processes of the browser and removes its folder. Commands in progress fail with `why`. */
  readonly end: (why: BrowserError) => Promise<void>
}

export type LaunchOptions = Omit<FlagFacts, 'profile'> & {
  readonly path: string
  readonly onFailure: (why: BrowserError) => void
  readonly maxBytes?: number
  /** Limit of processor time, where it is known: a machine that others keep busy takes longer for the same work. */
  readonly maxCpuMs: number
}

/** Starts a browser in its own process group, as an unprivileged user if the daemon runs as root. */
export async function launchBrowser(options: LaunchOptions): Promise<Launched> {
  const profile = await makeProfile()
  const started = await startIn(profile, options)
  const { pid, exited } = started
  const cdp = openCdp(started.input(TO_BROWSER), started.output(FROM_BROWSER))
  void exited.then(() => {
    cdp.close('The browser stopped.')
    options.onFailure(new BrowserError('gone', 'The browser exited unexpectedly.'))
  })
  const { onFailure, maxBytes = MAX_BROWSER_BYTES, maxCpuMs } = options
  let peak = 0
  started.onUse(({ bytes, cpuMs }) => {
    if (cpuMs > maxCpuMs) onFailure(new BrowserError('page', 'The page did not finish in time'))
    peak = Math.max(peak, bytes)
    if (bytes > maxBytes) onFailure(new BrowserError('page', 'The page exceeds the memory limit'))
  })
  return {
    cdp,
    pid,
    peakBytes: () => peak,
    end: async (why) => {
      cdp.close(why.message)
      killGroup(pid)
      await exited
      await removeLeftover(profile)
    },
  }
}

async function startIn(profile: string, options: LaunchOptions) {
  try {
    return await starter.start({
      file: options.path,
      args: browserFlags({ ...options, profile }),
      cwd: profile,
      env: { PATH: SEARCH_PATH, LANG: 'en_US.UTF-8', TZ: 'UTC', HOME: profile, TMPDIR: profile },
      descriptors: ['ignore', 'ignore', 'ignore', 'in', 'out'],
      ...browserUser,
    })
  } catch (error) {
    await removeLeftover(profile)
    throw new BrowserError('gone', 'The browser does not start.', error)
  }
}
