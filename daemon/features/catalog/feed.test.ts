import { expect, test } from 'vitest'
import { participantDraft, serviceDraft } from '../../../fixtures/kit/rows.ts'
import { collections } from '../../app.ts'
import { createPageCache, sharedPage } from '../../endpoint/page-cache.ts'
import { participants } from '../../kernel/rows.ts'
import { openLog } from '../../ports/log.ts'
import { openMemoryStore } from '../../store/memory/open.testkit.ts'
import { services } from '../listings/rows.ts'
import { followChanges } from './feed.ts'
import { type Catalog, openCatalog } from './search/catalog.ts'
import type { CatalogDoc } from './search/select.ts'

const everything = { sort: 'newest', limit: 10, offset: 0 } as const

/** A real table behind a door that puts wait at until it is opened. */
async function slowCatalog(): Promise<{ catalog: Catalog; open: () => void }> {
  const table = await openCatalog(':memory:')
  let open: () => void = () => undefined
  const opened = new Promise<void>((done) => {
    open = done
  })
  const put = async (...docs: readonly CatalogDoc[]) => {
    await opened
    await table.put(...docs)
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
  pages.set('/v1/services/catalog', sharedPage(Buffer.from('built too early')), pages.version())
  const found = feed.catalog.query(everything)
  open()
  expect(await found).toEqual({ ids: [serviceDraft(1, 1).id], total: 1 })
  expect(pages.get('/v1/services/catalog')).toBeUndefined()
  await feed.stop()
  await catalog.close()
  await store.close()
})

test('a change of a participant puts its listings anew only where they show it', async () => {
  const store = openMemoryStore(collections)
  const table = await openCatalog(':memory:')
  const put: string[] = []
  const catalog: Catalog = {
    ...table,
    put: async (...docs) => {
      put.push(...docs.map((doc) => `${doc.id} of ${doc.provider_name}`))
      await table.put(...docs)
    },
  }
  const pages = createPageCache(1)
  const feed = followChanges({ store, catalog, pages, log: openLog({ level: 'error' }) })
  const [first, second] = [serviceDraft(1, 1), serviceDraft(2, 1)]
  const change = (changed: object) =>
    store.tx(async (t) => {
      const row = await t.table(participants).getForUpdate(participantDraft(1).id)
      if (row) await t.table(participants).put({ ...row, ...changed })
    })
  await store.tx(async (t) => {
    await t.table(participants).insert(participantDraft(1))
    for (const service of [first, second]) await t.table(services).insert(service)
  })
  await feed.catalog.query(everything)
  expect(put.map((one) => one.split(' ')[0]).toSorted()).toEqual([first.id, second.id])
  await change({ name: 'Ada' })
  await feed.catalog.query(everything)
  put.length = 0
  for (const updated_at of [1, 2, 3]) await change({ updated_at })
  await feed.catalog.query(everything)
  expect(put).toEqual([])
  await change({ name: 'Bob' })
  await feed.catalog.query(everything)
  expect(put.toSorted()).toEqual([`${first.id} of Bob`, `${second.id} of Bob`])
  await feed.stop()
  await table.close()
  await store.close()
})

test('parts of pages are dropped with them, not kept when something changed meanwhile, and bounded', () => {
  const pages = createPageCache(1, 2)
  const version = pages.version()
  for (const id of ['a', 'b', 'c']) pages.setPart(id, id, version)
  expect(['a', 'b', 'c'].map(pages.part)).toEqual([undefined, 'b', 'c'])
  pages.drop()
  pages.setPart('late', 'late', version)
  expect(['b', 'c', 'late'].map(pages.part)).toEqual([undefined, undefined, undefined])
})

test('a commit of many listings is written in steps, and those that are not active are left out', async () => {
  const store = openMemoryStore(collections)
  const table = await openCatalog(':memory:')
  const steps: number[] = []
  const put: Catalog['put'] = (...docs) => {
    steps.push(docs.length)
    return table.put(...docs)
  }
  const feed = followChanges({
    store,
    catalog: { ...table, put },
    pages: createPageCache(1),
    log: openLog({ level: 'error' }),
  })
  const numbers = Array.from({ length: 50 }, (_, n) => n)
  await store.tx(async (t) => {
    await t.table(participants).insert(participantDraft(1))
    for (const n of numbers)
      await t.table(services).insert({ ...serviceDraft(n, 1), status: n % 2 === 0 ? 'active' : 'inactive' })
  })
  const { ids, total } = await feed.catalog.query({ ...everything, limit: 50 })
  expect(total).toBe(25)
  expect(ids.toSorted()).toEqual(numbers.filter((n) => n % 2 === 0).map((n) => serviceDraft(n, 1).id))
  expect(steps.length).toBeGreaterThan(1)
  expect(Math.max(...steps)).toBeLessThan(25)
  await feed.stop()
  await table.close()
  await store.close()
})
