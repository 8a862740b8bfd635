import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { conformance } from '../conformance/suite.testkit.ts'
import { type LowdbStoreOptions, openLowdbStore } from './open.ts'

/** The second hands rows over to LevelDB after every commit, beside those that follow. */
const kinds: Readonly<Record<string, Partial<LowdbStoreOptions>>> = {
  'lowdb, rows in memory': {},
  'lowdb, rows in LevelDB at once': { levelFrom: 0, compactAboveBytes: 0 },
  'lowdb, rows in LevelDB later': { levelFrom: 0 },
}

for (const [name, kind] of Object.entries(kinds))
  conformance({
    name,
    open: async (collections, options) => {
      const dir = await mkdtemp(`${tmpdir()}/souk-store-`)
      const store = await openLowdbStore({
        dir,
        collections,
        freeze: true,
        now: Date.now,
        onFatal: (error) => {
          throw error
        },
        ...kind,
        ...options,
      })
      return {
        store,
        end: async () => {
          await store.close()
          await rm(dir, { recursive: true })
        },
      }
    },
  })
