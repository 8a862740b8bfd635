import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { configDefaults } from '../../../fixtures/kit/config.ts'
import { hasPostgres, testServer } from '../../../fixtures/kit/postgres.ts'
import { noPrograms, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { createDaemon } from '../../index.ts'
import { StoreLocked } from '../../store/errors.ts'

const SECRET = 'correct-horse'
let schemas = 0

async function addressOfNew(): Promise<string> {
  schemas += 1
  const { folder } = await testServer()
  return `postgres://souk:${SECRET}@/postgres?host=${folder}&schema=d${process.pid}_${schemas}`
}

const start = (dataDir: string, store?: string) =>
  createDaemon(
    { ...configDefaults, seed: 'none', dataDir, ...(store === undefined ? {} : { store }) },
    { engines: noPrograms },
  )

describe.skipIf(!hasPostgres())('a marketplace in PostgreSQL', () => {
  test('sells, keeps everything across a restart, and says where it is', async () => {
    const market = await openMarketplace({ store: await addressOfNew() })
    try {
      const buyer = await market.buyer()
      const id = await market.serviceId('qr_code')
      const bought = await buyer.fetch(2)(`${market.url()}/v1/services/${id}/purchase`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ data: 'hello' }),
      })
      expect(bought.status).toBe(200)
      const before = market.daemon.ctx.store.stats().records
      await market.restart()
      expect(market.daemon.ctx.store.stats().records).toBeGreaterThanOrEqual(before)
      expect(market.daemon.notes.join()).toMatch(
        /^PostgreSQL \d+\.\d+ at .*synchronous_commit on, no synchronous standby, \d+ [kM]B on disk\.$/,
      )
      const { body } = await market.call('GET', '/health')
      expect(body.store).toMatchObject({ writes: 'accepted', note: market.daemon.notes[0] })
      const mark = await readFile(join(market.dir, 'database.json'), 'utf8')
      expect(mark).not.toContain(SECRET)
    } finally {
      await market.close()
    }
  })

  test('is one daemon at a time, and its folder starts with no other store', async () => {
    const [first, second] = await Promise.all([1, 2].map(() => mkdtemp(join(tmpdir(), 'souk-test-'))))
    const store = await addressOfNew()
    const daemon = await start(first ?? '', store)
    try {
      const refused = start(second ?? '', store)
      await expect(refused).rejects.toThrow(StoreLocked)
      await expect(refused).rejects.not.toThrow(SECRET)
    } finally {
      await daemon.stop()
    }
    await expect(start(first ?? '')).rejects.toThrow('name it with --store or SOUK_STORE')
    await (await start(second ?? '')).stop()
    await expect(start(second ?? '', store)).rejects.toThrow('has a marketplace in files')
    await Promise.all([first, second].map((dir) => rm(dir ?? '', { recursive: true })))
  })
})

test('a database that is not there is named without the password, with what to do', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'souk-test-'))
  const refused = start(dataDir, `postgres://ann:${SECRET}@127.0.0.1:1/shop`)
  await expect(refused).rejects.toMatchObject({ code: 'unavailable' })
  await expect(refused).rejects.toThrow('127.0.0.1:1: no server listens there')
  await expect(refused).rejects.toThrow('apt-get install postgresql')
  await expect(refused).rejects.not.toThrow(SECRET)
  await rm(dataDir, { recursive: true })
})
