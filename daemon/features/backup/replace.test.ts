import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { takeLock } from '../../store/lowdb/lock.ts'
import { clearFolder, replaceStore, undoHalfReplaced } from './import-state.ts'

/* Files stand for stores here: what is looked at is which of two is whole after each step. */

let data: string
const OLD = { 'MANIFEST.json': 'old', 'journal-1.ndjson': 'old', 'snapshot-9.ndjson': 'old' }
const NEW = { 'MANIFEST.json': 'new', 'journal-1.ndjson': 'new' }

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'souk-replace-'))
  fill(join(data, 'store'), OLD)
  mkdirSync(join(data, 'store', 'blobs'))
  writeFileSync(join(data, 'store', 'blobs', 'a'), 'old')
  fill(join(data, 'fresh'), NEW)
  mkdirSync(join(data, 'fresh', 'blobs'))
  writeFileSync(join(data, 'catalog.db'), 'old')
})
afterEach(() => rm(data, { recursive: true }))

function fill(dir: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(dir)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text)
}

/** The files of the store as they are: `old`, `new`, or a mixture that nobody should ever open. */
function held(): Record<string, string> {
  const store = join(data, 'store')
  const names = readdirSync(store).filter((name) => name.includes('.'))
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(store, name), 'utf8')]))
}

const opens = async () => undefined
const blobs = () => readdirSync(join(data, 'store', 'blobs'))

test('the new store is in place, the old one and what followed from it are gone', async () => {
  await replaceStore(data, join(data, 'fresh'), opens)
  expect([held(), blobs()]).toEqual([NEW, []])
  expect(readdirSync(data).sort()).toEqual(['fresh', 'store'])
})

test('one that does not open gives the old one back', async () => {
  const refused = replaceStore(data, join(data, 'fresh'), async () => {
    expect(held()).toEqual(NEW)
    throw new Error('damaged')
  })
  await expect(refused).rejects.toThrow('damaged')
  expect([held(), blobs()]).toEqual([OLD, ['a']])
  expect(existsSync(join(data, 'replaced'))).toBe(false)
})

test('a daemon that holds the store keeps it', async () => {
  const lock = takeLock(join(data, 'store'))
  await expect(replaceStore(data, join(data, 'fresh'), opens)).rejects.toThrow(/in use/)
  await expect(clearFolder(data)).rejects.toThrow(/in use/)
  lock.release()
  expect(held()).toEqual(OLD)
})

describe('a crash', () => {
  const aside = () => join(data, 'replaced')
  const move = (name: string, from: string, to: string) => renameSync(join(from, name), join(to, name))
  const store = () => join(data, 'store')
  /** Each step as the code takes it, so that a crash behind any of them can be looked at. */
  const steps = (): (() => void)[] => [
    () => mkdirSync(aside()),
    ...[...Object.keys(OLD), 'blobs'].map((name) => () => move(name, store(), aside())),
    () => writeFileSync(join(aside(), 'all-aside'), ''),
    () => move('journal-1.ndjson', join(data, 'fresh'), store()),
    () => move('blobs', join(data, 'fresh'), store()),
  ]

  test.each([1, 2, 3, 4, 5, 6, 7, 8])('behind step %i leaves the old store', async (count) => {
    expect(steps()).toHaveLength(8)
    for (const step of steps().slice(0, count)) step()
    await undoHalfReplaced(data)
    expect([held(), blobs()]).toEqual([OLD, ['a']])
  })

  test('behind the last step leaves the new store', async () => {
    for (const step of steps()) step()
    move('MANIFEST.json', join(data, 'fresh'), store())
    await undoHalfReplaced(data)
    expect(held()).toEqual(NEW)
  })

  test('while it is put back leaves what the next try can put back', async () => {
    for (const step of steps()) step()
    // The new files are gone and the marker too; two old files are back.
    for (const name of ['journal-1.ndjson', 'blobs']) rmSync(join(store(), name), { recursive: true })
    rmSync(join(aside(), 'all-aside'))
    for (const name of ['journal-1.ndjson', 'blobs']) move(name, aside(), store())
    await undoHalfReplaced(data)
    expect([held(), blobs()]).toEqual([OLD, ['a']])
  })
})
