import { join } from 'node:path'
import { collections } from './app.ts'
import { STORE_FOLDER } from './features/backup/replace.ts'
import { evmCollections } from './ports/chain/evm/start/rows.ts'
import { sandboxCollections } from './ports/chain/sandbox/ledger.ts'
import { systemClock } from './ports/clock.ts'
import { type LowdbStore, openLowdbStore } from './store/lowdb/open.ts'

/** Every collection that a store on disk has, those of every chain included. */
export const allCollections = [...collections, ...sandboxCollections, ...evmCollections]

/** The store of a data folder whose daemon is down. @throws StoreLocked while it runs. */
export function openStopped(dataDir: string): Promise<LowdbStore> {
  return openLowdbStore({
    dir: join(dataDir, STORE_FOLDER),
    collections: allCollections,
    durability: 'full',
    now: systemClock.wall,
    onFatal: (error) => {
      throw error
    },
  })
}
