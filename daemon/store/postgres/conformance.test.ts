import { describe } from 'vitest'
import { hasPostgres } from '../../../fixtures/kit/postgres.ts'
import { conformance } from '../conformance/suite.testkit.ts'
import { dropSchema, freshAddress, openTestStore } from './store.testkit.ts'

describe.skipIf(!hasPostgres())('on a server', () => {
  conformance({
    name: 'PostgreSQL',
    open: async (collections, options) => {
      const address = await freshAddress()
      const store = await openTestStore(address, { collections, ...options })
      return {
        store,
        end: async () => {
          await store.close()
          await dropSchema(address)
        },
      }
    },
  })
})
