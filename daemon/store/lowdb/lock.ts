import type { DatabaseSync } from 'node:sqlite'
import { makeFolder } from '../../../src/core/folder.ts'
import { StoreLocked } from '../errors.ts'
import { LOCK_DIR } from './files.ts'

/** SQLITE_BUSY and SQLITE_LOCKED: the file is in use. */
const heldCodes = new Set([5, 6])

/** Exclusive lock of a data directory, released by the kernel at process end. */
export type Lock = { release(): void }

/**
 * Takes the lock or fails. Never open the file elsewhere: closing another descriptor would release it.
 * @throws StoreLocked
 */
export function takeLock(dir: string): Lock {
  makeFolder(`${dir}/${LOCK_DIR}`)
  let db: DatabaseSync | undefined
  try {
    const sqlite = process.getBuiltinModule('node:sqlite')
    db = new sqlite.DatabaseSync(`${dir}/${LOCK_DIR}/lock.db`, { timeout: 0 })
    db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch (error) {
    db?.close()
    if (isHeld(error)) throw new StoreLocked(dir)
    throw error instanceof Error ? Object.assign(error, { path: dir }) : error
  }
  const held = db
  return { release: () => held.close() }
}

function isHeld(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && heldCodes.has(Number(error.errcode))
}
