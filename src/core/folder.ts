import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { errnoOf } from './error.ts'

const PRIVATE_FOLDER_MODE = 0o700

/**
 * Makes a folder and those above it, for its owner alone unless a mode says otherwise.
 * The recursive mkdir of Node never ends under /proc: there a folder that exists refuses new ones as if it did not.
 * @throws the error of the system, which names the highest folder that cannot be made
 */
export function makeFolder(path: string, mode = PRIVATE_FOLDER_MODE): string {
  if (isFolder(path)) return path
  const above = dirname(path)
  if (above !== path) makeFolder(above, mode)
  try {
    mkdirSync(path, mode)
  } catch (error) {
    // Another process may have made it meanwhile.
    if (errnoOf(error) !== 'EEXIST' || !isFolder(path)) throw error
  }
  return path
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    // Making it says what is wrong.
    return false
  }
}
