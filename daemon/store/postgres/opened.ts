import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { AppError } from '../../../src/core/error.ts'
import type { LowdbStore } from '../lowdb/open.ts'
import type { AnyCollection, Store } from '../port.ts'
import { openPgStore, type PgStore } from './open.ts'
import { addressOfStore, refusalOf } from './refusal.ts'

/** A store of either engine, with what the daemon needs besides the port. */
export type OpenedStore = Store &
  Pick<LowdbStore, 'blobs' | 'isFull' | 'shrink' | 'backup'> & {
    readonly recovery: Pick<LowdbStore['recovery'], 'torn' | 'loss'>
    /** One sentence about the database; absent for files. */
    readonly describe?: () => Promise<string>
  }

/** Says in the data folder which database has the rows, so that no start continues without them. */
const MARK = 'database.json'

type DatabaseParts = {
  readonly store: string
  readonly dataDir: string
  readonly collections: readonly AnyCollection[]
  readonly onFatal: (error: Error) => void
}

/** Opens the store in a PostgreSQL database. @throws AppError with a way out, StoreLocked, StoreFormatUnknown */
export async function openDatabase({ store, dataDir, collections, onFatal }: DatabaseParts): Promise<OpenedStore> {
  if (existsSync(join(dataDir, 'store', 'MANIFEST.json')))
    throw new AppError(
      'conflict',
      `${dataDir} has a marketplace in files. Omit --store and SOUK_STORE, or use another --instance.`,
    )
  const address = addressOfStore(store)
  const label = `pid ${process.pid} on ${hostname()}`
  const opened = await openPgStore({ address, collections, label, onFatal }).catch((error: unknown) => {
    throw refusalOf(error, address)
  })
  writeFileSync(join(dataDir, MARK), `${JSON.stringify({ database: opened.address, store: opened.storeId })}\n`)
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

/** @throws AppError `conflict` when the folder's rows are in a database that this start does not name */
export function refuseWithoutDatabase(dataDir: string): void {
  const mark = join(dataDir, MARK)
  if (!existsSync(mark)) return
  const { database } = JSON.parse(readFileSync(mark, 'utf8')) as { database: string }
  throw new AppError('conflict', `The marketplace of ${dataDir} is in ${database}: name it with --store or SOUK_STORE.`)
}

async function described(store: PgStore): Promise<string> {
  const { version, host, synchronousCommit, synchronousStandbys: count } = await store.status()
  const standbys = count === 0 ? 'no synchronous standby' : `${count} synchronous standby${count === 1 ? '' : 's'}`
  return `PostgreSQL ${version.split(' ')[0]} at ${host}: synchronous_commit ${synchronousCommit}, ${standbys}.`
}
