import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../../../src/core/folder.ts'
import { systemClock } from '../../ports/clock.ts'
import { realDisk } from '../../store/disk.ts'
import { LOCK_DIR, MANIFEST_FILE } from '../../store/lowdb/files.ts'
import { LEVEL_FROM_BYTES } from '../../store/lowdb/first.ts'
import { takeLock } from '../../store/lowdb/lock.ts'
import { type LowdbStore, openLowdbStore } from '../../store/lowdb/open.ts'
import type { AnyCollection } from '../../store/port.ts'

/*
 * Replaces the store so that a crash leaves the old store or the new one. The lock folder is never moved, so no other
 * process can open the store. A manifest marks a complete store, so it is removed first and written last.
 */

/** Folder of the store inside a data folder. */
export const STORE_FOLDER = 'store'
/** Opens the store of a stopped daemon. @throws StoreLocked while the daemon runs. */
export function openStopped(dataDir: string, collections: readonly AnyCollection[]): Promise<LowdbStore> {
  return openLowdbStore({
    dir: join(dataDir, STORE_FOLDER),
    collections,
    durability: 'full',
    levelFrom: LEVEL_FROM_BYTES,
    now: systemClock.wall,
    onFatal: (error) => {
      throw error
    },
  })
}

/** Folder that keeps the old store's files until the new store has opened. */
const ASIDE_FOLDER = 'replaced'
/** Marker file, created once all old files are moved. While it exists, the store folder has only new files. */
const ALL_ASIDE = 'all-aside'
/** Derived tables, which are rebuilt from the store. */
const DERIVED = /^(?:catalog|postings)\.db/

type Folders = { readonly dataDir: string; readonly store: string; readonly aside: string }

function foldersOf(dataDir: string): Folders {
  return { dataDir, store: join(dataDir, STORE_FOLDER), aside: join(dataDir, ASIDE_FOLDER) }
}

/**
 * Replaces a stopped daemon's store with a verified one. If the new store does not open, restores the old one.
 * @throws StoreLocked while a daemon runs; the error that `opens` threw
 */
export async function replaceStore<T>(dataDir: string, fresh: string, opens: () => Promise<T>): Promise<T> {
  const folders = foldersOf(dataDir)
  makeFolder(folders.store)
  await underLock(folders, async () => {
    await undoHalf(folders)
    await rm(folders.aside, { recursive: true, force: true })
    await mkdir(folders.aside, { mode: 0o700 })
    await moveAll(folders.store, folders.aside, 'manifest first')
    await writeFile(join(folders.aside, ALL_ASIDE), '')
    await realDisk.syncDir(folders.aside)
    await dropDerived(folders)
    await moveAll(fresh, folders.store, 'manifest last')
  })
  const opened = await opens().catch(async (error: unknown) => {
    await underLock(folders, () => putBack(folders))
    throw error
  })
  await rm(folders.aside, { recursive: true })
  return opened
}

/** Undoes a replacement that a crash cut short; called before a store is opened. */
export async function undoHalfReplaced(dataDir: string): Promise<void> {
  const folders = foldersOf(dataDir)
  if (existsSync(folders.aside)) await underLock(folders, () => undoHalf(folders))
}

/** Removes the old store's files; called after the new one has opened. */
export async function dropReplaced(dataDir: string): Promise<void> {
  await rm(foldersOf(dataDir).aside, { recursive: true, force: true })
}

/** Removes all data of a stopped daemon except its lock. @throws StoreLocked while the daemon runs. */
export async function clearFolder(dataDir: string): Promise<void> {
  if (!existsSync(dataDir)) return
  const folders = foldersOf(dataDir)
  await underLock(folders, async () => {
    const inside = (await contentsOf(folders.store)).map((name) => join(folders.store, name))
    const beside = (await readdir(dataDir)).filter((name) => name !== STORE_FOLDER).map((name) => join(dataDir, name))
    for (const path of [...inside, ...beside]) await rm(path, { recursive: true, force: true })
  })
}

async function undoHalf(folders: Folders): Promise<void> {
  if (existsSync(folders.aside) && !existsSync(join(folders.store, MANIFEST_FILE))) await putBack(folders)
}

async function putBack(folders: Folders): Promise<void> {
  const { store, aside } = folders
  const marker = join(aside, ALL_ASIDE)
  if (existsSync(marker)) {
    for (const name of await contentsOf(store)) await rm(join(store, name), { recursive: true })
    await rm(marker)
    await realDisk.syncDir(aside)
  }
  await dropDerived(folders)
  await moveAll(aside, store, 'manifest last')
  await rm(aside, { recursive: true })
}

async function underLock({ store }: Folders, act: () => Promise<void>): Promise<void> {
  const lock = takeLock(store)
  try {
    await act()
  } finally {
    lock.release()
  }
}

async function dropDerived({ dataDir }: Folders): Promise<void> {
  for (const name of await readdir(dataDir)) if (DERIVED.test(name)) await rm(join(dataDir, name))
}

async function moveAll(from: string, to: string, order: 'manifest first' | 'manifest last'): Promise<void> {
  const names = (await contentsOf(from)).filter((name) => name !== MANIFEST_FILE)
  const manifest = existsSync(join(from, MANIFEST_FILE)) ? [MANIFEST_FILE] : []
  const inOrder = order === 'manifest first' ? [...manifest, ...names] : [...names, ...manifest]
  for (const name of inOrder) {
    await rename(join(from, name), join(to, name))
    // Sync after each rename, so that a crash cannot keep a later rename and lose an earlier one.
    await Promise.all([realDisk.syncDir(from), realDisk.syncDir(to)])
  }
}

async function contentsOf(store: string): Promise<string[]> {
  return (await readdir(store)).filter((name) => name !== LOCK_DIR)
}
