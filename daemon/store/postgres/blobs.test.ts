import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hasPostgres } from '../../../fixtures/kit/postgres.ts'
import { collectionsUnderTest } from '../conformance/world.testkit.ts'
import type { PgAddress } from './address.ts'
import type { PgStore } from './open.ts'
import { dropSchema, freshAddress, inSession, openTestStore } from './store.testkit.ts'

const MANY = 1_000_000_000
let address: PgAddress
let store: PgStore

beforeEach(async () => {
  address = await freshAddress()
  store = await openTestStore(address, { collections: collectionsUnderTest })
})
afterEach(async () => {
  await store.close()
  await dropSchema(address)
})

/** Chunks of another size than the stored parts, in one buffer that is used again. */
async function* chunks(content: Buffer, size: number): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.alloc(size)
  for (let at = 0; at < content.length; at += size) {
    const length = content.copy(buffer, 0, at, at + size)
    yield buffer.subarray(0, length)
  }
}

async function whole(parts: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Buffer[] = []
  for await (const part of parts) all.push(Buffer.from(part))
  return Buffer.concat(all)
}

const contentOf = (length: number): Buffer => Buffer.from(Array.from({ length }, (_, n) => (n * 7 + (n >> 8)) % 251))
const parts = () => inSession(address, (session) => session.query('select upload, n from souk_blob_parts'))

describe.skipIf(!hasPostgres())('files in the database', () => {
  test.each([0, 1, 262_143, 262_144, 262_145, 700_000])('%i bytes come back, whole and in ranges', async (length) => {
    const content = contentOf(length)
    const { sha256, sizeBytes } = await store.blobs.put(chunks(content, 100_003), MANY)
    expect([sha256, sizeBytes]).toEqual([createHash('sha256').update(content).digest('hex'), length])
    expect(await store.blobs.stat(sha256)).toEqual({ sha256, sizeBytes: length })
    expect(content.equals(await whole(store.blobs.read(sha256)))).toBe(true)
    if (length < 2) return
    const range = { start: Math.floor(length / 3), end: length - 2 }
    expect(content.subarray(range.start, range.end + 1).equals(await whole(store.blobs.read(sha256, range)))).toBe(true)
  })

  test('the same content is stored once, and too much of it not at all', async () => {
    const content = contentOf(300_000)
    const [one, two] = await Promise.all([1, 2].map(() => store.blobs.put(chunks(content, 4_096), MANY)))
    expect(one).toEqual(two)
    await expect(store.blobs.put(chunks(contentOf(9), 4), 8)).rejects.toMatchObject({ code: 'too_large' })
    expect(await store.blobs.list()).toEqual([one?.sha256])
    expect(await parts()).toHaveLength(2)
  })

  test('a sweep removes what is old and has no record', async () => {
    const [kept, gone] = await Promise.all([3, 4].map((n) => store.blobs.put(chunks(contentOf(n), 9), MANY)))
    const isReferenced = async (sha256: string) => sha256 === kept?.sha256
    expect(await store.blobs.sweep({ isReferenced, olderThanMs: 0 })).toEqual([])
    expect(await store.blobs.sweep({ isReferenced, olderThanMs: Number.POSITIVE_INFINITY })).toEqual([gone?.sha256])
    expect(await store.blobs.list()).toEqual([kept?.sha256])
    expect(await parts()).toHaveLength(1)
    await store.blobs.remove(kept?.sha256 ?? '')
    expect(await store.blobs.stat(kept?.sha256 ?? '')).toBeUndefined()
  })

  test('what an upload left behind goes at the next start', async () => {
    await inSession(address, (session) => session.script(`insert into souk_blob_parts values (99, 0, 'x')`))
    await store.close()
    store = await openTestStore(address, { collections: collectionsUnderTest })
    expect(await parts()).toEqual([])
  })
})
