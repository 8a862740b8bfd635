import { basename, dirname, resolve } from 'node:path'
import { compact } from '../../../src/core/record.ts'
import { type Disk, realDisk } from '../disk.ts'
import { frontOver } from '../engine/front.ts'
import { type Base, createState, memoryBase, type State } from '../engine/rows.ts'
import { LevelMissing, StoreDamaged } from '../errors.ts'
import type { Migration } from '../migrations.ts'
import type { AnyCollection } from '../port.ts'
import { type Behind, moveToLevel, type OpenDb, openRows, streamRows } from './behind.ts'
import {
  filesOf,
  MANIFEST_FILE,
  type Manifest,
  numberedFiles,
  QUARANTINE_DIR,
  ROWS_DIR,
  readManifest,
  segmentFile,
  sizeOf,
  writeManifest,
} from './files.ts'
import { beginBehind } from './journal.ts'
import { createLoader, intoFront, intoState } from './load.ts'
import { removeUnlisted } from './maintenance.ts'
import { quarantineLog } from './quarantine.ts'
import { loadersOf, type Recovery, recover } from './recover.ts'
import { writeSnapshot } from './snapshot.ts'
import { DEFAULT_RESERVE_BYTES } from './space.ts'

const MB = 1024 * 1024
/** Files of about 4,000 purchases: from here on, memory and start would cost more than reads from the disk. */
export const LEVEL_FROM_BYTES = 32 * MB

export type FirstInput = {
  readonly disk: Disk
  readonly dir: string
  readonly collections: readonly AnyCollection[]
  /** See `LowdbStoreOptions`. */
  readonly levelFrom?: number | undefined
  readonly openDb?: OpenDb | undefined
  readonly migrations: readonly Migration[]
  readonly newStoreId: () => string
  readonly onLoaded?: ((percent: number) => void) | undefined
}

export type LoadedStore = {
  readonly manifest: Manifest
  readonly recovery: Recovery
  readonly base: Base
  /** Rows in memory, or those in LevelDB. */
  readonly kept: State | Behind
  /** Why rows stayed in memory, in one sentence. */
  readonly note?: string
}

/** Creates or recovers the files, removes a torn tail, and migrates. The caller holds the lock. */
export async function loadOrCreate(input: FirstInput): Promise<LoadedStore> {
  const { disk, dir, levelFrom, migrations } = input
  const format = migrations.length + 1
  const found = (await readManifest(disk, dir, format)) ?? (await create(input, format))
  const isCurrent = found.format === format
  if (found.rows && isCurrent && levelFrom !== Number.POSITIVE_INFINITY) return loadBehind(input, found)
  const loaded = found.rows || !isCurrent ? await loadMemory(input, found) : undefined
  const moved = await movedIfLarge(input, loaded?.manifest ?? found, loaded?.recovery)
  if (typeof moved === 'object') return moved
  return { ...(loaded ?? (await loadMemory(input, found))), ...compact({ note: moved }) }
}

/** Loads all rows into memory. Rows of an older format or in LevelDB are first written as a snapshot. */
async function loadMemory(input: FirstInput, found: Manifest): Promise<LoadedStore> {
  const { disk, dir, collections, migrations, openDb, levelFrom } = input
  const format = migrations.length + 1
  const state = createState(collections)
  const { put } = intoState(state)
  const { onBytes } = await progressOf(input, found)
  const loaderOf = loadersOf({ dir, sink: intoState(state), migrations, ...compact({ onBytes }) })
  const recovery =
    found.rows === undefined
      ? await recover({ disk, dir, manifest: found, loaderOf })
      : await streamRows({ disk, dir, manifest: found, collections, migrations, openDb, visit: put, saw: onBytes })
  const known = await settle(input, found, recovery)
  const isCurrent = found.format === format && found.rows === undefined
  const current = isCurrent ? known : await rewrite({ ...input, state, found: known.manifest, recovery, format })
  // Also removes what a move left that was not finished.
  if (levelFrom === undefined || levelFrom === Number.POSITIVE_INFINITY)
    for (const name of await disk.list(`${dir}/${ROWS_DIR}`)) await disk.remove(`${dir}/${ROWS_DIR}/${name}`)
  return { ...current, base: memoryBase(state), kept: state }
}

