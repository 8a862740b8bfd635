import { join } from 'node:path'
import { collections } from './app.ts'
import { STORE_FOLDER } from './features/backup/replace.ts'
import { evmCollections } from './ports/chain/evm/start/rows.ts'
import { sandboxCollections } from './ports/chain/sandbox/ledger.ts'
import { systemClock } from './ports/clock.ts'
import { type LowdbStore, openLowdbStore } from './store/lowdb/open.ts'

/** All collections of stores on disk, including those of the chains. */
export const allCollections = [...collections, ...sandboxCollections, ...evmCollections]

/** Opens the store of a stopped daemon. @throws StoreLocked while the daemon runs. */
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
