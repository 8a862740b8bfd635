import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Extract, extract, type Pack, pack } from 'tar-stream'
import { z } from 'zod'
import { AppError } from '../../../src/core/error.ts'
import { makeFolder } from '../../../src/core/folder.ts'
import type { Streamed } from '../../endpoint/handler.ts'
import { type Context, defineResource } from '../../kernel/context.ts'
import { putSetting, settings } from '../../kernel/rows.ts'
import { commit } from '../../store/draw.ts'
import type { BackupReport } from '../../store/lowdb/backup.ts'

/** Name prefix of temporary backup folders. */
const FOLDER = 'backup-'
const MAX_SHOWN_CHARS = 80

export type Backups = {
  /** Starts a backup and sends it as a tar archive. @throws AppError `conflict` while another backup is sent */
  readonly next: (name: string) => Streamed
}

type Parts = {
  readonly dataDir: string
  /** Copies the running store to a new folder. */
  readonly backup: (target: string) => Promise<BackupReport>
  /** Called before the store is copied. */
  readonly prepare?: () => Promise<void>
  /** Called when a backup was sent whole. */
  readonly note: () => Promise<void>
}

const LAST_BACKUP = 'last_backup'

export async function noteBackup(ctx: Parameters<typeof commit>[0], at: number): Promise<void> {
  await commit(ctx, (t) => putSetting(t, LAST_BACKUP, at))
}

/** Business time of the last backup; undefined if there was none. */
export async function lastBackup({ store }: Pick<Context, 'store'>): Promise<number | undefined> {
  return z
    .int()
    .optional()
    .parse((await store.table(settings).get(LAST_BACKUP))?.value)
}

export const backups = defineResource<Backups>('backups')

/** Prepares backups of the running store, each sent as a tar. First removes files that an interrupted backup left. */
export async function openBackups({ dataDir, backup, prepare, note }: Parts): Promise<Backups> {
  for (const name of await readdir(dataDir)) {
    if (name.startsWith(FOLDER)) await rm(join(dataDir, name), { recursive: true, force: true })
  }
  let isRunning = false

  async function* chunks(): AsyncGenerator<Uint8Array> {
    const folder = await mkdtemp(join(dataDir, FOLDER))
    try {
      const store = join(folder, 'store')
      await prepare?.()
      await backup(store)
      yield* tarOf(store)
      await note()
    } finally {
      isRunning = false
      await rm(folder, { recursive: true, force: true })
    }
  }

  return {
    next: (name) => {
      if (isRunning) throw new AppError('conflict', 'Another backup is in progress: try again when it has finished.')
      return {
        name,
        chunks: () => {
          isRunning = true
          return chunks()
        },
      }
    },
  }
}

async function* tarOf(folder: string): AsyncGenerator<Uint8Array> {
  const tar = pack()
  const filled = fill(tar, folder).then(
    () => tar.finalize(),
    (error: unknown) => tar.destroy(error instanceof Error ? error : new Error(String(error))),
  )
  yield* tar as AsyncIterable<Uint8Array>
  await filled
}

async function fill(tar: Pack, folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name)
    const { size, mtime } = await stat(path)
    await pipeline(createReadStream(path), tar.entry({ name: relative(folder, path), size, mtime }))
  }
}

/** File names allowed in a backup. Others are refused, so that no path can leave the folder. */
const STORE_FILE = /^(?:blobs\/)?[\w.-]+$/

/**
 * Unpacks a tar into a temporary folder in `parent`. That folder exists only while `use` runs.
 * @throws AppError 400 if the tar is no backup
 */
export async function withUnpacked<T>(
  tarFile: string,
  use: (folder: string) => Promise<T>,
  parent: string = tmpdir(),
): Promise<T> {
  return withStaged(parent, async (folder) => {
    const reader = extract()
    try {
      await Promise.all([pipeline(createReadStream(tarFile), reader), unpack(reader, folder)])
    } catch (cause) {
      const said = cause instanceof Error ? cause.message : String(cause)
      const why = /^(Invalid tar|Unexpected end)/.test(said) ? 'it is not a complete tar file' : said
      throw new AppError('invalid_request', `${tarFile} is not a backup: ${why}.`, { cause })
    }
    return use(folder)
  })
}

/** Runs `use` with a temporary folder in `parent`. A folder that a crash leaves is removed at the next start. */
export async function withStaged<T>(parent: string, use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(parent, FOLDER))
  try {
    return await use(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function unpack(tar: Extract, folder: string): Promise<void> {
  for await (const entry of tar) {
    const { name, type } = entry.header
    if (type !== 'file' || !STORE_FILE.test(name) || name.includes('..')) {
      throw new Error(`it contains an unexpected file, ${name.slice(0, MAX_SHOWN_CHARS)}`)
    }
    makeFolder(dirname(join(folder, name)))
    await pipeline(entry, createWriteStream(join(folder, name)))
  }
}
