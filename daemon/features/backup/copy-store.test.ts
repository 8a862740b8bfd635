import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startChild } from '../../../fixtures/kit/child.ts'
import { hasPostgres, testServer } from '../../../fixtures/kit/postgres.ts'
import { allCollections } from '../../app.ts'
import { counters, settings } from '../../kernel/rows.ts'
import { openLowdbStore } from '../../store/lowdb/open.ts'
import { connectPrimary } from '../../store/postgres/connection.ts'
import { copyStore } from './copy-store.ts'
import { openStopped, STORE_FOLDER } from './import-state.ts'

// @deep a hundred thousand rows, and kills

const ROWS = 100_000
const ROWS_PER_TX = 2_000
const KILLS = 5
const LIFE_MS = 1_000
/** Together several times what a copy may have alive. */
const TEXTS = 24_000
const TEXT_CHARS = 12_000
const TEXTS_PER_TX = 100
const MAX_ALIVE_BYTES = 100 * 1024 * 1024
/** What sorts differently by code points, bytes and UTF-16 units. */
const PREFIXES = ['a', 'Z', 'é', '\uffee', '\u{1f600}', '"\\']

describe.skipIf(!hasPostgres())('a store of a hundred thousand rows', () => {
  let dataDir: string
  let schemas = 0
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'souk-copy-'))
    const store = await openStopped(dataDir, allCollections)
    for (let from = 0; from < ROWS; from += ROWS_PER_TX)
      await store.tx(async (t) => {
        for (let n = from; n < from + ROWS_PER_TX; n += 1)
          await t.table(counters).insert({ id: `${PREFIXES[n % PREFIXES.length]}${n}`, value: n })
      })
    await store.close()
  })
  afterAll(() => rm(dataDir, { recursive: true, force: true }))

  async function freshSchema() {
    const server = await testServer()
    schemas += 1
    const schema = `whole${process.pid}_${schemas}`
    const address = server.addressOf(schema)
    const store = `postgres://${address.user}:${address.password}@/${address.database}?host=${server.folder}&schema=${schema}`
    const tables = async () => {
      const session = await connectPrimary(address, 'test')
      const [row] = await session.query('select count(*)::int as n from pg_tables where schemaname = $1', [schema])
      await session.end()
      return Number(row?.['n'])
    }
    return { store, tables }
  }

  const copy = (to: 'files' | 'database', store: string) =>
    copyStore({ to, store, dataDir, collections: allCollections, watch: () => undefined })

  test('is the same after a copy to a database and back, and again', async () => {
    const { store } = await freshSchema()
    const there = await copy('database', store)
    const back = await copy('files', store)
    const again = await copy('database', (await freshSchema()).store)
    expect(there.rows).toBeGreaterThanOrEqual(ROWS)
    for (const { rows, files, sha256 } of [back, again])
      expect([rows, files, sha256]).toEqual([there.rows, there.files, there.sha256])
    await copy('files', store)
  })

  test('with its rows on disk is the same after a copy to a database and back', async () => {
    const options = {
      dir: join(dataDir, STORE_FOLDER),
      collections: allCollections,
      now: Date.now,
      onFatal: () => undefined,
    }
    const onDisk = await openLowdbStore({ ...options, levelFrom: 0 })
    const { records, disk } = onDisk.stats()
    await onDisk.close()
    const { store } = await freshSchema()
    expect([disk !== undefined, (await copy('database', store)).rows]).toEqual([true, records])
    expect((await copy('files', store)).rows).toBe(records)
  })

  test('needs no memory for its number of rows, in either direction', async () => {
    const large = await mkdtemp(join(tmpdir(), 'souk-copy-'))
    const filled = await openStopped(large, allCollections)
    for (let from = 0; from < TEXTS; from += TEXTS_PER_TX)
      await filled.tx(async (t) => {
        for (let n = from; n < from + TEXTS_PER_TX; n += 1)
          await t.table(settings).insert({ id: `text${n}`, value: String(n).padEnd(TEXT_CHARS, 'text ') })
      })
    await filled.close()
    const { store } = await freshSchema()
    for (const to of ['database', 'files']) {
      const child = startChild('store-copier.ts', { to, store, dataDir: large }, { nodeArgs: ['--expose-gc'] })
      const { rows, aliveBytes } = JSON.parse((await child.rest()).at(-1) ?? '')
      expect(rows).toBe(filled.stats().records)
      expect(aliveBytes).toBeLessThan(MAX_ALIVE_BYTES)
    }
    await rm(large, { recursive: true, force: true })
  })

  test('a copy that is killed leaves no table but those of a whole copy, and the files stay in use', async () => {
    const { store, tables } = await freshSchema()
    for (let kill = 0; kill < KILLS; kill += 1) {
      const child = startChild('store-copier.ts', { to: 'database', store, dataDir })
      expect(await child.line()).toBe('begins')
      await sleep(Math.random() * LIFE_MS)
      await child.kill()
      if ((await tables()) > 0) break // it was complete: the next copy finds the same rows
    }
    expect((await copy('database', store)).rows).toBeGreaterThanOrEqual(ROWS)
    expect(await tables()).toBeGreaterThan(0)
    await copy('files', store)
  })
})
