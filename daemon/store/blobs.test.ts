import { createHash } from 'node:crypto'
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type BlobStore, openBlobs } from './blobs.ts'
import { realDisk } from './disk.ts'
import { faultyDisk } from './disk-sim.testkit.ts'

let dir = ''
let blobs: BlobStore
beforeEach(async () => {
  dir = await mkdtemp(`${tmpdir()}/souk-blobs-`)
  blobs = await openBlobs({ dir })
})
afterEach(() => rm(dir, { recursive: true }))

const LIMIT_BYTES = 1000
const source = (...chunks: string[]): Readable => Readable.from(chunks.map((chunk) => Buffer.from(chunk)))
async function textOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  let text = ''
  for await (const chunk of content) text += new TextDecoder().decode(chunk)
  return text
}
const sha = (text: string): string => createHash('sha256').update(text).digest('hex')

test('a blob is kept under its hash and read back whole or in part', async () => {
  const blob = await blobs.put(source('hel', 'lo ', 'world'), LIMIT_BYTES)
  expect(blob).toEqual({ sha256: sha('hello world'), sizeBytes: 11 })
  expect(await blobs.stat(blob.sha256)).toEqual(blob)
  expect(await textOf(blobs.read(blob.sha256))).toBe('hello world')
  expect(await textOf(blobs.read(blob.sha256, { start: 4, end: 6 }))).toBe('o w')
  expect(await blobs.put(source('hello world'), LIMIT_BYTES)).toEqual(blob)
  expect(await readdir(dir)).toEqual([blob.sha256])
})

test('an empty blob and one of exactly the limit are kept', async () => {
  expect(await blobs.put(source(), LIMIT_BYTES)).toMatchObject({ sizeBytes: 0 })
  expect(await blobs.put(source('x'.repeat(LIMIT_BYTES)), LIMIT_BYTES)).toMatchObject({ sizeBytes: LIMIT_BYTES })
})

test('one byte too many leaves nothing behind', async () => {
  const tooMuch = source('x'.repeat(LIMIT_BYTES), 'y')
  await expect(blobs.put(tooMuch, LIMIT_BYTES)).rejects.toMatchObject({ code: 'too_large' })
  expect(await readdir(dir)).toEqual([])
})

test('a source that breaks, or a disk that is full, leaves nothing behind', async () => {
  const breaking = Readable.from(
    (async function* () {
      yield Buffer.from('half')
      throw new Error('the client went away')
    })(),
  )
  await expect(blobs.put(breaking, LIMIT_BYTES)).rejects.toThrow('the client went away')
  const full = await openBlobs({ dir, disk: faultyDisk(realDisk, { writeFailsAfter: () => 2 }) })
  await expect(full.put(source('hello'), LIMIT_BYTES)).rejects.toThrow('ENOSPC')
  expect(await readdir(dir)).toEqual([])
})

test.each(['../../etc/passwd', 'incoming-1', 'A'.repeat(64), ''])('the name %j is no blob', async (name) => {
  await expect(blobs.stat(name)).rejects.toMatchObject({ code: 'not_found' })
  await expect(textOf(blobs.read(name))).rejects.toMatchObject({ code: 'not_found' })
})

test('the sweep takes old orphans and nothing else', async () => {
  const [kept, orphan, young] = await Promise.all(
    ['kept', 'orphan', 'young'].map((text) => blobs.put(source(text), LIMIT_BYTES)),
  )
  const now = (await stat(`${dir}/${young?.sha256}`)).mtimeMs + 1
  const isReferenced = async (sha256: string): Promise<boolean> => sha256 === kept?.sha256
  expect(await blobs.sweep({ isReferenced, olderThanMs: now - 60_000 })).toEqual([])
  const removed = await blobs.sweep({ isReferenced: async (s) => s !== orphan?.sha256, olderThanMs: now + 60_000 })
  expect(removed).toEqual([orphan?.sha256])
  expect((await blobs.list()).sort()).toEqual([kept?.sha256, young?.sha256].sort())
})

test('uploads that an earlier run did not finish are removed when the store opens', async () => {
  await writeFile(`${dir}/incoming-9`, 'half')
  await openBlobs({ dir })
  expect(await readdir(dir)).toEqual([])
})
