import { constants, writeSync } from 'node:fs'
import { copyFile, type FileHandle, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { errnoOf } from '../../src/core/error.ts'
import { makeFolder } from '../../src/core/folder.ts'

/** An open file; positions and sizes in bytes. */
export type DiskFile = {
  /** Writes at a position, possibly partially. @returns bytes written */
  write(bytes: Uint8Array, position: number): Promise<number>
  /** @returns bytes read, 0 at the end */
  read(into: Uint8Array, position: number): Promise<number>
  /** fdatasync: content and size are on the device when it resolves. */
  datasync(): Promise<void>
  truncate(sizeBytes: number): Promise<void>
  sizeBytes(): Promise<number>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** `create` requires a new file, `extend` an existing one. */
export type OpenMode = 'read' | 'create' | 'extend'

/** File system access of the store; tests inject failures. */
export type Disk = {
  open(path: string, mode: OpenMode): Promise<DiskFile>
  rename(from: string, to: string): Promise<void>
  /** Removes a file; ignores a missing one. */
  remove(path: string): Promise<void>
  makeDir(path: string): Promise<void>
  /** Names in a directory; [] if missing. */
  list(path: string): Promise<string[]>
  /** Makes directory changes durable. */
  syncDir(path: string): Promise<void>
  /** Copies and syncs a file to a new name. */
  copy(from: string, to: string): Promise<void>
  /** Undefined if missing. */
  stat(path: string): Promise<{ readonly sizeBytes: number; readonly modifiedMs: number } | undefined>
  /** Free bytes on the directory's device. */
  freeBytes(path: string): Promise<number>
}

const flags: Readonly<Record<OpenMode, string>> = { read: 'r', create: 'wx+', extend: 'r+' }
/** Smaller writes are cheaper synchronously than in Node's thread pool. */
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
    [Symbol.asyncDispose]: () => handle.close(),
  }
}

async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

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
      if (errnoOf(error) === 'ENOENT') return []
      throw error
    }
  },
  // Windows cannot sync a directory; its file system journals renames.
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
      if (errnoOf(error) === 'ENOENT') return undefined
      throw error
    }
  },
  freeBytes: async (path) => {
    const { bavail, bsize } = await statfs(path)
    return bavail * bsize
  },
}

/** Repeats partial writes. */
export async function writeFully(file: DiskFile, bytes: Uint8Array, position: number): Promise<void> {
  let done = 0
  while (done < bytes.byteLength) {
    const written = await file.write(done === 0 ? bytes : bytes.subarray(done), position + done)
    if (written <= 0) throw new Error('a write made no progress')
    done += written
  }
}

/** Replaces a small file atomically: temporary name, sync, rename, directory sync. */
export async function replaceFile(disk: Disk, place: { dir: string; name: string }, text: string): Promise<void> {
  const temporary = `${place.dir}/${place.name}.tmp`
  await disk.remove(temporary)
  {
    await using file = await disk.open(temporary, 'create')
    await writeFully(file, Buffer.from(text), 0)
    await file.datasync()
  }
  await disk.rename(temporary, `${place.dir}/${place.name}`)
  await disk.syncDir(place.dir)
}

/** Reads a small file; undefined if missing. */
export async function readWhole(disk: Disk, path: string): Promise<Buffer | undefined> {
  if ((await disk.stat(path)) === undefined) return undefined
  await using file = await disk.open(path, 'read')
  const bytes = Buffer.alloc(await file.sizeBytes())
  let done = 0
  while (done < bytes.byteLength) {
    const read = await file.read(bytes.subarray(done), done)
    if (read === 0) break
    done += read
  }
  return bytes.subarray(0, done)
}
