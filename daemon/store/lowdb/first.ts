import { basename, dirname, resolve } from 'node:path'
import type { Disk } from '../disk.ts'
import type { State } from '../engine/rows.ts'
import { StoreDamaged } from '../errors.ts'
import type { Migration } from '../migrations.ts'
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
import { freshSegment } from './journal.ts'
import { removeUnlisted } from './maintenance.ts'
import { quarantineLog } from './quarantine.ts'
import { loadersOf, type Recovery, recover } from './recover.ts'
import { writeSnapshot } from './snapshot.ts'

export type FirstInput = {
  readonly disk: Disk
  readonly dir: string
  /** Empty; filled here. */
  readonly state: State
  readonly migrations: readonly Migration[]
  readonly newStoreId: () => string
  readonly onLoaded?: ((percent: number) => void) | undefined
}

/** Creates or recovers the files, cuts a torn tail, migrates. The caller holds the lock. */
export async function loadOrCreate(input: FirstInput): Promise<{ manifest: Manifest; recovery: Recovery }> {
  const { disk, dir, state, migrations } = input
  const format = migrations.length + 1
  const found = (await readManifest(disk, dir, format)) ?? (await create(input, format))
  const loaderOf = loadersOf({ dir, state, migrations, ...(await progressOf(input, found)) })
  const recovery = await recover({ disk, dir, manifest: found, loaderOf })
  if (recovery.torn !== undefined) await cut(disk, dir, recovery)
  await removeUnlisted(disk, dir, found)
  if (found.format !== format) return rewrite({ ...input, found, recovery, format })
  if (recovery.loss === undefined) return { manifest: found, recovery }
  // Recorded, so that a loss is reported once.
  const manifest = { ...found, stopped: recovery.seq }
  await writeManifest(disk, dir, manifest)
  return { manifest, recovery }
}

/** Reports read bytes as percent of all files. */
async function progressOf({ disk, dir, onLoaded }: FirstInput, { snapshot, segments }: Manifest) {
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
    throw new StoreDamaged(`${dir}/${MANIFEST_FILE}`, 0, 'it is missing while data lies beside it')
  await (await freshSegment(disk, dir, 1)).close()
  const manifest: Manifest = { format, store: input.newStoreId(), snapshot: 0, previous: null, segments: [1] }
  await writeManifest(disk, dir, manifest)
  // The new directory's entry must be durable, too.
  await disk.syncDir(dirname(resolve(dir)))
  return manifest
}

/** Damaged bytes are moved aside; an unfinished write is dropped. */
async function cut(disk: Disk, dir: string, { torn, loss }: Pick<Recovery, 'torn' | 'loss'>): Promise<void> {
  if (torn === undefined) return
  if ((loss?.damagedLines ?? 0) > 0) {
    await disk.makeDir(`${dir}/${QUARANTINE_DIR}`)
    return quarantineLog(disk, dir).moveRest(basename(torn.file), torn.offset)
  }
  const file = await disk.open(torn.file, 'extend')
  try {
    await file.truncate(torn.offset)
    await file.datasync()
  } finally {
    await file.close()
  }
}

type RewriteInput = FirstInput & { readonly found: Manifest; readonly recovery: Recovery; readonly format: number }

/** Writes a migrated state in the current format before new transactions. */
async function rewrite(input: RewriteInput): Promise<{ manifest: Manifest; recovery: Recovery }> {
  const { disk, dir, state, found, recovery, format } = input
  const { seq } = recovery
  const settled = (): Promise<number> => Promise.resolve(seq)
  const job = { disk, dir, state, format, seq, settled, restMs: 0, isCancelled: () => false }
  const snapshotBytes = seq === 0 ? 0 : ((await writeSnapshot(job)) ?? 0)
  await (await freshSegment(disk, dir, seq + 1)).close()
  const manifest: Manifest = { ...found, format, stopped: seq, snapshot: seq, previous: null, segments: [seq + 1] }
  await writeManifest(disk, dir, manifest)
  await removeUnlisted(disk, dir, manifest)
  return { manifest, recovery: { ...recovery, snapshotBytes, journalBytes: 0, activeBytes: 0 } }
}
