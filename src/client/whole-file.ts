import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '../core/folder.ts'

/** What others may see of a folder is the affair of the person's own umask. */
const SHARED_FOLDER_MODE = 0o777

export type Append = (data: string | Uint8Array) => Promise<void>

/**
 * Writes a file that is there, and durable, when all of it came, or not at all: an older one stays until then. Its
 * folder is made.
 * @param mode - permissions of a private file; the user's own default otherwise.
 */
export async function writeWhole<T>(path: string, write: (append: Append) => Promise<T>, mode?: number): Promise<T> {
  makeFolder(dirname(path), SHARED_FOLDER_MODE)
  const part = `${path}.${process.pid}.part`
  const file = await open(part, 'wx', mode)
  try {
    const result = await write((data) => file.appendFile(data))
    await file.sync()
    await file.close()
    await rename(part, path)
    return result
  } catch (error) {
    await file.close()
    await rm(part, { force: true })
    throw error
  }
}
