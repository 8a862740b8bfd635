import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { afterEach, expect, test } from 'vitest'
import { payFor } from '../../../fixtures/kit/money.ts'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { createDaemon } from '../../index.ts'
import { realDisk } from '../../store/disk.ts'
import { STORE_FOLDER } from './import-state.ts'

/* What a store lost, and that it takes nothing more, is said wherever somebody looks. */

let market: Marketplace
const logged: string[] = []
const logTo = new Writable({
  write(chunk, _encoding, done) {
    logged.push(String(chunk))
    done()
  },
})
afterEach(() => market.close())

async function lastJournal(): Promise<string> {
  const folder = join(market.dir, STORE_FOLDER)
  const names = (await readdir(folder)).filter((name) => name.startsWith('journal-'))
  const numbers = names.map((name) => Number(/\d+/.exec(name)?.[0])).sort((a, b) => a - b)
  return join(folder, `journal-${numbers.at(-1)}.ndjson`)
}

/** Stops the daemon, changes the end of its journal, and starts it again. */
async function reopened(change: (text: string) => string) {
  market = await openMarketplace()
  await market.daemon.stop()
  const path = await lastJournal()
  await writeFile(path, change(await readFile(path, 'utf8')))
  logged.length = 0
  market.daemon = await createDaemon({ ...market.config, logLevel: 'warn' }, { logTo })
  const told = { health: (await market.call('GET', '/health')).body.store, notes: market.daemon.notes }
  return { ...told, log: logged.join('') }
}

const lines = (text: string): string[] => text.split('\n').slice(0, -1)

test('a journal whose last lines are gone is not taken for a whole one', async () => {
  const { health, notes, log } = await reopened((text) => `${lines(text).slice(0, -2).join('\n')}\n`)
  expect(health.journal_cut).toEqual({ kind: 'missing', dropped_bytes: 0, missing_transactions: 2 })
  expect(notes).toEqual([health.note])
  expect(health.note).toContain('at least 2 transactions that were durable are lost')
  expect(log).toContain('at least 2 transactions')
  await market.daemon.stop()
  market.daemon = await createDaemon(market.config)
  expect((await market.call('GET', '/health')).body.store).toEqual({
    writes: 'accepted',
    journal_cut: null,
    note: null,
  })
})

test('a flipped bit in the last line is told apart from a torn write, and its bytes are kept', async () => {
  const { health } = await reopened((text) => {
    const at = text.length - 20
    return `${text.slice(0, at)}${text[at] === 'x' ? 'y' : 'x'}${text.slice(at + 1)}`
  })
  expect(health.journal_cut).toMatchObject({ kind: 'damaged', missing_transactions: 1 })
  expect(await readdir(join(market.dir, STORE_FOLDER, 'quarantine'))).toHaveLength(1)
})

test('an unfinished write at the end is said to be no more than that', async () => {
  const { health, notes } = await reopened((text) => `${text}deadbeef {"s":999,"t":1,"w":[`)
  expect(health.journal_cut).toMatchObject({ kind: 'unfinished', missing_transactions: 0 })
  expect(notes.join()).toContain('an unfinished, unacknowledged write')
})

test('a full disk refuses purchases, says so in health, and a start on it says what to do', async () => {
  let freeBytes = Number.MAX_SAFE_INTEGER
  const disk = { ...realDisk, freeBytes: async () => freeBytes }
  market = await openMarketplace({}, { disk })
  const path = `/v1/services/${await market.serviceId('qr_code')}/purchase`
  const buyer = await market.buyer('1.00')
  freeBytes = 1_000_000
  expect((await market.call('GET', '/health')).body).toMatchObject({
    store: { writes: 'refused', note: expect.stringContaining('The disk is full') },
  })
  const big = { data: 'x' }
  const statuses: number[] = []
  for (let n = 0; n < 3; n += 1) statuses.push((await payFor(market, buyer, { path, body: big })).status)
  expect(statuses.at(-1)).toBe(503)
  await expect(createDaemon({ ...market.config, dataDir: `${market.dir}/other` }, { disk })).rejects.toThrow(
    /The disk of .* is full: souk keeps 64 MB free.* Free some space/,
  )
  freeBytes = Number.MAX_SAFE_INTEGER
  expect((await market.call('GET', '/health')).body.store.writes).toBe('accepted')
})
