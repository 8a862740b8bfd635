import { copyFile, mkdtemp, open as openHandle, readdir, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, expect, it } from 'vitest'
import { AppError } from '../../../../src/core/error.ts'
import { MAX_TERMS } from '../../../store/fulltext/terms.ts'
import { type Catalog, MAX_LISTINGS_ON_MAIN_THREAD, MAX_WAITING_QUERIES, openCatalog } from './catalog.ts'
import type { CatalogDoc, CatalogQuery } from './select.ts'

// @slow a catalog of many listings

const FEW = 5
const MANY = MAX_LISTINGS_ON_MAIN_THREAD + 1

const listing = (n: number, facts: Partial<CatalogDoc> = {}): CatalogDoc => ({
  id: `svc_${n.toString(16).padStart(16, '0')}`,
  name: `Service ${n}`,
  tags: ['tool'],
  category: 'web',
  description: 'Answers in one call.',
  provider_id: 'p_0000000000000001',
  provider_name: 'Acme',
  service_type: 'data_api',
  fulfillment_type: 'instant',
  agent_price: 10_000n,
  verified: true,
  payable: true,
  reputation: 75,
  listed_at: n,
  ...facts,
})
const listings = (count: number) => Array.from({ length: count }, (_, n) => listing(n))
const all: CatalogQuery = { sort: 'newest', limit: 3, offset: 0 }
const search = (q: string): CatalogQuery => ({ q, sort: 'relevance', limit: 20, offset: 0 })

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'souk-catalog-'))
  cleanups.push(() => rm(folder, { recursive: true }))
  return folder
}

/** The table as of seq 9; if it must be rebuilt, from so few listings. */
async function open(path: string, rebuilt = 0): Promise<Catalog> {
  const catalog = await openCatalog(path, 9, () => listings(rebuilt))
  cleanups.push(() => catalog.close())
  return catalog
}

/** A closed file of so many listings at seq 9. */
async function filled(count: number): Promise<{ folder: string; path: string }> {
  const folder = await newFolder()
  const path = join(folder, 'catalog.db')
  const catalog = await openCatalog(path, 9, () => listings(count))
  await catalog.close(9)
  return { folder, path }
}

const sizes = [
  ['on this thread', FEW],
  ['on its own thread', MANY],
] as const

it.each(sizes)('sees every write made before a query, %s', async (_, count) => {
  const { path } = await filled(count)
  const catalog = await open(path)
  const answers = await Promise.all([
    catalog.query(search('zebra')),
    catalog.put(listing(1, { name: 'Zebra' })),
    catalog.query(search('zebra')),
    catalog.put(listing(1, { name: 'Plain' })),
    catalog.query(search('zebra')),
    catalog.remove(listing(2).id),
    catalog.query(all),
  ])
  expect(answers.filter((answer) => answer !== undefined).map(({ total }) => total)).toEqual([0, 1, 0, count - 1])
})

it('goes on over the growth from one thread to another', async () => {
  const catalog = await open((await filled(MAX_LISTINGS_ON_MAIN_THREAD)).path)
  const before = catalog.query(all)
  await Promise.all([catalog.put(listing(MANY)), catalog.put(listing(MANY + 1))])
  expect((await before).total).toBe(MAX_LISTINGS_ON_MAIN_THREAD)
  expect(await catalog.query(all)).toEqual({
    ids: [MANY + 1, MANY, MAX_LISTINGS_ON_MAIN_THREAD - 1].map((n) => listing(n).id),
    total: MAX_LISTINGS_ON_MAIN_THREAD + 2,
  })
})

it.each(sizes)('leaves only its file behind, and answers nothing after it was closed, %s', async (_, count) => {
  const { folder, path } = await filled(count)
  const catalog = await openCatalog(path, 9)
  await catalog.query(all)
  await Promise.all([catalog.close(9), catalog.close(9)])
  expect(await readdir(folder)).toEqual(['catalog.db'])
  await expect(catalog.query(all)).rejects.toMatchObject({ code: 'unavailable' })
  await expect(catalog.put(listing(1))).rejects.toBeInstanceOf(AppError)
})

