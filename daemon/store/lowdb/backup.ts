import { isBlobName } from '../blobs.ts'
import { type Disk, realDisk } from '../disk.ts'
import { StoreMisuse } from '../errors.ts'
import type { LevelBase } from '../level/level.ts'
import { migrations as allMigrations } from '../migrations.ts'
import { BLOB_DIR, filesOf, type Manifest, readManifest, segmentsBehind, sizeOf, writeManifest } from './files.ts'
import { freshSegment } from './journal.ts'
import { writeRows } from './snapshot.ts'
import { type VerifyOptions, type VerifyReport, verifyStore } from './verify.ts'

export type BackupReport = {
  readonly target: string
  /** Last transaction in the backup. */
  readonly seq: number
  readonly files: number
  readonly blobs: number
  /** Size of snapshot and journal, without blobs. */
  readonly sizeBytes: number
}

export type BackupJob = {
  readonly disk: Disk
  readonly dir: string
  readonly target: string
  /** Manifest after a segment switch: all but the last segment are closed. */
  readonly manifest: Manifest
  /** LevelDB with the rows, unless they are in a snapshot. */
  readonly level?: LevelBase
}

/** @throws StoreMisuse unless the directory is empty */
async function requireEmpty(disk: Disk, dir: string): Promise<void> {
  if ((await disk.list(dir)).length > 0) throw new StoreMisuse(`${dir} is not empty`)
  await disk.makeDir(dir)
}

/** Copies the closed files of a store to an empty directory, without the lock folder. */
export async function backUp(job: BackupJob): Promise<BackupReport> {
  const { disk, dir, target, manifest, level } = job
  await requireEmpty(disk, target)
  const whole = level ? await rowsToSnapshot(job, level) : manifest
  const segments = segmentsBehind(manifest.segments, whole.snapshot)
  const active = segments.at(-1) as number
  // The last segment is still open.
  const names = filesOf({ snapshot: level ? 0 : whole.snapshot, segments }).slice(0, -1)
  const copiedBytes = await copyAll({ disk, from: dir, to: target, names })
  const madeBytes = level ? await sizeOf(disk, target, filesOf({ ...whole, segments: [] })) : 0
  const blobs = await copyBlobs(disk, dir, target)
  await (await freshSegment(disk, target, active)).close()
  await writeManifest(disk, target, { ...whole, previous: null, segments })
  return { target, seq: active - 1, files: names.length, blobs, sizeBytes: copiedBytes + madeBytes }
}

/** Copies the rows of a LevelDB database to a snapshot, as backups need. @returns the manifest with that snapshot */
async function rowsToSnapshot({ disk, target, manifest }: BackupJob, level: LevelBase): Promise<Manifest> {
  const { rows: _level, ...rest } = manifest
  const seq = level.reflects()
  if (seq > 0) await writeRows({ disk, dir: target, format: manifest.format, seq }, level)
  return { ...rest, snapshot: seq }
}

export type RestoreOptions = Omit<VerifyOptions, 'dir'> & { readonly from: string; readonly to: string }

/** Verifies a backup and unpacks it into an empty directory. @throws StoreDamaged, StoreMisuse */
export async function restoreStore(options: RestoreOptions): Promise<VerifyReport> {
  const { from, to, disk = realDisk, migrations = allMigrations, ...rest } = options
  const report = await verifyStore({ ...rest, disk, migrations, dir: from })
  const manifest = (await readManifest(disk, from, migrations.length + 1)) as Manifest // verified above
  await requireEmpty(disk, to)
  const segments = segmentsBehind(manifest.segments, manifest.snapshot)
  await copyAll({ disk, from, to, names: filesOf(manifest) })
  await copyBlobs(disk, from, to)
  await writeManifest(disk, to, { ...manifest, previous: null, segments })
  return report
}

async function copyBlobs(disk: Disk, from: string, to: string): Promise<number> {
  await disk.makeDir(`${to}/${BLOB_DIR}`)
  const names = (await disk.list(`${from}/${BLOB_DIR}`)).filter(isBlobName)
  await copyAll({ disk, from: `${from}/${BLOB_DIR}`, to: `${to}/${BLOB_DIR}`, names })
  return names.length
}

type CopyJob = { readonly disk: Disk; readonly from: string; readonly to: string; readonly names: readonly string[] }

/** Copies files instead of linking them, so that corruption does not spread. @returns the number of bytes */
async function copyAll({ disk, from, to, names }: CopyJob): Promise<number> {
  let sizeBytes = 0
  for (const name of names) {
    await disk.copy(`${from}/${name}`, `${to}/${name}`)
    sizeBytes += (await disk.stat(`${to}/${name}`))?.sizeBytes ?? 0
  }
  await disk.syncDir(to)
  return sizeBytes
}
