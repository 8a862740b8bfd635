import { basename, dirname, resolve } from 'node:path'
import { compact } from '../../../src/core/record.ts'
import type { Disk } from '../disk.ts'
import type { Base } from '../engine/base.ts'
import { frontOver } from '../engine/front.ts'
import { createState, memoryBase, type State } from '../engine/rows.ts'
import { StoreDamaged, StoreFormatUnknown } from '../errors.ts'
import type { Migration } from '../migrations.ts'
import type { AnyCollection } from '../port.ts'
import { type Behind, moveToLevel, type OpenDb, openRows } from './behind.ts'
import {
  MANIFEST_FILE,
  type Manifest,
  numberedFiles,
  QUARANTINE_DIR,
  readManifest,
  segmentFile,
  snapshotFile,
  writeManifest,
} from './files.ts'
import { beginBehind } from './journal.ts'
import { createLoader, intoFront, intoState } from './load.ts'
import { removeUnlisted } from './maintenance.ts'
import { quarantineLog } from './quarantine.ts'
import { loadersOf, type Recovery, recover } from './recover.ts'
import { writeSnapshot } from './snapshot.ts'

export type FirstInput = {
  readonly disk: Disk
  readonly dir: string
  readonly collections: readonly AnyCollection[]
  /** Whether to move rows to LevelDB. Rows that are already in LevelDB stay there. */
  readonly isLevel: boolean
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
}

/** Creates or recovers the files, removes a torn tail, and migrates. The caller holds the lock. */
export async function loadOrCreate(input: FirstInput): Promise<LoadedStore> {
  const { disk, dir, collections, migrations } = input
  const format = migrations.length + 1
  const found = (await readManifest(disk, dir, format)) ?? (await create(input, format))
  if (found.rows !== undefined) return loadBehind(input, found)
  const state = createState(collections)
  const loaderOf = loadersOf({ dir, sink: intoState(state), migrations, ...(await progressOf(input, found)) })
  const recovery = await recover({ disk, dir, manifest: found, loaderOf })
  const known = await settle(input, found, recovery)
  const current = found.format === format ? known : await rewrite({ ...input, state, found, recovery, format })
  if (!input.isLevel) return { ...current, base: memoryBase(state), kept: state }
  const { manifest, behind } = await moveToLevel({ ...input, ...current, store: found.store, state, seq: recovery.seq })
  return { ...current, manifest, base: behind.front, kept: behind }
}

/** Loads the journal's changes that LevelDB does not have yet. */
async function loadBehind(input: FirstInput, found: Manifest): Promise<LoadedStore> {
  const { disk, dir, collections, migrations, openDb } = input
  // Migrations run on rows as they are loaded. Rows in LevelDB are not loaded, so they cannot be migrated.
  if (found.format !== migrations.length + 1)
    throw new StoreFormatUnknown(`${dir} has LevelDB rows in format ${found.format}, which is no longer supported`)
  const level = await openRows({ dir, store: found.store, collections, openDb })
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
  { disk, dir, onLoaded }: FirstInput,
  { snapshot, segments }: Manifest,
): Promise<{ readonly onBytes?: (bytes: number) => void }> {
  if (onLoaded === undefined) return {}
  const names = [...(snapshot === 0 ? [] : [snapshotFile(snapshot)]), ...segments.map(segmentFile)]
  const sizes = await Promise.all(names.map(async (name) => (await disk.stat(`${dir}/${name}`))?.sizeBytes ?? 0))
  const total = sizes.reduce((sum, size) => sum + size, 0)
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
  const settled = (): Promise<number> => Promise.resolve(seq)
  const job = { disk, dir, state, format, seq, settled, restMs: 0, isCancelled: () => false }
  const snapshotBytes = seq === 0 ? 0 : ((await writeSnapshot(job)) ?? 0)
  const manifest = await beginBehind(disk, dir, { ...found, format, stopped: seq, snapshot: seq })
  await removeUnlisted(disk, dir, manifest)
  return { manifest, recovery: { ...recovery, snapshotBytes, journalBytes: 0, activeBytes: 0 } }
}
