import { z } from 'zod'
import { type Disk, readWhole, replaceFile } from '../disk.ts'
import { StoreDamaged, StoreFormatUnknown } from '../errors.ts'
import { FORMAT } from '../migrations.ts'

export const MANIFEST_FILE = 'MANIFEST.json'
/** The lock has its own folder, so that nothing replaces it by accident (docs/reference/storage-format.md). */
export const LOCK_DIR = 'lock'
export const BLOB_DIR = 'blobs'
export const QUARANTINE_DIR = 'quarantine'
/** Folder of the LevelDB database, in a store that keeps its rows on disk. */
export const ROWS_DIR = 'rows'

/**
 * Table of contents of a data directory, replaced atomically. A segment is listed before its first write, so that its
 * loss is noticed.
 */
const Manifest = z.strictObject({
  /** Format version of all files. */
  format: z.int().min(1),
  /** Random id of this store. A backup has the same id. */
  store: z.string(),
  /** Last transaction in the current snapshot; 0 if none. */
  snapshot: z.int().min(0),
  /** Previous snapshot, kept as a fallback; null if none. */
  previous: z.int().min(0).nullable(),
  /** Number of each segment's first transaction, ascending. Only the last segment grows. */
  segments: z.array(z.int().min(1)).min(1),
  /** Present if the rows are in LevelDB; `moved` until the first clean stop, which removes the files from before. */
  rows: z.enum(['level', 'moved']).exactOptional(),
  /** Number of the last transaction at the last clean stop, to detect losses. */
  stopped: z.int().min(0).exactOptional(),
})
export type Manifest = z.infer<typeof Manifest>

export function snapshotFile(seq: number): string {
  return `snapshot-${seq}.ndjson`
}

export function segmentFile(firstSeq: number): string {
  return `journal-${firstSeq}.ndjson`
}

/** Segments that hold the transactions after `seq`. */
export function segmentsBehind(segments: readonly number[], seq: number): number[] {
  return segments.filter((_, n) => (segments[n + 1] ?? Number.POSITIVE_INFINITY) > seq + 1)
}

/** Names of the snapshot, if there is one, and of the segments behind it. */
export function filesOf({ snapshot, segments }: Pick<Manifest, 'snapshot' | 'segments'>): string[] {
  const journal = segmentsBehind(segments, snapshot).map(segmentFile)
  return snapshot === 0 ? journal : [snapshotFile(snapshot), ...journal]
}

/** Size of files together, in bytes; missing ones count as empty. */
export async function sizeOf(disk: Disk, dir: string, names: readonly string[]): Promise<number> {
  const found = await Promise.all(names.map((name) => disk.stat(`${dir}/${name}`)))
  return found.reduce((sum, file) => sum + (file?.sizeBytes ?? 0), 0)
}

const NUMBERED = /^(snapshot|journal)-(\d+)\.ndjson$/

/** Snapshots and segments in a directory, by number. */
export async function numberedFiles(disk: Disk, dir: string): Promise<{ snapshots: number[]; segments: number[] }> {
  const found: { snapshots: number[]; segments: number[] } = { snapshots: [], segments: [] }
  for (const name of await disk.list(dir)) {
    const match = NUMBERED.exec(name)
    if (match !== null) found[match[1] === 'snapshot' ? 'snapshots' : 'segments'].push(Number(match[2]))
  }
  return found
}

/** @returns undefined without a store. @throws StoreDamaged, StoreFormatUnknown */
export async function readManifest(disk: Disk, dir: string, newest = FORMAT): Promise<Manifest | undefined> {
  const path = `${dir}/${MANIFEST_FILE}`
  const bytes = await readWhole(disk, path)
  if (bytes === undefined) return undefined
  const { format, ...rest } = parseManifest(path, bytes)
  const manifest = { ...rest, format: format - ownFormats(rest) }
  if (manifest.format > newest)
    throw new StoreFormatUnknown(
      `${dir} has format ${manifest.format}; this souk supports up to ${newest}. Upgrade souk`,
    )
  return manifest
}

/** With rows in LevelDB the manifest has the next format number, so that programs without LevelDB refuse it. */
function ownFormats({ rows }: Pick<Manifest, 'rows'>): number {
  return rows === undefined ? 0 : 1
}

function parseManifest(path: string, bytes: Buffer): Manifest {
  try {
    return Manifest.parse(JSON.parse(bytes.toString()))
  } catch (error) {
    throw new StoreDamaged(path, 0, error instanceof Error ? error.message : 'not JSON')
  }
}

export async function writeManifest(disk: Disk, dir: string, manifest: Manifest): Promise<void> {
  const text = JSON.stringify({ ...manifest, format: manifest.format + ownFormats(manifest) }, undefined, 2)
  await replaceFile(disk, { dir, name: MANIFEST_FILE }, `${text}\n`)
}
