import type { Disk, DiskFile } from '../disk.ts'
import { type Migration, migrated } from '../migrations.ts'
import type { AnyCollection } from '../port.ts'
import { filesOf, type Manifest, QUARANTINE_DIR, sizeOf, snapshotFile } from './files.ts'
import { scanLines, unframe } from './frame.ts'
import { beginBehind } from './journal.ts'
import { type Quarantined, quarantineAll } from './quarantine.ts'
import type { StoredTx } from './recover.ts'
import { isHeader, snapshotLines } from './snapshot.ts'

/** A store is rewritten if its files are larger than this factor times the live data plus `MIN_GARBAGE_BYTES`. */
const GARBAGE_FACTOR = 2
const MIN_GARBAGE_BYTES = 4 * 1024 * 1024
/** Between calls of `rest`, lines of about this many bytes are processed. */
const WALK_BYTES = 4 * 1024 * 1024
const MB = 1024 * 1024

export type GarbageJob = {
  readonly disk: Disk
  readonly dir: string
  readonly manifest: Manifest
  readonly collections: readonly AnyCollection[]
  readonly migrations: readonly Migration[]
  /** Last transaction. */
  readonly seq: number
  readonly isNeeded: (collection: string, row: Readonly<Record<string, unknown>>) => boolean
}

type Write = { readonly collection: string; readonly key: string; readonly row: unknown }

/**
 * Writes the live rows into one snapshot in two passes; memory holds only their keys.
 * @returns undefined, without changes, if there is little to gain
 */
export async function dropGarbage(job: GarbageJob): Promise<(Quarantined & { finding: string }) | undefined> {
  const { disk, dir, manifest, seq } = job
  const names = filesOf(manifest)
  const wholeBytes = await sizeOf(disk, dir, names)
  if (wholeBytes < MIN_GARBAGE_BYTES) return undefined
  const temporary = `${dir}/${snapshotFile(seq)}.tmp`
  const liveBytes = await writeLiving(job, names, temporary)
  if (wholeBytes < liveBytes * GARBAGE_FACTOR + MIN_GARBAGE_BYTES) {
    await disk.remove(temporary)
    return undefined
  }
  await disk.makeDir(`${dir}/${QUARANTINE_DIR}`)
  const moved = await quarantineAll({ disk, dir, manifest, snapshot: seq, lastSeq: seq, damagedSnapshots: [] })
  await disk.rename(temporary, `${dir}/${snapshotFile(seq)}`)
  await beginBehind(disk, dir, { ...manifest, format: job.migrations.length + 1, snapshot: seq })
  const finding = `the store held ${inMb(wholeBytes)} MB, of which ${inMb(liveBytes)} MB were still needed`
  return { ...moved, droppedTransactions: 0, finding }
}

function inMb(bytes: number): string {
  return (bytes / MB).toFixed(1)
}

/** @returns bytes written */
async function writeLiving(job: GarbageJob, names: readonly string[], path: string): Promise<number> {
  const { disk, seq, migrations } = job
  const newest = await newestWrites(job, names)
  await disk.remove(path)
  await using file = await disk.open(path, 'create')
  const lines = await snapshotLines(file, { format: migrations.length + 1, seq })
  let number = 0
  await walk(job, names, {
    write: ({ collection, key, row }) => {
      number += 1
      if (newest.get(nameOf(collection, key)) === number && row !== null) lines.add(collection, row)
    },
    rest: lines.flush,
  })
  return await lines.end(seq) // the file closes behind it
}

function nameOf(collection: string, key: string): string {
  return `${collection}\n${key}`
}

/** For each needed row, the position of its last write among all writes. */
async function newestWrites(job: GarbageJob, names: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const newest = new Map<string, number>()
  let number = 0
  await walk(job, names, {
    write: ({ collection, key, row }) => {
      number += 1
      const name = nameOf(collection, key)
      const isLiving = row !== null && job.isNeeded(collection, row as Readonly<Record<string, unknown>>)
      if (isLiving) newest.set(name, number)
      else newest.delete(name)
    },
    rest: async () => undefined,
  })
  return newest
}

type Walker = { readonly write: (write: Write) => void; readonly rest: () => Promise<void> }

/** Passes all writes, migrated and in order, to `walker.write`. Runs `walker.rest` between lines. */
async function walk(job: GarbageJob, names: readonly string[], walker: Walker): Promise<void> {
  for (const name of names) {
    await using file = await job.disk.open(`${job.dir}/${name}`, 'read')
    await walkFile(job, file, walker)
  }
}

async function walkFile(job: GarbageJob, file: DiskFile, { write, rest }: Walker): Promise<void> {
  const reader = lineReader(job, write)
  let from = 0
  for (let isDone = false; !isDone; ) {
    let bytes = 0
    isDone = true
    const end = await scanLines(
      file,
      (line) => {
        if (bytes >= WALK_BYTES) {
          isDone = false
          return false
        }
        bytes += line.end - line.start
        reader(unframe(line))
        return true
      },
      { from },
    )
    from = end.lastLineEnd
    await rest()
  }
}

function lineReader({ manifest, migrations, collections }: GarbageJob, write: Walker['write']) {
  let format = manifest.format
  const keys = new Map(collections.map(({ name, key }) => [name, key]))

  function writeMigrated(collection: string, key: string | undefined, stored: unknown): void {
    const at = migrated(migrations.slice(format - 1), { collection, row: stored })
    const row = at.row as Readonly<Record<string, unknown>> | null
    const name = key ?? String(row?.[keys.get(at.collection) ?? ''])
    write({ collection: at.collection, key: name, row })
  }

  return (json: string | undefined): void => {
    if (json === undefined) return
    const value: unknown = JSON.parse(json)
    if (Array.isArray(value)) writeMigrated(value[0] as string, undefined, value[1])
    else if (isTx(value)) for (const [collection, key, row] of value.w) writeMigrated(collection, key, row)
    else if (isHeader(value)) format = value.format
  }
}

function isTx(value: unknown): value is StoredTx {
  return typeof value === 'object' && value !== null && 'w' in value
}
