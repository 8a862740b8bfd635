import type { RepairReport } from '../../../src/model/start.ts'
import { type Disk, realDisk } from '../disk.ts'
import { createState, type State } from '../engine/rows.ts'
import { StoreDamaged, StoreMisuse } from '../errors.ts'
import { migrations as allMigrations, type Migration } from '../migrations.ts'
import { ownerOfRows, type StoreFolder, salvageRows, streamRows } from './behind.ts'
import {
  type Manifest,
  numberedFiles,
  QUARANTINE_DIR,
  ROWS_DIR,
  readManifest,
  segmentFile,
  segmentsBehind,
  snapshotFile,
} from './files.ts'
import { scanLines, unframe } from './frame.ts'
import { dropGarbage } from './garbage.ts'
import { beginBehind } from './journal.ts'
import { createLoader, discarding, intoState, type Loader } from './load.ts'
import { takeLock } from './lock.ts'
import { type Cut, cutBehind, type Quarantined, quarantineAll } from './quarantine.ts'
import type { StoredTx } from './recover.ts'
import { readSnapshot, salvageSnapshot, writeSnapshot } from './snapshot.ts'

export type RepairOptions = StoreFolder & {
  /** Whether a row is needed (default: all). */
  readonly isNeeded?: (collection: string, row: Readonly<Record<string, unknown>>) => boolean
  /** Makes an id for the store, if the manifest is lost. */
  readonly newStoreId: () => string
}

/**
 * Repairs a store: cuts the journal at the first bad line, uses the previous snapshot if the current one is damaged,
 * and moves the rest to `quarantine/`.
 * @throws StoreLocked while a daemon runs, StoreMisuse if there is nothing to repair from.
 */
export async function repairStore(options: RepairOptions): Promise<RepairReport> {
  const lock = takeLock(options.dir)
  try {
    const { disk = realDisk, migrations = allMigrations } = options
    return await repairLocked({ ...options, disk, migrations })
  } finally {
    lock.release()
  }
}

type Input = RepairOptions & { readonly disk: Disk; readonly migrations: readonly Migration[] }

async function repairLocked(input: Input): Promise<RepairReport> {
  const { disk, dir, migrations } = input
  const findings: string[] = []
  const manifest = await manifestOrRebuilt(input, findings)
  if (findings.length === 0) {
    const damage = await damageOf(input, manifest)
    if (typeof damage === 'number') return withoutGarbage(input, manifest, damage)
    findings.push(damage)
  }
  await disk.makeDir(`${dir}/${QUARANTINE_DIR}`)
  const footing = await bestFooting(input, manifest, findings)
  const { lastSeq: seq, droppedRows } = footing
  const moved = footing.isStrict
    ? await cutBehind({ disk, dir, manifest, ...footing })
    : await writeAnew(input, { ...manifest, format: migrations.length + 1 }, footing)
  return { repaired: true, seq, findings, droppedRows, ...moved }
}

/** Rewrites a store that is mostly garbage, so that it fits into memory. */
async function withoutGarbage(input: Input, manifest: Manifest, seq: number): Promise<RepairReport> {
  // LevelDB removes overwritten rows itself.
  if (manifest.rows !== undefined) return { ...nothingDone, seq }
  const { isNeeded = () => true, ...job } = input
  const dropped = await dropGarbage({ ...job, isNeeded, manifest, seq })
  if (dropped === undefined) return { ...nothingDone, seq }
  const { finding, ...moved } = dropped
  return { repaired: true, seq, findings: [finding], droppedRows: 0, ...moved }
}

/** Writes a state, from which rows were omitted, as a new store; the old files go to quarantine. */
async function writeAnew(
  input: Input,
  manifest: Manifest,
  footing: Footing & { isStrict: false },
): Promise<Quarantined> {
  const { disk, dir } = input
  const { state, lastSeq: seq } = footing
  const moved = await quarantineAll({ disk, dir, manifest, ...footing })
  await writeSnapshot({ disk, dir, state, format: manifest.format, seq })
  const { rows: _level, ...rest } = manifest
  await beginBehind(disk, dir, { ...rest, snapshot: seq })
  return moved
}

const nothingDone: RepairReport = {
  repaired: false,
  seq: 0,
  findings: [],
  quarantined: [],
  droppedBytes: 0,
  droppedTransactions: 0,
  droppedRows: 0,
}

/** Number of the last transaction, or a sentence about the damage. A torn tail is no damage. */
async function damageOf(input: Input, manifest: Manifest): Promise<number | string> {
  try {
    return (await streamRows({ ...input, manifest })).seq
  } catch (error) {
    if (error instanceof StoreDamaged) return error.message
    throw error
  }
}

async function manifestOrRebuilt(input: Input, findings: string[]): Promise<Manifest> {
  const { disk, dir, migrations, newStoreId } = input
  const found = await numberedFiles(disk, dir)
  const segments = found.segments.sort((a, b) => a - b)
  try {
    const manifest = await readManifest(disk, dir, migrations.length + 1)
    if (manifest !== undefined)
      return { ...manifest, segments: [...new Set([...manifest.segments, ...segments])].sort((a, b) => a - b) }
    findings.push('MANIFEST.json is missing')
  } catch (error) {
    if (!(error instanceof StoreDamaged)) throw error
    findings.push(error.message)
  }
  if (segments.length === 0) throw new StoreMisuse(`${dir} has no journal to repair`)
  const [snapshot = 0, previous = null] = found.snapshots.sort((a, b) => b - a)
  const owner = await ownerOfRows(dir, input.openDb)
  const rebuilt = { format: migrations.length + 1, store: owner ?? newStoreId(), snapshot, previous, segments }
  return owner === undefined ? rebuilt : { ...rebuilt, rows: 'level' }
}

