import { expect, test } from 'vitest'
import { participantDraft, serviceDraft } from '../fixtures/rows.ts'
import { followChanges } from './catalog-feed.ts'
import { createPageCache } from './page-cache.ts'
import { openLog } from './ports/log.ts'
import { type Catalog, type CatalogDoc, openCatalog } from './store/catalog/catalog.ts'
import { collections, participants, services } from './store/collections.ts'
import { openMemoryStore } from './store/open.ts'

const everything = { sort: 'newest', limit: 10, offset: 0 } as const

/** A real table behind a door that puts wait at until it is opened. */
async function slowCatalog(): Promise<{ catalog: Catalog; open: () => void }> {
  const table = await openCatalog({ path: ':memory:' })
  let open: () => void = () => undefined
  const opened = new Promise<void>((done) => {
    open = done
  })
  const put = async (doc: CatalogDoc, seq: number) => {
    await opened
    await table.put(doc, seq)
  }
  return { catalog: { ...table, put }, open: () => open() }
}

test('a query that comes after a commit finds what was committed, however slow the table is', async () => {
  const store = openMemoryStore(collections)
  const { catalog, open } = await slowCatalog()
  const pages = createPageCache(1)
  const feed = followChanges({ store, catalog, pages, log: openLog({ level: 'error' }) })
  await store.tx(async (t) => {
    await t.table(participants).insert(participantDraft(1))
    await t.table(services).insert(serviceDraft(1, 1))
  })
  pages.set('/v1/services/catalog', { bytes: Buffer.from('built too early') }, pages.version())
  const found = feed.catalog.query(everything)
  open()
  expect(await found).toEqual({ ids: [serviceDraft(1, 1).id], total: 1 })
  expect(pages.get('/v1/services/catalog')).toBeUndefined()
  await feed.stop()
  await catalog.close()
  await store.close()
})
