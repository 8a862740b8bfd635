// Worker thread of `mover.ts`. It moves the rows of some journal files to LevelDB, and ends.
import { parentPort, workerData } from 'node:worker_threads'
import { realDisk } from '../disk.ts'
import { memberCodec } from '../engine/bigints.ts'
import type { AnyRow } from '../engine/order.ts'
import type { Staged } from '../engine/rows.ts'
import { shapeTable } from '../engine/tables.ts'
import { StoreDamaged } from '../errors.ts'
import { openLevelDb } from '../level/db.ts'
import { type LevelBase, openLevel } from '../level/level.ts'
import type { AnyCollection } from '../port.ts'
import { scanLines, unframe } from './frame.ts'
import type { Moving, PlainCollection } from './mover.ts'
import type { StoredTx } from './recover.ts'

/** Number of rows read from LevelDB at once. */
const READ_AT_ONCE = 1_024

type ByKey<T> = Map<string, Map<string, T>>
/** Newest form of each row, null if removed. */
type Newest = ByKey<AnyRow | null>

async function move({ dir, collections, segments, reflects, existing }: Moving): Promise<number> {
  const db = await openLevelDb(dir, false)
  try {
    const level = await openLevel(db, { dir, shapes: collections.map(shapeOf) })
    const newest: Newest = new Map()
    for (const path of segments) await read(path, { after: level.reflects(), upTo: reflects }, newest)
    const before = await rowsBefore(level, existing)
    await level.write({ staged: [...stagedIn(level, { newest, before })], reflects }, () => undefined)
    return level.records()
  } finally {
    await db.close()
  }
}

function shapeOf({ bigints, ...collection }: PlainCollection) {
  // The schema is only needed for the default codec, and to check rows that are written.
  return shapeTable(collection as AnyCollection, memberCodec(bigints))
}

async function read(path: string, { after, upTo }: { after: number; upTo: number }, newest: Newest): Promise<void> {
  await using file = await realDisk.open(path, 'read')
  await scanLines(file, (line) => {
    const json = unframe(line)
    if (json === undefined) throw new StoreDamaged(path, line.offset, 'the checksum of a line is wrong')
    const { s, w }: StoredTx = JSON.parse(json)
    for (const [collection, key, row] of s > after && s <= upTo ? w : []) {
      putIn(newest, [collection, key], row)
    }
    return s < upTo
  })
}

function putIn<T>(all: ByKey<T>, [collection, key]: readonly [string, string], value: T): void {
  const rows = all.get(collection) ?? new Map<string, T>()
  all.set(collection, rows.set(key, value))
}

async function rowsBefore({ tables }: LevelBase, existing: Moving['existing']): Promise<ByKey<AnyRow | undefined>> {
  const before: ByKey<AnyRow | undefined> = new Map()
  for (const one of existing) putIn(before, one, undefined)
  for (const [collection, rows] of before) {
    const keys = [...rows.keys()]
    for (let at = 0; at < keys.length; at += READ_AT_ONCE) {
      const some = keys.slice(at, at + READ_AT_ONCE)
      const found = (await tables.get(collection)?.rows(some)) ?? []
      for (const [n, key] of some.entries()) rows.set(key, found[n])
    }
  }
  return before
}

function* stagedIn({ tables }: LevelBase, changes: { newest: Newest; before: ByKey<AnyRow | undefined> }) {
  for (const [collection, rows] of changes.newest) {
    const codec = tables.get(collection)?.shape.codec
    if (codec === undefined) throw new TypeError(`the journal has an unknown collection ${collection}`)
    for (const [key, json] of rows) {
      const before = changes.before.get(collection)?.get(key)
      const row = json && codec.fromJson(json)
      // A row that came and went meanwhile leaves no change.
      if (row !== null || before !== undefined) yield { write: { collection, key, row }, before } satisfies Staged
    }
  }
}

parentPort?.postMessage(await move(workerData as Moving))