it('says no to more queries than it lets wait', async () => {
  const catalog = await open((await filled(MANY)).path)
  const asked = Array.from({ length: MAX_WAITING_QUERIES + 2 }, () => catalog.query(all))
  const answers = await Promise.allSettled(asked)
  const refused = answers.filter((answer) => answer.status === 'rejected').map(({ reason }) => reason.code)
  expect(refused).toEqual(['unavailable', 'unavailable'])
  expect((await catalog.query(all)).total).toBe(MANY)
})

it.each<[string, (path: string) => unknown]>([
  ['is cut short', (path) => truncate(path, 10_000)],
  ['is empty of tables but ours by name', (path) => writeFile(path, '')],
  ['is of another format', (path) => inFile(path, 'pragma user_version = 999')],
  ['belongs to another program', (path) => inFile(path, 'pragma application_id = 7')],
  ['lacks a table', (path) => inFile(path, 'drop table tag; drop table words')],
])('is rebuilt where the file %s', async (_, spoil) => {
  const { path } = await filled(200)
  await spoil(path)
  expect((await (await open(path, FEW)).query(search('service'))).total).toBe(FEW)
})

it.each([FEW, MANY])('is rebuilt from another change of the store, and after a kill: %d listings', async (count) => {
  const { folder, path } = await filled(count)
  const older = await openCatalog(path, 10, () => listings(FEW))
  expect((await older.query(all)).total).toBe(FEW)
  await older.close(9)
  const catalog = await open(path)
  await catalog.put(listing(50))
  const copy = join(folder, 'copy.db')
  for (const suffix of ['', '-wal']) await copyFile(path + suffix, copy + suffix)
  expect((await (await open(copy, 1)).query(all)).total).toBe(1)
  await catalog.close(9)
  expect((await (await open(path)).query(all)).total).toBe(FEW + 1)
})

it('is rebuilt at the next start where the listings of a rebuild cannot be read', async () => {
  const path = join(await newFolder(), 'catalog.db')
  async function* broken() {
    yield* listings(MANY)
    throw new Error('the store went away')
  }
  await expect(openCatalog(path, 9, broken)).rejects.toThrow('the store went away')
  expect((await (await open(path, FEW)).query(all)).total).toBe(FEW)
})

function inFile(path: string, sql: string): void {
  const db = new DatabaseSync(path)
  db.exec(sql)
  db.close()
}

it.each(sizes)('answers nothing from a file that spoils under it, and starts anew after, %s', async (_, count) => {
  const { path } = await filled(count)
  const catalog = await openCatalog(path, 9)
  const file = await openHandle(path, 'r+')
  const { size } = await file.stat()
  const FIRST_PAGES_BYTES = 2 * 4_096
  await file.write(Buffer.alloc(size - FIRST_PAGES_BYTES, 0xff), 0, size - FIRST_PAGES_BYTES, FIRST_PAGES_BYTES)
  await file.close()
  await expect(catalog.query({ ...all, sort: 'price_desc', tag: 'tool' })).rejects.toMatchObject({
    code: 'unavailable',
  })
  await catalog.close(9)
  expect((await (await open(path, 1)).query(all)).total).toBe(1)
})

it('does not throw away a file that another process holds', async () => {
  const { path } = await filled(FEW)
  const holder = new DatabaseSync(path)
  holder.exec('pragma locking_mode = exclusive; begin exclusive')
  await expect(openCatalog(path, 9)).rejects.toThrow('locked')
  holder.close()
  expect((await (await open(path)).query(all)).total).toBe(FEW)
})

it('takes the first terms of a query, and refuses to guess after one letter', async () => {
  const catalog = await open(':memory:')
  const words = Array.from({ length: MAX_TERMS }, (_, n) => `word${n}`).join(' ')
  await catalog.put(listing(1, { description: words }))
  const found = async (q: string) => (await catalog.query(search(q))).total
  expect(await found(`${words} unheard of`)).toBe(1)
  expect(await found(`unheard ${words}`)).toBe(0)
  expect([await found('wo'), await found('w')]).toEqual([1, 0])
  expect(await found(`${'x'.repeat(10_000)}`)).toBe(0)
})
