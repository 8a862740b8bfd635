import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { conformance } from '../conformance/suite.testkit.ts'
import { openLowdbStore } from './open.ts'

conformance({
  name: 'lowdb',
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
