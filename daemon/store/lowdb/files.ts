import { z } from 'zod'
import { type Disk, readWhole, replaceFile } from '../disk.ts'
import { StoreDamaged, StoreFormatUnknown } from '../errors.ts'
import { FORMAT } from '../migrations.ts'

export const MANIFEST_FILE = 'MANIFEST.json'
/** The lock has a folder of its own, so that nothing walks over it by accident (docs/reference/storage-format.md). */
export const LOCK_DIR = 'lock'
export const BLOB_DIR = 'blobs'
export const QUARANTINE_DIR = 'quarantine'

/**
 * The table of contents of a data directory, replaced as a whole.
 * A segment is listed before its first transaction is written, so that a lost one is noticed.
 */
const Manifest = z.strictObject({
  /** Version of the format of every file listed. */
  format: z.int().min(1),
  /** Drawn once; a restored backup keeps it. */
  store: z.string(),
  /** Last transaction held by the current snapshot, 0 when there is none. */
  snapshot: z.int().min(0),
  /** The snapshot before it, kept as a second footing, null when there is none. */
  previous: z.int().min(0).nullable(),
  /** First transaction of each journal segment kept, ascending; the last is the one that grows. */
  segments: z.array(z.int().min(1)).min(1),
  /** Last transaction at the last stop in order: the store once held that many, whatever its files say. */
  stopped: z.int().min(0).exactOptional(),
})
export type Manifest = z.infer<typeof Manifest>

export function snapshotFile(seq: number): string {
  return `snapshot-${seq}.ndjson`
}

export function segmentFile(firstSeq: number): string {
  return `journal-${firstSeq}.ndjson`
}

const NUMBERED = /^(snapshot|journal)-(\d+)\.ndjson$/

/** Snapshots and segments that lie in a directory, by number. */
export async function numberedFiles(disk: Disk, dir: string): Promise<{ snapshots: number[]; segments: number[] }> {
  const found: { snapshots: number[]; segments: number[] } = { snapshots: [], segments: [] }
  for (const name of await disk.list(dir)) {
    const match = NUMBERED.exec(name)
    if (match !== null) found[match[1] === 'snapshot' ? 'snapshots' : 'segments'].push(Number(match[2]))
  }
  return found
}

/** @returns undefined when the directory holds no store. @throws StoreDamaged, StoreFormatUnknown */
export async function readManifest(disk: Disk, dir: string, newest = FORMAT): Promise<Manifest | undefined> {
  const path = `${dir}/${MANIFEST_FILE}`
  const bytes = await readWhole(disk, path)
  if (bytes === undefined) return undefined
  const manifest = parseManifest(path, bytes)
  if (manifest.format > newest)
    throw new StoreFormatUnknown(`${dir} has format ${manifest.format}; this souk knows up to ${newest}. Upgrade souk`)
  return manifest
}

function parseManifest(path: string, bytes: Buffer): Manifest {
  try {
    return Manifest.parse(JSON.parse(bytes.toString()))
  } catch (error) {
    throw new StoreDamaged(path, 0, error instanceof Error ? error.message : 'not JSON')
  }
}

export async function writeManifest(disk: Disk, dir: string, manifest: Manifest): Promise<void> {
  await replaceFile(disk, { dir, name: MANIFEST_FILE }, `${JSON.stringify(manifest, undefined, 2)}\n`)
}
