import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../../../src/core/folder.ts'
import { realDisk } from '../../store/disk.ts'
import { LOCK_DIR, MANIFEST_FILE } from '../../store/lowdb/files.ts'
import { takeLock } from '../../store/lowdb/lock.ts'

/*
 * One store in the place of another, so that a crash at any step leaves the old one or the new one. The lock stays
 * where it is: its folder is never moved, so nobody can open the store meanwhile. Whether there is a store says its
 * manifest, which goes first and comes last.
 */

/** Folder of the store inside a data folder. */
export const STORE_FOLDER = 'store'
/** Where the files of the old store wait until the new one has opened. */
const ASIDE_FOLDER = 'replaced'
/** Says, inside that folder, that all of them are there: what lies in the store since then is new. */
const ALL_ASIDE = 'all-aside'
/** Tables that follow from the store, and are made anew without them. */
const DERIVED = /^(?:catalog|postings)\.db/

type Folders = { readonly dataDir: string; readonly store: string; readonly aside: string }

function foldersOf(dataDir: string): Folders {
  return { dataDir, store: join(dataDir, STORE_FOLDER), aside: join(dataDir, ASIDE_FOLDER) }
}

/**
 * Moves a store that was verified into the place of a stopped daemon's. When it does not open there, the old one
 * comes back.
 * @throws StoreLocked while a daemon runs, and what `opens` throws.
 */
export async function replaceStore(dataDir: string, fresh: string, opens: () => Promise<void>): Promise<void> {
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
  try {
    await opens()
  } catch (error) {
    await underLock(folders, () => putBack(folders))
    throw error
  }
  await rm(folders.aside, { recursive: true })
}

/** Before a store is opened: ends a replacement that a crash cut short, by undoing it. */
export async function undoHalfReplaced(dataDir: string): Promise<void> {
  const folders = foldersOf(dataDir)
  if (existsSync(folders.aside)) await underLock(folders, () => undoHalf(folders))
}

/** After a store has opened: nothing of the one before it is needed any more. */
export async function dropReplaced(dataDir: string): Promise<void> {
  await rm(foldersOf(dataDir).aside, { recursive: true, force: true })
}

/** Removes all data of a stopped daemon but its lock. @throws StoreLocked while it runs. */
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
    // The manifest's place in the order has to hold on the disk too.
    await Promise.all([realDisk.syncDir(from), realDisk.syncDir(to)])
  }
}

async function contentsOf(store: string): Promise<string[]> {
  return (await readdir(store)).filter((name) => name !== LOCK_DIR)
}
