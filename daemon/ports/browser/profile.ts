import { statSync } from 'node:fs'
import { chown, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { MINUTE_MS } from '../../../src/core/time.ts'

const PREFIX = 'souk-browser-'
/** Longer than any job: what is older was left by a daemon that was killed. */
const LEFT_AFTER_MS = 10 * MINUTE_MS
const MAX_SWEPT = 100
const OTHERS_MAY_ENTER = 0o001
const RETRIES = 10
const RETRY_MS = 100
/** `nobody`: a browser that root starts must not be root, and its sandbox does not work as root either. */
const NOBODY = 65_534

/** Whom a browser runs as; nobody else than us unless we are root. */
export const browserUser: { readonly uid?: number; readonly gid?: number } =
  process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}

/** A folder of its own for one browser, which owns it. */
export async function makeProfile(): Promise<string> {
  const profile = await mkdtemp(join(home(), PREFIX))
  if (browserUser.uid !== undefined) await chown(profile, NOBODY, NOBODY)
  return profile
}

/** Its processes may still write while they end. */
export function removeProfile(profile: string): Promise<void> {
  return rm(profile, { recursive: true, force: true, maxRetries: RETRIES, retryDelay: RETRY_MS })
}

/** Removes what browsers of a daemon that was killed left, folders and, should one hang, processes. */
export async function sweepProfiles(now: number): Promise<void> {
  const folder = home()
  const found = (await readdir(folder)).filter((name) => name.startsWith(PREFIX)).slice(0, MAX_SWEPT)
  for (const name of found) {
    const profile = join(folder, name)
    // Another daemon may remove it at the same time, and then there is nothing to do.
    const seen = await stat(profile).catch(() => undefined)
    const owners: readonly (number | undefined)[] = [process.getuid?.(), browserUser.uid]
    if (!seen || !owners.includes(seen.uid) || now - seen.mtimeMs < LEFT_AFTER_MS) continue
    for (const pid of await processesOf(profile)) end(pid)
    await removeProfile(profile)
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
    // It ended by itself.
  }
}

/** A folder for temporary files that whoever the browser runs as can enter. */
function home(): string {
  const own = tmpdir()
  return browserUser.uid === undefined || isOpen(own) ? own : '/tmp'
}

function isOpen(folder: string): boolean {
  const parent = dirname(folder)
  const mayEnter = (statSync(folder).mode & OTHERS_MAY_ENTER) !== 0
  return mayEnter && (parent === folder || isOpen(parent))
}
