import type { Disk } from '../disk.ts'
import { StoreMisuse } from '../errors.ts'
import { BLOB_DIR, type Manifest, segmentFile, snapshotFile, writeManifest } from './files.ts'
import { freshSegment } from './journal.ts'

export type BackupReport = {
  readonly target: string
  /** Last transaction that the backup holds. */
  readonly seq: number
  readonly files: number
  readonly blobs: number
  readonly sizeBytes: number
}

export type BackupJob = {
  readonly disk: Disk
  readonly dir: string
  readonly target: string
  /** The manifest right after a segment switch: all segments but the last are closed. */
  readonly manifest: Manifest
}

/** @throws StoreMisuse when the directory has anything in it. */
export async function requireEmpty(disk: Disk, dir: string): Promise<void> {
  if ((await disk.list(dir)).length > 0) throw new StoreMisuse(`${dir} is not empty`)
  await disk.makeDir(dir)
}

/**
 * Copies a store to an empty directory. The files are closed and the last segment is left empty,
 * so the copy is a store of its own. Never touches the lock folder.
 */
export async function backUp(job: BackupJob): Promise<BackupReport> {
  const { disk, dir, target, manifest } = job
  await requireEmpty(disk, target)
  const segments = manifest.segments.filter((firstSeq) => firstSeq > manifest.snapshot)
  const active = segments.at(-1) as number
  const names = segments.slice(0, -1).map(segmentFile)
  if (manifest.snapshot > 0) names.push(snapshotFile(manifest.snapshot))
  await copyAll({ disk, from: dir, to: target, names })
  await disk.makeDir(`${target}/${BLOB_DIR}`)
  const blobs = await disk.list(`${dir}/${BLOB_DIR}`)
  const finished = blobs.filter((name) => !name.includes('-'))
  await copyAll({ disk, from: `${dir}/${BLOB_DIR}`, to: `${target}/${BLOB_DIR}`, names: finished })
  await (await freshSegment(disk, target, active)).close()
  await writeManifest(disk, target, { ...manifest, previous: null, segments })
  const sizes = await Promise.all(names.map(async (name) => (await disk.stat(`${target}/${name}`))?.sizeBytes ?? 0))
  return {
    target,
    seq: active - 1,
    files: names.length,
    blobs: finished.length,
    sizeBytes: sizes.reduce((sum, size) => sum + size, 0),
  }
}

type CopyJob = { readonly disk: Disk; readonly from: string; readonly to: string; readonly names: readonly string[] }

/** Copies, not hard links: a bit that flips in the live file must not flip in the backup. */
export async function copyAll({ disk, from, to, names }: CopyJob): Promise<void> {
  for (const name of names) await disk.copy(`${from}/${name}`, `${to}/${name}`)
  await disk.syncDir(to)
}
