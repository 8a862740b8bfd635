import { constants, writeSync } from 'node:fs'
import { copyFile, type FileHandle, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { makeFolder } from '../../src/core/folder.ts'

/** An open file. Positions and sizes in bytes. */
export type DiskFile = {
  /** Writes at a position; may write less than given. @returns bytes written */
  write(bytes: Uint8Array, position: number): Promise<number>
  /** @returns bytes read, 0 at the end */
  read(into: Uint8Array, position: number): Promise<number>
  /** fdatasync: content and size are on the device when it resolves. */
  datasync(): Promise<void>
  truncate(sizeBytes: number): Promise<void>
  sizeBytes(): Promise<number>
  close(): Promise<void>
}

/** `create` refuses a file that exists, `extend` one that does not. */
export type OpenMode = 'read' | 'create' | 'extend'

/** What the store asks of a file system; tests hand in one that fails. Relative order of calls is the store's affair. */
export type Disk = {
  open(path: string, mode: OpenMode): Promise<DiskFile>
  rename(from: string, to: string): Promise<void>
  /** Removes a file; no error when it is gone already. */
  remove(path: string): Promise<void>
  makeDir(path: string): Promise<void>
  /** Names in a directory, [] when it does not exist. */
  list(path: string): Promise<string[]>
  /** Makes creations, renames and removals in a directory durable. */
  syncDir(path: string): Promise<void>
  /** Copies and syncs a file to a name that is free. */
  copy(from: string, to: string): Promise<void>
  /** undefined when there is no such file. */
  stat(path: string): Promise<{ readonly sizeBytes: number; readonly modifiedMs: number } | undefined>
  /** Bytes that are free on the device of a directory. */
  freeBytes(path: string): Promise<number>
}

const flags: Readonly<Record<OpenMode, string>> = { read: 'r', create: 'wx+', extend: 'r+' }
/** Up to here a write is a copy into the page cache that costs less than handing it to a thread and back. */
const MAX_DIRECT_BYTES = 64 * 1_024
const FILE_MODE = 0o600

function fileOf(handle: FileHandle): DiskFile {
  return {
    write: async (bytes, position) =>
      bytes.byteLength <= MAX_DIRECT_BYTES
        ? writeSync(handle.fd, bytes, 0, bytes.byteLength, position)
        : (await handle.write(bytes, 0, bytes.byteLength, position)).bytesWritten,
    read: async (into, position) => (await handle.read(into, 0, into.byteLength, position)).bytesRead,
    datasync: () => handle.datasync(),
    truncate: (sizeBytes) => handle.truncate(sizeBytes),
    sizeBytes: async () => (await handle.stat()).size,
    close: () => handle.close(),
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** The file system of this machine. */
export const realDisk: Disk = {
  open: async (path, mode) => fileOf(await open(path, flags[mode], FILE_MODE)),
  rename,
  remove: (path) => rm(path, { force: true }),
  makeDir: async (path) => {
    makeFolder(path)
  },
  list: async (path) => {
    try {
      return await readdir(path)
    } catch (error) {
      if (isMissing(error)) return []
      throw error
    }
  },
  // Windows cannot open a directory for syncing; its renames are journalled by the file system.
  syncDir: async (path) => {
    if (process.platform !== 'win32') await syncPath(path)
  },
  copy: async (from, to) => {
    await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
    await syncPath(to)
  },
  stat: async (path) => {
    try {
      const { size, mtimeMs } = await stat(path)
      return { sizeBytes: size, modifiedMs: mtimeMs }
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  },
  freeBytes: async (path) => {
    const { bavail, bsize } = await statfs(path)
    return bavail * bsize
  },
}

/** Writes all bytes, however short the single writes are. */
export async function writeFully(file: DiskFile, bytes: Uint8Array, position: number): Promise<void> {
  let done = 0
  while (done < bytes.byteLength) {
    const written = await file.write(done === 0 ? bytes : bytes.subarray(done), position + done)
    if (written <= 0) throw new Error('a write made no progress')
    done += written
  }
}

/** Puts a whole small file in place at once: temporary name, sync, rename, sync of the directory. */
export async function replaceFile(disk: Disk, place: { dir: string; name: string }, text: string): Promise<void> {
  const temporary = `${place.dir}/${place.name}.tmp`
  await disk.remove(temporary)
  const file = await disk.open(temporary, 'create')
  try {
    await writeFully(file, Buffer.from(text), 0)
    await file.datasync()
  } finally {
    await file.close()
  }
  await disk.rename(temporary, `${place.dir}/${place.name}`)
  await disk.syncDir(place.dir)
}

/** Reads a whole small file, undefined when there is none. */
export async function readWhole(disk: Disk, path: string): Promise<Buffer | undefined> {
  if ((await disk.stat(path)) === undefined) return undefined
  const file = await disk.open(path, 'read')
  try {
    const bytes = Buffer.alloc(await file.sizeBytes())
    let done = 0
    while (done < bytes.byteLength) {
      const read = await file.read(bytes.subarray(done), done)
      if (read === 0) break
      done += read
    }
    return bytes.subarray(0, done)
  } finally {
    await file.close()
  }
}
