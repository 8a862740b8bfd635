import type { Disk } from '../disk.ts'
import { type Front, frontOver } from '../engine/front.ts'
import type { State } from '../engine/rows.ts'
import { keyOf } from '../engine/tables.ts'
import { claimFor, type LevelDb, openLevelDb, ownerOf } from '../level/db.ts'
import { type LevelBase, openLevel } from '../level/level.ts'
import type { AnyCollection } from '../port.ts'
import { type Manifest, ROWS_DIR, writeManifest } from './files.ts'
import type { Loader, RowSink } from './load.ts'
import { type RecoverInput, type Recovery, recover } from './recover.ts'

/** Opens the database in a folder; tests pass a failing one. */
export type OpenDb = (dir: string, createIfMissing?: boolean) => Promise<LevelDb>

export type Behind = { readonly front: Front; readonly level: LevelBase }

export function isBehind(kept: State | Behind): kept is Behind {
  return 'level' in kept
}

type RowsOf = {
  readonly dir: string
  readonly store: string
  readonly collections: readonly AnyCollection[]
  readonly openDb?: OpenDb | undefined
}

/** Rows per batch when a store moves to LevelDB. */
const ROWS_AT_ONCE = 5_000
/** Rough size of a row, not measured. */
const ROW_BYTES = 1_024

/** Opens the rows of a store. @throws StoreDamaged if they are missing or belong to another store */
export async function openRows({ dir, store, collections, openDb = openLevelDb }: RowsOf): Promise<LevelBase> {
  return claimed(await openDb(`${dir}/${ROWS_DIR}`, false), { dir, store, collections })
}

async function claimed(db: LevelDb, { dir, store, collections }: RowsOf): Promise<LevelBase> {
  try {
    const path = `${dir}/${ROWS_DIR}`
    await claimFor(db, path, store)
    return await openLevel(db, path, collections)
  } catch (error) {
    await db.close()
    throw error
  }
}

/** Moves a store's rows to LevelDB. The old files stay valid until the manifest changes, so a move can restart. */
export async function moveToLevel(
  job: RowsOf & { readonly disk: Disk; readonly state: State; readonly manifest: Manifest; readonly seq: number },
): Promise<{ readonly manifest: Manifest; readonly behind: Behind }> {
  const { disk, dir, state, seq, openDb = openLevelDb } = job
  const db = await openDb(`${dir}/${ROWS_DIR}`, true)
  await db.clear()
  const level = await claimed(db, job)
  const manifest = { ...job.manifest, rows: 'level' as const }
  try {
    for (const staged of batchesOf(state)) await level.write({ staged, reflects: 0 }, () => undefined)
    await level.write({ staged: [], reflects: seq }, () => undefined)
    await writeManifest(disk, dir, manifest)
    return { manifest, behind: { level, front: frontOver(level) } }
  } catch (error) {
    await level.close()
    throw error
  }
}

function* batchesOf(state: State) {
  for (const [collection, { shape, rows }] of state) {
    const all = [...rows.values()]
    for (let from = 0; from < all.length; from += ROWS_AT_ONCE)
      yield all
        .slice(from, from + ROWS_AT_ONCE)
        .map((row) => ({ write: { collection, key: keyOf(shape, row), row }, before: undefined }))
  }
}

/** Reads the undamaged rows from LevelDB and counts the lost ones. @returns undefined if LevelDB does not open */
export async function salvageRows(job: RowsOf & { readonly sink: RowSink }) {
  let lost = 0
  // The caller reports that the rows cannot be read.
  const level = await openRows(job).catch(() => undefined)
  if (level === undefined) return undefined
  const count = (): void => {
    lost += 1
  }
  try {
    for await (const [collection, row] of level.walk(count)) {
      const shape = level.tables.get(collection)?.shape
      if (shape) job.sink.put(collection, keyOf(shape, row), row)
    }
  } catch {
    count() // LevelDB itself cannot go on; how many rows lie behind, nobody knows
  } finally {
    await level.close()
  }
  return { reflects: level.reflects(), lost }
}

/** Id of the store whose rows a folder has; needed if the manifest is lost. */
export async function ownerOfRows(dir: string, openDb: OpenDb = openLevelDb): Promise<string | undefined> {
  // Opening fails if the store has no LevelDB.
  const db = await openDb(`${dir}/${ROWS_DIR}`, false).catch(() => undefined)
  const owner = db && ownerOf(db)
  await db?.close()
  return owner
}

type WholeInput = Omit<RecoverInput, 'reflects'> & Omit<RowsOf, 'store'> & { readonly sink?: RowSink }

/** Loads all rows of a closed store and replays its journal. Changes no file. */
export async function recoverWhole(input: WholeInput): Promise<Recovery> {
  const { manifest, sink, loaderOf } = input
  if (manifest.rows === undefined) return recover(input)
  const level = await openRows({ ...input, store: manifest.store })
  const loader: Loader = loaderOf(manifest.format)
  try {
    for await (const [collection, row] of level.walk()) {
      const shape = level.tables.get(collection)?.shape
      if (shape) sink?.put(collection, keyOf(shape, row), row)
      loader.saw?.(ROW_BYTES)
    }
    return await recover({ ...input, reflects: level.reflects() })
  } finally {
    await level.close()
  }
}