/** Moves the rows of a large store to LevelDB. @returns the store, or why it stays in memory; undefined if it is small */
async function movedIfLarge(
  input: FirstInput,
  found: Manifest,
  earlier?: Recovery,
): Promise<LoadedStore | string | undefined> {
  const { disk, dir, levelFrom } = input
  const sizeBytes = await sizeOf(disk, dir, filesOf(found))
  if (levelFrom === undefined || sizeBytes < levelFrom) return undefined
  const neededBytes = sizeBytes * 2 + DEFAULT_RESERVE_BYTES
  if ((await disk.freeBytes(dir)) < neededBytes)
    return `All rows stay in memory: their move to the disk needs ${Math.ceil(neededBytes / MB)} MB of free space.`
  try {
    const saw = (await progressOf(input, found, 2)).onBytes
    const { manifest, recovery } = await moveToLevel({ ...input, manifest: found, saw })
    const { torn, loss } = earlier ?? recovery
    const loaded = await loadBehind(input, (await settle(input, manifest, recovery)).manifest)
    return { ...loaded, recovery: { ...loaded.recovery, torn, loss } }
  } catch (error) {
    if (error instanceof LevelMissing) return `All rows stay in memory: ${error.message}.`
    throw error
  }
}

/** Loads the journal's changes that LevelDB does not have yet. */
async function loadBehind(input: FirstInput, found: Manifest): Promise<LoadedStore> {
  const { disk, dir, collections, openDb } = input
  const isReal = openDb === undefined && disk === realDisk
  const level = await openRows({ dir, store: found.store, collections, openDb, isReal })
  try {
    const front = frontOver(level)
    const saw = (await progressOf(input, found)).onBytes
    const loaderOf = () => ({ ...createLoader(intoFront(front), []), ...compact({ saw }) })
    const recovery = await recover({ disk, dir, manifest: found, loaderOf, reflects: level.reflects() })
    return { ...(await settle(input, found, recovery)), base: front, kept: { front, level } }
  } catch (error) {
    await level.close()
    throw error
  }
}

/** Removes a torn tail, and records a loss so that only this start reports it. */
async function settle({ disk, dir }: FirstInput, found: Manifest, recovery: Recovery) {
  if (recovery.torn !== undefined) await cut(disk, dir, recovery)
  await removeUnlisted(disk, dir, found)
  if (recovery.loss === undefined) return { manifest: found, recovery }
  const manifest = { ...found, stopped: recovery.seq }
  await writeManifest(disk, dir, manifest)
  return { manifest, recovery }
}

/** Makes the callback that reports the percentage of all files read so far. */
async function progressOf(
  input: FirstInput,
  found: Manifest,
  passes = 1,
): Promise<{ readonly onBytes?: (bytes: number) => void }> {
  const { onLoaded } = input
  if (onLoaded === undefined) return {}
  const total = passes * (await sizeOf(input.disk, input.dir, filesOf(found)))
  let read = 0
  let told = 0
  const onBytes = (bytes: number) => {
    read += bytes
    const percent = Math.min(100, Math.floor((read * 100) / total))
    if (percent > told) onLoaded(percent)
    told = percent
  }
  return { onBytes }
}

async function create(input: FirstInput, format: number): Promise<Manifest> {
  const { disk, dir } = input
  const { snapshots, segments } = await numberedFiles(disk, dir)
  const sizes = await Promise.all(
    segments.map(async (first) => (await disk.stat(`${dir}/${segmentFile(first)}`))?.sizeBytes),
  )
  if (snapshots.length > 0 || sizes.some((size) => size !== 0))
    throw new StoreDamaged(`${dir}/${MANIFEST_FILE}`, 0, 'it is missing, but there is data next to it')
  const manifest = await beginBehind(disk, dir, { format, store: input.newStoreId(), snapshot: 0 })
  // The new directory's entry must be durable, too.
  await disk.syncDir(dirname(resolve(dir)))
  return manifest
}

/** Removes a torn tail: damaged bytes go to `quarantine/`, an unfinished write is truncated. */
async function cut(disk: Disk, dir: string, { torn, loss }: Pick<Recovery, 'torn' | 'loss'>): Promise<void> {
  if (torn === undefined) return
  if ((loss?.damagedLines ?? 0) > 0) {
    await disk.makeDir(`${dir}/${QUARANTINE_DIR}`)
    return quarantineLog(disk, dir).moveRest(basename(torn.file), torn.offset)
  }
  await using file = await disk.open(torn.file, 'extend')
  await file.truncate(torn.offset)
  await file.datasync()
}

type RewriteInput = FirstInput & {
  readonly state: State
  readonly found: Manifest
  readonly recovery: Recovery
  readonly format: number
}

/** Writes a migrated state in the current format, before any new transaction is written. */
async function rewrite(input: RewriteInput): Promise<{ manifest: Manifest; recovery: Recovery }> {
  const { disk, dir, state, found, recovery, format } = input
  const { seq } = recovery
  const snapshotBytes = seq === 0 ? 0 : ((await writeSnapshot({ disk, dir, state, format, seq })) ?? 0)
  const { rows: _level, ...rest } = found
  const manifest = await beginBehind(disk, dir, { ...rest, format, stopped: seq, snapshot: seq })
  await removeUnlisted(disk, dir, manifest)
  return { manifest, recovery: { ...recovery, snapshotBytes, journalBytes: 0, activeBytes: 0 } }
}
