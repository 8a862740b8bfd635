import type { Disk } from '../disk.ts'
import type { State } from '../engine/rows.ts'
import { createMutex } from '../mutex.ts'
import { type Behind, isBehind } from './behind.ts'
import { type Manifest, numberedFiles, segmentFile, segmentsBehind, snapshotFile, writeManifest } from './files.ts'
import type { Journal } from './journal.ts'
import { SLICE_REST_MS, writeSnapshot } from './snapshot.ts'
import type { Space } from './space.ts'

/** The journal is compacted when it is larger than this and than half of the snapshot. */
export const COMPACT_ABOVE_BYTES = 16 * 1024 * 1024
const COMPACT_ABOVE_SNAPSHOT_SHARE = 0.5
/**
 * For a store with rows in LevelDB: above the limit, a flush starts when writers rest this long; above `FLUSH_ABOVE`
 * times the limit, at once. Above `WAIT_ABOVE` times the limit, writers wait for it.
 */
const REST_MS = 200
const FLUSH_ABOVE = 2
const WAIT_ABOVE = 3
/** Above this share of the limit, a stop flushes, so that the next start has little to replay. */
const FLUSH_AT_STOP_ABOVE = 0.1

/** Runs snapshots and backups, one at a time, while transactions go on. */
export type Maintenance = {
  manifest(): Manifest
  /** Starts a compaction if due; called after each flush. */
  consider(): void
  /** Undefined if writers may go on. Otherwise resolves when LevelDB has stored enough changes for them to go on. */
  room(): Promise<void> | undefined
  compact(): Promise<void>
  shrink(): Promise<void>
  /** Ends the newest segment, then runs `work` on the closed files. Compaction waits until `work` has ended. */
  whileHeld<T>(work: (manifest: Manifest) => Promise<T>): Promise<T>
  /** Runs work without a concurrent compaction or backup. */
  alone<T>(work: () => Promise<T>): Promise<T>
  /** Cancels a running snapshot, and waits until all other work has ended. Writes what waits for LevelDB. */
  stop(): Promise<void>
  /** Records the last transaction of a stopped store. */
  recordStop(): Promise<void>
}

export type MaintenanceOptions = {
  readonly disk: Disk
  readonly dir: string
  readonly kept: State | Behind
  readonly journal: Journal
  readonly space: Space
  readonly manifest: Manifest
  readonly snapshotBytes: number
  /** Number of the last transaction in the rows. */
  readonly lastSeq: () => number
  readonly compactAboveBytes: number
}

export function createMaintenance(options: MaintenanceOptions): Maintenance {
  const { journal, lastSeq, kept } = options
  const turn = createMutex()
  const files = openFiles(options)
  const fold = () => (isBehind(kept) ? flush(files, options, kept) : snapshot(files, options, kept))
  let folding: Promise<void> = Promise.resolve()

  function compact(): Promise<void> {
    folding = turn.run(fold)
    folding.catch(journal.fail)
    return folding
  }

  const pace = paceOf(options, files, compact)
  return {
    manifest: files.manifest,
    consider: pace.consider,
    // If the compaction fails, the journal reports it to writers.
    room: () => (pace.isFull() ? folding.catch(() => undefined) : undefined),
    compact,
    shrink: pace.compactIfItFits,
    alone: turn.run,
    whileHeld: (work) =>
      turn.run(async () => {
        await files.endSegment()
        return work(files.manifest())
      }),
    recordStop: () => recordStop(files, kept, lastSeq()),
    stop: async () => {
      await pace.stop()
      files.stop()
      await turn.run(() => Promise.resolve())
    },
  }
}

/** Decides when the journal is compacted. */
function paceOf(
  { journal, space, compactAboveBytes, kept }: MaintenanceOptions,
  files: Files,
  compact: () => Promise<void>,
) {
  /** Journal size above which a compaction is tried; higher if the disk had no room for the last compaction. */
  let dueAtBytes = 0
  let rest: NodeJS.Timeout | undefined
  const isLevel = isBehind(kept)

  const limit = () => Math.max(compactAboveBytes, files.snapshotBytes() * COMPACT_ABOVE_SNAPSHOT_SHARE)

  async function compactIfItFits(): Promise<void> {
    const hasRoom = await space.fits(files.snapshotBytes() + journal.bytes())
    if (hasRoom) await compact()
    dueAtBytes = hasRoom && isLevel ? 0 : limit() + journal.bytes()
  }

  function begin(): void {
    if (files.isStopping() || journal.failure() !== undefined) return
    dueAtBytes = Number.POSITIVE_INFINITY
    compactIfItFits().catch(journal.fail)
  }

  return {
    compactIfItFits,
    isFull: () => isLevel && journal.bytes() > limit() * WAIT_ABOVE,
    consider(): void {
      clearTimeout(rest)
      const dueBytes = Math.max(limit(), dueAtBytes)
      if (journal.bytes() <= dueBytes) return
      if (isLevel && journal.bytes() <= dueBytes * FLUSH_ABOVE) rest = setTimeout(begin, REST_MS).unref()
      else begin()
    },
    async stop(): Promise<void> {
      clearTimeout(rest)
      const isDue = isLevel && journal.bytes() > limit() * FLUSH_AT_STOP_ABOVE
      if (isDue && journal.failure() === undefined) await compactIfItFits()
    },
  }
}

