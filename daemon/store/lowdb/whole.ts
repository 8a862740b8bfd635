import { type Disk, realDisk } from '../disk.ts'
import type { RowCodec } from '../engine/bigints.ts'
import type { AnyRow } from '../engine/order.ts'
import { createState } from '../engine/rows.ts'
import { inOrder } from '../engine/tables.ts'
import { RowInvalid, StoreMisuse } from '../errors.ts'
import { FORMAT, migrated, migrations } from '../migrations.ts'
import type { AnyCollection } from '../port.ts'
import { streamRows } from './behind.ts'
import { BLOB_DIR, readManifest, snapshotFile } from './files.ts'
import { beginBehind } from './journal.ts'
import { intoState } from './load.ts'
import { snapshotLines } from './snapshot.ts'

/** Rows of a collection in key order (UTF-16). */
export type WholeTable = Awaited<ReturnType<typeof readWhole>>[number]

/**
 * All rows of a stopped store or backup; changes nothing.
 * @throws StoreDamaged, StoreFormatUnknown; StoreMisuse without a store
 */
export async function readWhole(dir: string, collections: readonly AnyCollection[]) {
  const manifest = await readManifest(realDisk, dir, FORMAT)
  if (manifest === undefined) throw new StoreMisuse(`${dir} is not a store`)
  const state = createState(collections)
  const visit = intoState(state).put
  await streamRows({ disk: realDisk, dir, manifest, collections, migrations, visit })
  return inOrder(state).map(([, { shape, rows }]) => ({ ...shape, rows: inOrder(rows).map(([, row]) => row) }))
}

export type WholeWriter = {
  /** Adds a row in JSON form; see `RowCodec`. */
  add(collection: string, row: unknown): Promise<void>
  /** Makes everything durable. */
  end(): Promise<void>
  drop(): Promise<void>
}

/** All rows belong to one transaction. */
const SEQ = 1

/** Writes a new store to an empty folder. The store is incomplete until `end` is called. */
export async function writeWhole(dir: string, storeId: string, disk: Disk = realDisk): Promise<WholeWriter> {
  await disk.makeDir(`${dir}/${BLOB_DIR}`)
  const name = snapshotFile(SEQ)
  const file = await disk.open(`${dir}/${name}.tmp`, 'create')
  const lines = await snapshotLines(file, { format: FORMAT, seq: SEQ })
  let ended = false
  return {
    async add(collection, row) {
      if (lines.add(collection, row)) await lines.flush()
    },
    async end() {
      await lines.end(SEQ)
      ended = true
      await file.close()
      await disk.rename(`${dir}/${name}.tmp`, `${dir}/${name}`)
      await beginBehind(disk, dir, { format: FORMAT, store: storeId, snapshot: SEQ })
      await disk.syncDir(dir)
    },
    async drop() {
      if (!ended) await file.close()
    },
  }
}

export type CheckedRow = { readonly collection: AnyCollection; readonly json: AnyRow; readonly row: AnyRow }

/** Makes a function that migrates and checks rows of a format. That function throws RowInvalid for an invalid row. */
export function rowChecker(collections: readonly AnyCollection[], format: number) {
  const state = createState(collections)
  const steps = migrations.slice(format - 1)
  return (name: string, stored: unknown): CheckedRow | undefined => {
    const current = migrated(steps, { collection: name, row: stored })
    if (current.row === null) return undefined
    const table = state.get(current.collection)?.shape
    if (table === undefined) throw new RowInvalid(name, '', new Error('there is no such collection'))
    const row = decoded(table.codec, current.row, name)
    const parsed = table.collection.schema.safeParse(row)
    if (!parsed.success) throw new RowInvalid(name, '', parsed.error)
    // Encodes the row again, since JSON can write the same number in many ways.
    return { collection: table.collection, json: table.codec.toJson(row), row }
  }
}

function decoded(codec: RowCodec, row: unknown, name: string): AnyRow {
  try {
    return codec.fromJson(row as AnyRow) // the schema looks at it next
  } catch (error) {
    throw new RowInvalid(name, '', error)
  }
}
