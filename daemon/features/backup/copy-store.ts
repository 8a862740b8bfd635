import { existsSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../../../src/core/folder.ts'
import { systemClock } from '../../ports/clock.ts'
import { realDisk } from '../../store/disk.ts'
import type { AnyCollection } from '../../store/port.ts'
import { shownAddress } from '../../store/postgres/address.ts'
import { type Contents, type CopyParts, copyToDatabase, copyToFiles } from '../../store/postgres/copy.ts'
import { markDatabase, unmarkDatabase } from '../../store/postgres/opened.ts'
import { addressOfStore } from '../../store/postgres/refusal.ts'
import { auditBooks } from '../audit/audit.ts'
import { withStaged } from './archive.ts'
import { openStopped, replaceStore, STORE_FOLDER, undoHalfReplaced } from './import-state.ts'

export type StoreMove = {
  readonly to: 'files' | 'database'
  /** Address of the database. */
  readonly store: string
  readonly watch: (rows: number) => void
}

export type StoreCopy = StoreMove & { readonly dataDir: string; readonly collections: readonly AnyCollection[] }

export type CopiedStore = Contents & {
  /** The address without its password. */
  readonly database: string
  /** Folder with the files as they were, which nothing uses any more; absent for a copy to files. */
  readonly kept?: string
}

/** Folder that keeps the files after they were copied to a database. */
const KEPT_FOLDER = 'store-before-copy'

function partsOf({ store, collections, watch }: StoreCopy): CopyParts {
  return { address: addressOfStore(store), collections, watch, audit }
}

/** What the books come to, as text. Money on a chain is not copied, so it is not compared. */
async function audit(store: Parameters<CopyParts['audit']>[0]): Promise<string> {
  const { transactions, accounts, checks } = await auditBooks({ store, clock: systemClock })
  return JSON.stringify({ transactions, accounts, checks })
}

/** Moves the store of a stopped daemon. @throws StoreLocked while a daemon has it; AppError: see `copyToDatabase`, `copyToFiles` */
export function copyStore(copy: StoreCopy): Promise<CopiedStore> {
  return copy.to === 'files' ? moveToFiles(copy) : moveToDatabase(copy)
}

/** From files. They stay in a folder beside. */
async function moveToDatabase(copy: StoreCopy): Promise<CopiedStore> {
  const { dataDir, collections } = copy
  const parts = partsOf(copy)
  await undoHalfReplaced(dataDir)
  const store = await openStopped(dataDir, collections)
  let contents: Contents
  try {
    contents = await copyToDatabase(parts, store)
    markDatabase(dataDir, shownAddress(parts.address), store.storeId)
  } finally {
    await store.close()
  }
  const kept = freeFolder(dataDir)
  await rename(join(dataDir, STORE_FOLDER), kept)
  await realDisk.syncDir(dataDir)
  return { ...contents, database: shownAddress(parts.address), kept }
}

/** From a database, which stays as it is. */
async function moveToFiles(copy: StoreCopy): Promise<CopiedStore> {
  const { dataDir, collections } = copy
  const parts = partsOf(copy)
  makeFolder(dataDir)
  return withStaged(dataDir, async (folder) => {
    const fresh = join(folder, STORE_FOLDER)
    const contents = await copyToFiles(parts, fresh, () => openStopped(folder, collections))
    await replaceStore(dataDir, fresh, async () => (await openStopped(dataDir, collections)).close())
    unmarkDatabase(dataDir)
    return { ...contents, database: shownAddress(parts.address) }
  })
}

function freeFolder(dataDir: string): string {
  for (let number = 1; ; number += 1) {
    const folder = join(dataDir, number === 1 ? KEPT_FOLDER : `${KEPT_FOLDER}-${number}`)
    if (!existsSync(folder)) return folder
  }
}
