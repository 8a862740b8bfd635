import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { makeFolder } from '../../../src/core/folder.ts'
import { StoreLocked } from '../errors.ts'
import { LOCK_DIR } from './files.ts'

/** SQLITE_BUSY and SQLITE_LOCKED: the file is in use. */
const heldCodes = new Set([5, 6])

/** Exclusive lock of a data directory, released by the operating system when the process ends. */
export type Lock = { release(): void }

/** How long daemons that start or stop at the same moment wait for each other. */
const GUARD_WAIT_MS = 10_000

/**
 * Locks a name on this machine. Its files exist while the lock is held; the next call removes those of killed daemons.
 * @throws StoreLocked
 */
export function takeNamedLock(folder: string, name: string): Lock {
  const dir = join(folder, name)
  return guarded(folder, () => {
    for (const other of readdirSync(folder)) if (![LOCK_DIR, name].includes(other)) removeUnheld(join(folder, other))
    const lock = takeLock(dir)
    return {
      release: () => {
        lock.release()
        guarded(folder, () => removeUnheld(dir))
      },
    }
  })
}

/** Runs `act` in one daemon at a time. Otherwise one could remove a file that another opened but not yet locked. */
function guarded<T>(folder: string, act: () => T): T {
  const guard = takeLock(folder, GUARD_WAIT_MS)
  try {
    return act()
  } finally {
    guard.release()
  }
}

function removeUnheld(dir: string): void {
  try {
    takeLock(dir).release()
    rmSync(dir, { recursive: true, force: true })
  } catch (error) {
    if (!(error instanceof StoreLocked)) throw error
  }
}

/**
 * Takes the lock or fails. Never open the lock file elsewhere: closing another descriptor of it would release the lock.
 * @throws StoreLocked
 */
export function takeLock(dir: string, waitMs = 0): Lock {
  makeFolder(`${dir}/${LOCK_DIR}`)
  let db: DatabaseSync | undefined
  try {
    const sqlite = process.getBuiltinModule('node:sqlite')
    db = new sqlite.DatabaseSync(`${dir}/${LOCK_DIR}/lock.db`, { timeout: waitMs })
    db.exec('BEGIN EXCLUSIVE') // without "locking_mode": two that open at once would wait for each other
  } catch (error) {
    db?.close()
    if (error instanceof Error && 'errcode' in error && heldCodes.has(Number(error.errcode))) throw new StoreLocked(dir)
    throw error instanceof Error ? Object.assign(error, { path: dir }) : error
  }
  const held = db
  return { release: () => held.close() }
}
