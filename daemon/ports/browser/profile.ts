import { statSync } from 'node:fs'
import { chown, mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { leftoverPrefix, leftoversIn, removeLeftover } from '../program/leftovers.ts'

const KIND = 'browser'
const OTHERS_MAY_ENTER = 0o001
/** User id of `nobody`, who runs the browser if the daemon runs as root. The browser's sandbox fails for root. */
const NOBODY = 65_534

/** User and group of the browser process; empty if they are the daemon's own. */
export const browserUser: { readonly uid?: number; readonly gid?: number } =
  process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}

/** A temporary profile folder, owned by the browser's user. */
export async function makeProfile(): Promise<string> {
  const profile = await mkdtemp(join(home(), leftoverPrefix(KIND)))
  if (browserUser.uid !== undefined) await chown(profile, NOBODY, NOBODY)
  return profile
}

/** Removes profile folders and ends browser processes that a killed daemon left. */
export async function sweepProfiles(now: number): Promise<void> {
  const owners = [process.getuid?.(), browserUser.uid]
  for (const profile of await leftoversIn({ folder: home(), kind: KIND, now, owners })) {
    for (const pid of await processesOf(profile)) end(pid)
    await removeLeftover(profile)
  }
}

async function processesOf(profile: string): Promise<number[]> {
  if (process.platform !== 'linux') return []
  const pids = (await readdir('/proc')).map(Number).filter(Number.isInteger)
  const flags = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')), // it ended meanwhile
  )
  return pids.filter((_, at) => flags[at]?.split('\0').includes(`--user-data-dir=${profile}`))
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has exited already.
  }
}

/** A temporary folder that the browser's user can enter. */
function home(): string {
  const own = tmpdir()
  return browserUser.uid === undefined || isOpen(own) ? own : '/tmp'
}

function isOpen(folder: string): boolean {
  const parent = dirname(folder)
  const mayEnter = (statSync(folder).mode & OTHERS_MAY_ENTER) !== 0
  return mayEnter && (parent === folder || isOpen(parent))
}
