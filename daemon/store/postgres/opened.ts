import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../../src/core/error.ts'
import { StoreLocked } from '../errors.ts'
import type { LowdbStore } from '../lowdb/open.ts'
import type { AnyCollection, Store } from '../port.ts'
import type { PgAddress } from './address.ts'
import { openPgStore, type PgStore, type PgStoreOptions } from './open.ts'
import { addressOfStore, refusalOf } from './refusal.ts'
import { isPassing } from './retry.ts'
import { type SpareParts, untilFree } from './spare.ts'

/** A store of either engine, with what the daemon needs besides the port. */
export type OpenedStore = Store &
  Pick<LowdbStore, 'blobs' | 'isFull' | 'shrink' | 'backup'> & {
    readonly recovery: Pick<LowdbStore['recovery'], 'torn' | 'loss'>
    /** One sentence about the database, or about files if there is something to know. */
    readonly describe?: () => Promise<string>
    /** Whether the database does not answer now; absent for files. */
    readonly isAway?: () => boolean
  }

/** Says in the data folder which database has the rows, so that no start continues without them. */
const MARK = 'database.json'

/** Between two attempts to open a database that another spare has taken, or that is away. */
const PAUSE_MS = 250

type DatabaseParts = {
  readonly store: string
  readonly dataDir: string
  readonly collections: readonly AnyCollection[]
  readonly onFatal: (error: Error) => void
  /** Makes this daemon a spare, which waits while another one has the database. */
  readonly spare?: Omit<SpareParts, 'address'>
} & Pick<PgStoreOptions, 'label' | 'answersAt' | 'stopping'>

/** Notes in the data folder which database has the rows. */
export function markDatabase(dataDir: string, database: string, store: string): void {
  writeFileSync(join(dataDir, MARK), `${JSON.stringify({ database, store })}\n`)
}

/** Removes the note, because the rows are in files again. */
export function unmarkDatabase(dataDir: string): void {
  rmSync(join(dataDir, MARK), { force: true })
}

/** Opens the store in a PostgreSQL database. @throws AppError with a way out, StoreLocked, StoreFormatUnknown */
export async function openDatabase(parts: DatabaseParts): Promise<OpenedStore> {
  const { store, dataDir } = parts
  if (existsSync(join(dataDir, 'store', 'MANIFEST.json')))
    throw new AppError(
      'conflict',
      `${dataDir} has a marketplace in files. Move it there with souk store copy, omit --store and SOUK_STORE, or use another --instance.`,
    )
  const address = addressOfStore(store)
  const opened = await openFree(address, parts).catch((error: unknown) => {
    throw refusalOf(error, address)
  })
  markDatabase(dataDir, opened.address, opened.storeId)
  return {
    ...opened,
    recovery: { torn: undefined, loss: undefined },
    isFull: async () => false,
    shrink: async () => undefined,
    backup: async () => {
      throw new AppError('unavailable', 'This marketplace is in PostgreSQL: back it up with pg_dump.')
    },
    describe: () => described(opened),
  }
}

/** Opens the store; a spare waits until it is free. */
async function openFree(address: PgAddress, { spare, ...parts }: DatabaseParts): Promise<PgStore> {
  let hasLooked = false
  for (;;) {
    try {
      if (spare) await untilFree({ address, ...spare })
      hasLooked = true
      return await openPgStore({ address, ...parts })
    } catch (error) {
      // Of several spares, one is first. A database that was there once, and fails over, comes back.
      if (!(spare && (error instanceof StoreLocked || (hasLooked && isPassing(error))))) throw error
      spare.onHolder(undefined)
    }
    await sleep(PAUSE_MS)
  }
}

/** @throws AppError `conflict` when the folder's rows are in a database that this start does not name */
export function refuseWithoutDatabase(dataDir: string): void {
  const mark = join(dataDir, MARK)
  if (!existsSync(mark)) return
  const { database } = JSON.parse(readFileSync(mark, 'utf8')) as { database: string }
  throw new AppError(
    'conflict',
    `The marketplace of ${dataDir} is in ${database}: name it with --store or SOUK_STORE, or move it to files with souk store copy files.`,
  )
}

async function described(store: PgStore): Promise<string> {
  const { version, host, synchronousCommit, synchronousStandbys: count, lags, size, fronts } = await store.status()
  const standbys = count === 0 ? 'no synchronous standby' : `${count} synchronous standby${count === 1 ? '' : 's'}`
  return `PostgreSQL ${version.split(' ')[0]} at ${host}: synchronous_commit ${synchronousCommit}, ${standbys}${lags === '' ? '' : `, standbys behind by ${lags}`}, ${size} on disk${fronts === 0 ? '' : `; this daemon leads, with ${fronts} front${fronts === 1 ? '' : 's'}`}.`
}
