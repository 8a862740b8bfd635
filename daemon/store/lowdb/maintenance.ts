import type { Disk } from '../disk.ts'
import type { State } from '../engine/rows.ts'
import { createMutex } from '../mutex.ts'
import { type Manifest, numberedFiles, segmentFile, snapshotFile, writeManifest } from './files.ts'
import type { Journal } from './journal.ts'
import { SLICE_REST_MS, writeSnapshot } from './snapshot.ts'
import type { Space } from './space.ts'

/** The journal is compacted above this size and above half of the live data. */
export const COMPACT_ABOVE_BYTES = 16 * 1024 * 1024
const COMPACT_ABOVE_SNAPSHOT_SHARE = 0.5

/** Snapshots and backups beside commits, one at a time. */
export type Maintenance = {
  manifest(): Manifest
  /** Starts a compaction if due; called after each flush. */
  consider(): void
  compact(): Promise<void>
  /** The same if the disk has room. */
  shrink(): Promise<void>
  /** Ends the segment and runs work on closed files, protected from compaction. */
  whileHeld<T>(work: (manifest: Manifest) => Promise<T>): Promise<T>
  /** Runs work without a concurrent compaction or backup. */
  alone<T>(work: () => Promise<T>): Promise<T>
  /** Cancels a snapshot and waits for work. */
  stop(): Promise<void>
  /** Records the last transaction of a stopped store. */
  recordStop(): Promise<void>
}

export type MaintenanceOptions = {
  readonly disk: Disk
  readonly dir: string
  readonly state: State
  readonly journal: Journal
  readonly space: Space
  readonly manifest: Manifest
  readonly snapshotBytes: number
  /** Last transaction in `state`. */
  readonly lastSeq: () => number
  readonly compactAboveBytes: number
}

export function createMaintenance(options: MaintenanceOptions): Maintenance {
  const { journal, space, lastSeq, compactAboveBytes } = options
  const turn = createMutex()
  const files = openFiles(options)
  /** Journal size of the next check; raised when the disk had no room. */
  let dueAtBytes = 0

  /** Size limit of the journal. */
  const limit = () => Math.max(compactAboveBytes, files.snapshotBytes() * COMPACT_ABOVE_SNAPSHOT_SHARE)

  async function compact(): Promise<void> {
    await turn.run(async () => {
      try {
        await files.snapshot()
      } catch (error) {
        journal.fail(error)
        throw error
      }
    })
  }

  async function compactIfItFits(): Promise<void> {
    const sizeBytes = journal.bytes()
    if (await space.fits(files.snapshotBytes() + sizeBytes)) await compact()
    dueAtBytes = limit() + journal.bytes()
  }

  function consider(): void {
    if (files.isStopping() || journal.failure() !== undefined) return
    if (journal.bytes() <= Math.max(limit(), dueAtBytes)) return
    dueAtBytes = Number.POSITIVE_INFINITY
    compactIfItFits().catch((error: unknown) => journal.fail(error))
  }

  return {
    manifest: files.manifest,
    consider,
    compact,
    shrink: compactIfItFits,
    alone: turn.run,
    whileHeld: (work) =>
      turn.run(async () => {
        await files.endSegment()
        return work(files.manifest())
      }),
    recordStop: async () => {
      const manifest = files.manifest()
      if (manifest.stopped !== lastSeq()) await files.replaceManifest({ ...manifest, stopped: lastSeq() })
    },
    stop: async () => {
      files.stop()
      await turn.run(() => Promise.resolve())
    },
  }
}

/** Files of the store: manifest, segments, snapshots. */
function openFiles(options: MaintenanceOptions) {
  const { disk, dir, state, journal, lastSeq } = options
  let { manifest, snapshotBytes } = options
  let isStopping = false

  async function replaceManifest(next: Manifest): Promise<void> {
    await writeManifest(disk, dir, next)
    manifest = next
  }

  function endSegment(): Promise<number> {
    return journal.switchSegment((firstSeq) =>
      replaceManifest({ ...manifest, segments: [...manifest.segments, firstSeq] }),
    )
  }

  async function settled(): Promise<number> {
    const seq = lastSeq()
    await journal.durable()
    return seq
  }

  async function snapshot(): Promise<void> {
    const seq = (await endSegment()) - 1
    if (seq === manifest.snapshot || isStopping) return
    const pace = { restMs: SLICE_REST_MS, isCancelled: () => isStopping }
    const written = await writeSnapshot({ disk, dir, state, format: manifest.format, seq, settled, ...pace })
    if (written === undefined) return
    snapshotBytes = written
    const { snapshot: previous, segments } = manifest
    const kept = segments.filter((first) => first > previous)
    await replaceManifest({ ...manifest, snapshot: seq, previous, segments: kept })
    journal.restartCount()
    await removeUnlisted(disk, dir, manifest)
  }

  return {
    manifest: () => manifest,
    snapshotBytes: () => snapshotBytes,
    replaceManifest,
    endSegment,
    snapshot,
    isStopping: () => isStopping,
    /** Cancels and prevents snapshots. */
    stop: () => {
      isStopping = true
    },
  }
}

/** Removes unlisted snapshots and segments; a crash leaves them for the next time. */
export async function removeUnlisted(disk: Disk, dir: string, manifest: Manifest): Promise<void> {
  const found = await numberedFiles(disk, dir)
  const snapshots = found.snapshots.filter((seq) => seq !== manifest.snapshot && seq !== manifest.previous)
  const segments = found.segments.filter((firstSeq) => !manifest.segments.includes(firstSeq))
  const unfinished = (await disk.list(dir)).filter((name) => name.endsWith('.tmp'))
  const names = [...snapshots.map(snapshotFile), ...segments.map(segmentFile), ...unfinished]
  for (const name of names) await disk.remove(`${dir}/${name}`)
}
