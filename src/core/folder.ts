import { mkdirSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { attempt, errnoOf } from './error.ts'

const PRIVATE_FOLDER_MODE = 0o700

/**
 * Creates a folder and its parents, private by default. Node's recursive mkdir is not used: it hangs under /proc, where
 * existing folders refuse children.
 * @throws the system error of the topmost folder that cannot be created
 */
export function makeFolder(path: string, mode = PRIVATE_FOLDER_MODE): string {
  if (isFolder(path)) return path
  const above = dirname(path)
  if (above !== path) makeFolder(above, mode)
  try {
    mkdirSync(path, mode)
  } catch (error) {
    // Another process may have created the folder in the meantime.
    if (errnoOf(error) !== 'EEXIST' || !isFolder(path)) throw error
  }
  return path
}

function isFolder(path: string): boolean {
  // After false, the caller's mkdir creates the folder or reports the reason.
  return attempt(() => statSync(path).isDirectory()) ?? false
}

/** Path of a worker's file: beside its module in the bundle, named as it says from the module in the sources. */
export function workerFile(module: string, name: string): string {
  const file = module.endsWith('.ts') ? `${name}.worker.ts` : `${basename(name)}.worker.js`
  return fileURLToPath(new URL(file, module))
}