/** A usable snapshot and the reliable part of the journal. If rows were omitted, the store must be rewritten. */
type Footing = ({ readonly isStrict: true } | { readonly isStrict: false; readonly state: State }) & {
  readonly snapshot: number
  readonly lastSeq: number
  readonly droppedRows: number
  readonly cut: Cut | undefined
  readonly damagedSnapshots: readonly number[]
}

async function bestFooting(input: Input, manifest: Manifest, findings: string[]): Promise<Footing> {
  const salvaged = manifest.rows && (await rowsFooting(input, manifest))
  if (salvaged) return salvaged
  const damagedSnapshots: number[] = []
  const candidates = [manifest.snapshot, ...(manifest.previous === null ? [] : [manifest.previous])]
  for (const snapshot of candidates) {
    const through = await strictSnapshot(input, snapshot, findings)
    if (through === undefined) {
      damagedSnapshots.push(snapshot)
      continue
    }
    const walked = await walkSegments(input, manifest, { loader: discarding, snapshot })
    if (walked.lastSeq < through) {
      findings.push(`${snapshotFile(snapshot)} has rows up to ${through}, but the journal ends at ${walked.lastSeq}`)
      continue
    }
    return { snapshot, ...walked, isStrict: true, droppedRows: 0, damagedSnapshots }
  }
  return salvagedFooting(input, manifest, damagedSnapshots)
}

/** Rows in LevelDB and the later journal; undefined if only files from before the move to LevelDB are readable. */
async function rowsFooting(input: Input, manifest: Manifest): Promise<Footing | undefined> {
  const { dir, migrations, collections, openDb } = input
  const state = createState(collections)
  const loader = createLoader(intoState(state), migrations.slice(manifest.format - 1))
  const found = await salvageRows({ dir, store: manifest.store, collections, openDb, loader })
  if (found) {
    const walked = await walkSegments(input, manifest, { loader, snapshot: found.reflects })
    return { ...walked, snapshot: 0, state, isStrict: false, droppedRows: found.lost, damagedSnapshots: [] }
  }
  if (manifest.snapshot > 0 || manifest.segments[0] === 1) return undefined
  throw new StoreMisuse(`the rows in ${dir}/${ROWS_DIR} cannot be read and have no copy: run souk restore`)
}

async function salvagedFooting(
  input: Input,
  manifest: Manifest,
  damagedSnapshots: readonly number[],
): Promise<Footing> {
  const { disk, dir, migrations } = input
  const state = createState(input.collections)
  const { snapshot } = manifest
  const loaderOf = (format: number) => createLoader(intoState(state), migrations.slice(format - 1))
  const droppedRows =
    snapshot === 0 ? 0 : await salvageSnapshot(disk, dir, { seq: snapshot, format: manifest.format, loaderOf })
  const loader = loaderOf(manifest.format)
  const walked = await walkSegments(input, manifest, { loader, snapshot })
  return { snapshot, state, ...walked, isStrict: false, droppedRows, damagedSnapshots }
}

/** @returns the transaction that replay must reach; undefined if the snapshot is damaged */
async function strictSnapshot(input: Input, snapshot: number, findings: string[]): Promise<number | undefined> {
  if (snapshot === 0) return 0
  const { disk, dir } = input
  try {
    return (await readSnapshot(disk, dir, { seq: snapshot, loaderOf: () => discarding })).through
  } catch (error) {
    if (!(error instanceof StoreDamaged)) throw error
    if (!findings.includes(error.message)) findings.push(error.message)
    return undefined
  }
}

/** Replays segments up to the first bad byte. */
async function walkSegments(
  input: Input,
  manifest: Manifest,
  { loader, ...from }: { loader: Loader; snapshot: number },
): Promise<{ lastSeq: number; cut: Cut | undefined }> {
  const { disk, dir } = input
  const segments = segmentsBehind(manifest.segments, from.snapshot)
  let nextSeq = Math.min(from.snapshot + 1, segments[0] ?? Number.POSITIVE_INFINITY)
  const lastSeq = (): number => Math.max(nextSeq - 1, from.snapshot)
  for (const firstSeq of segments) {
    const path = `${dir}/${segmentFile(firstSeq)}`
    if (firstSeq !== nextSeq || (await disk.stat(path)) === undefined)
      return { lastSeq: lastSeq(), cut: { firstSeq, offset: 0 } }
    const apply = (tx: StoredTx): boolean => {
      if (tx.s !== nextSeq) return false
      if (tx.s > from.snapshot) for (const [collection, key, row] of tx.w) loader.put(collection, key, row)
      nextSeq += 1
      return true
    }
    const offset = await goodBytes(disk, path, apply)
    if (offset !== undefined) return { lastSeq: lastSeq(), cut: { firstSeq, offset } }
  }
  return { lastSeq: lastSeq(), cut: undefined }
}

/** @returns the size of a segment's undamaged beginning; undefined if the whole segment is undamaged */
async function goodBytes(disk: Disk, path: string, apply: (tx: StoredTx) => boolean): Promise<number | undefined> {
  await using file = await disk.open(path, 'read')
  let bad: number | undefined
  const end = await scanLines(file, (line) => {
    const json = unframe(line)
    if (json !== undefined && apply(JSON.parse(json) as StoredTx)) return true
    bad = line.offset
    return false
  })
  return bad ?? (end.lastLineEnd < end.sizeBytes ? end.lastLineEnd : undefined)
}
