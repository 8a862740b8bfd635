import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { errnoOf } from '../../../src/core/error.ts'
import { MINUTE_MS } from '../../../src/core/time.ts'

/** Age after which a temporary file counts as abandoned, because no engine works that long. */
const LEFT_AFTER_MS = 10 * MINUTE_MS
const MAX_SWEPT = 100
const RETRIES = 10
const RETRY_MS = 100

/** Prefix of the names of temporary files of a kind; contains the process id. */
export function leftoverPrefix(kind: string): string {
  return `souk-${kind}-${process.pid}-`
}

/** Removes a temporary file or folder, even while ending processes write to it. */
export function removeLeftover(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: RETRIES, retryDelay: RETRY_MS })
}

type Sweep = {
  readonly folder: string
  readonly kind: string
  /** Machine milliseconds. */
  readonly now: number
  /** User ids whose files may be removed. */
  readonly owners: readonly (number | undefined)[]
}

/** Finds temporary files that killed daemons left. Checks at most `MAX_SWEPT` files. */
export async function leftoversIn({ folder, kind, now, owners }: Sweep): Promise<string[]> {
  const found = (await readdir(folder)).filter((name) => name.startsWith(`souk-${kind}-`)).slice(0, MAX_SWEPT)
  const left: string[] = []
  for (const name of found) {
    const path = join(folder, name)
    // Another daemon may remove the file first.
    const seen = await stat(path).catch(() => undefined)
    if (seen && owners.includes(seen.uid) && isLeft(name.slice(`souk-${kind}-`.length), seen.mtimeMs, now))
      left.push(path)
  }
  return left
}

function isLeft(rest: string, changedAt: number, now: number): boolean {
  if (now - changedAt >= LEFT_AFTER_MS) return true
  const pid = Number(/^(\d+)-/.exec(rest)?.[1])
  if (!Number.isInteger(pid)) return false
  // In a container, every daemon has the same process id. A file older than this process is then a leftover.
  return pid === process.pid ? changedAt < now - process.uptime() * 1_000 : !isAlive(pid)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errnoOf(error) !== 'ESRCH'
  }
}
