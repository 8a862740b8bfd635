import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '../core/folder.ts'

/** The user's umask decides whether other users can read the folder. */
export const SHARED_FOLDER_MODE = 0o777

export type Append = (data: string | Uint8Array) => Promise<void>

/** Writes a file atomically and durably; creates its folder. @param mode - permissions (default: by the umask) */
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