type Files = ReturnType<typeof openFiles>

async function recordStop(files: Files, kept: State | Behind, stopped: number): Promise<void> {
  const manifest = files.manifest()
  if (isBehind(kept)) await files.listed({ ...withoutSnapshots(manifest, kept.level.reflects()), stopped })
  else if (manifest.stopped !== stopped) await files.replaceManifest({ ...manifest, stopped })
}

function openFiles({ disk, dir, journal, ...options }: MaintenanceOptions) {
  let { manifest, snapshotBytes } = options
  let isStopping = false

  async function replaceManifest(next: Manifest): Promise<void> {
    await writeManifest(disk, dir, next)
    manifest = next
  }

  return {
    manifest: () => manifest,
    snapshotBytes: () => snapshotBytes,
    replaceManifest,
    endSegment: () =>
      journal.switchSegment((firstSeq) => replaceManifest({ ...manifest, segments: [...manifest.segments, firstSeq] })),
    /** Replaces the manifest, then removes files that the new one does not list. */
    async listed(next: Manifest): Promise<void> {
      await replaceManifest(next)
      await removeUnlisted(disk, dir, next)
    },
    /** Records that the journal was folded into a snapshot or LevelDB, and restarts its byte count. */
    async folded(next: Manifest, sizeBytes: number): Promise<void> {
      snapshotBytes = sizeBytes
      journal.restartCount()
      await this.listed(next)
    },
    isStopping: () => isStopping,
    /** Cancels and prevents snapshots. */
    stop: () => {
      isStopping = true
    },
  }
}

/** Folds the journal into a new snapshot; the previous snapshot stays as a fallback. */
async function snapshot(files: Files, { disk, dir, journal, lastSeq }: MaintenanceOptions, state: State) {
  const seq = (await files.endSegment()) - 1
  const { format, snapshot: previous } = files.manifest()
  if (seq === previous || files.isStopping()) return
  async function settled(): Promise<number> {
    const last = lastSeq()
    await journal.durable()
    return last
  }
  const pace = { restMs: SLICE_REST_MS, isCancelled: files.isStopping }
  const sizeBytes = await writeSnapshot({ disk, dir, state, format, seq, settled, ...pace })
  if (sizeBytes === undefined) return
  const segments = files.manifest().segments.filter((first) => first > previous)
  await files.folded({ ...files.manifest(), snapshot: seq, previous, segments }, sizeBytes)
}

/**
 * Writes the changes since the last run to LevelDB. The journal of these changes stays until the next run, as a
 * fallback for rows that are no longer in memory.
 */
async function flush(files: Files, { journal, lastSeq, dir }: MaintenanceOptions, { front, level }: Behind) {
  if (files.isStopping()) return
  const reflected = level.reflects()
  await front.flush(lastSeq(), async () => {
    // LevelDB must never be ahead of the journal on disk.
    await journal.durable()
    await files.endSegment()
    return segmentsBehind(files.manifest().segments, reflected).map((first) => `${dir}/${segmentFile(first)}`)
  })
  const manifest = files.manifest()
  await files.folded(manifest.rows === 'moved' ? manifest : withoutSnapshots(manifest, reflected), 0)
}

/** The manifest without snapshots, and without segments that LevelDB has stored. */
function withoutSnapshots(manifest: Manifest, reflected: number): Manifest {
  const segments = segmentsBehind(manifest.segments, reflected)
  return { ...manifest, rows: 'level', snapshot: 0, previous: null, segments }
}

/** Removes unlisted snapshots and segments. If the process crashes here, the next call removes the rest. */
export async function removeUnlisted(disk: Disk, dir: string, manifest: Manifest): Promise<void> {
  const found = await numberedFiles(disk, dir)
  const snapshots = found.snapshots.filter((seq) => seq !== manifest.snapshot && seq !== manifest.previous)
  const segments = found.segments.filter((firstSeq) => !manifest.segments.includes(firstSeq))
  const unfinished = (await disk.list(dir)).filter((name) => name.endsWith('.tmp'))
  const names = [...snapshots.map(snapshotFile), ...segments.map(segmentFile), ...unfinished]
  for (const name of names) await disk.remove(`${dir}/${name}`)
}
