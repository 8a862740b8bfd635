import type { Disk } from '../disk.ts'
import type { State } from '../engine/rows.ts'
import { createMutex } from '../mutex.ts'
import { type Manifest, numberedFiles, segmentFile, snapshotFile, writeManifest } from './files.ts'
import type { Journal } from './journal.ts'
import { SLICE_REST_MS, writeSnapshot } from './snapshot.ts'
import type { Space } from './space.ts'

/** The journal is folded into a snapshot when it has grown beyond this and beyond half of what lives: the rest of it is garbage. */
export const COMPACT_ABOVE_BYTES = 16 * 1024 * 1024
const COMPACT_ABOVE_SNAPSHOT_SHARE = 0.5

/** Work on the files beside the commits: snapshots, backups. One at a time. */
export type Maintenance = {
  manifest(): Manifest
  /** Starts a compaction when the journal has grown enough; called after every flush. */
  consider(): void
  compact(): Promise<void>
  /** The same where the disk has room for it. */
  shrink(): Promise<void>
  /** Ends the current segment, then runs work on the closed files while no compaction removes any. */
  whileHeld<T>(work: (manifest: Manifest) => Promise<T>): Promise<T>
  /** Runs work while neither a compaction nor a backup runs. */
  alone<T>(work: () => Promise<T>): Promise<T>
  /** Cancels a snapshot under way and waits for whatever runs. */
  stop(): Promise<void>
  /** Writes down how far the store got, once it accepts nothing more. */
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
  /** Number of the last transaction in `state`. */
  readonly lastSeq: () => number
  readonly compactAboveBytes: number
}

export function createMaintenance(options: MaintenanceOptions): Maintenance {
  const { journal, space, lastSeq, compactAboveBytes } = options
  const turn = createMutex()
  const files = openFiles(options)
  /** Journal size at which the next look is due; raised when a look found no room. */
  let dueAtBytes = 0

  /** Size beyond which the journal is folded. */
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

/** Manifest, segments and snapshots: what lists the files of the store, and what writes new ones. */
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
    /** Cancels a snapshot under way; none is written any more. */
    stop: () => {
      isStopping = true
    },
  }
}

/** Removes snapshots and segments that no longer belong to the store; a crash before this leaves them for the next time. */
export async function removeUnlisted(disk: Disk, dir: string, manifest: Manifest): Promise<void> {
  const found = await numberedFiles(disk, dir)
  const snapshots = found.snapshots.filter((seq) => seq !== manifest.snapshot && seq !== manifest.previous)
  const segments = found.segments.filter((firstSeq) => !manifest.segments.includes(firstSeq))
  const unfinished = (await disk.list(dir)).filter((name) => name.endsWith('.tmp'))
  const names = [...snapshots.map(snapshotFile), ...segments.map(segmentFile), ...unfinished]
  for (const name of names) await disk.remove(`${dir}/${name}`)
}
