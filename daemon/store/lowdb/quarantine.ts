import { type Disk, type DiskFile, writeFully } from '../disk.ts'
import { type Manifest, QUARANTINE_DIR, ROWS_DIR, segmentFile, snapshotFile, writeManifest } from './files.ts'
import { scanLines, unframe } from './frame.ts'
import { freshSegment } from './journal.ts'

const COPY_CHUNK_BYTES = 1024 * 1024

/** Where the journal becomes unreliable. */
export type Cut = { readonly firstSeq: number; readonly offset: number }

export type CutPlan = {
  readonly disk: Disk
  readonly dir: string
  readonly manifest: Manifest
  /** Snapshot to use. */
  readonly snapshot: number
  readonly lastSeq: number
  readonly cut: Cut | undefined
  readonly damagedSnapshots: readonly number[]
}

export type Quarantined = {
  readonly quarantined: readonly string[]
  readonly droppedBytes: number
  readonly droppedTransactions: number
}

/** Moves everything after the cut to `quarantine/`, then updates the manifest. */
export async function cutBehind(plan: CutPlan): Promise<Quarantined> {
  const { disk, dir, manifest, cut } = plan
  const log = quarantineLog(disk, dir)
  for (const seq of plan.damagedSnapshots) await log.moveFile(snapshotFile(seq))
  for (const firstSeq of manifest.segments.filter((first) => cut !== undefined && first >= cut.firstSeq)) {
    if (firstSeq === cut?.firstSeq && cut.offset > 0) await log.moveRest(segmentFile(firstSeq), cut.offset)
    else await log.moveFile(segmentFile(firstSeq))
  }
  const segments = manifest.segments.filter(
    (first) => cut === undefined || first < cut.firstSeq || (first === cut.firstSeq && cut.offset > 0),
  )
  if (!segments.some((first) => first > plan.snapshot)) {
    segments.push(plan.lastSeq + 1)
    await (await freshSegment(disk, dir, plan.lastSeq + 1)).close()
  }
  const previous = plan.snapshot === manifest.snapshot ? manifest.previous : null
  await writeManifest(disk, dir, { ...manifest, snapshot: plan.snapshot, previous, segments })
  return log.report()
}

/** Moves the rows, snapshots and segments of a store to `quarantine/`. */
export async function quarantineAll(plan: Omit<CutPlan, 'cut'>): Promise<Quarantined> {
  const { disk, dir, manifest } = plan
  const log = quarantineLog(disk, dir)
  const snapshots = [manifest.snapshot, manifest.previous ?? 0].filter((seq) => seq > 0)
  const rows = manifest.rows === undefined ? [] : [ROWS_DIR]
  for (const name of [...rows, ...snapshots.map(snapshotFile), ...manifest.segments.map(segmentFile)])
    await log.moveFile(name)
  return log.report()
}

/** Moves files to `quarantine/` and records them; skips missing ones. */
export function quarantineLog(disk: Disk, dir: string) {
  const quarantined: string[] = []
  let droppedBytes = 0
  let droppedTransactions = 0

  async function freeName(name: string): Promise<string> {
    const taken = new Set(await disk.list(`${dir}/${QUARANTINE_DIR}`))
    let candidate = name
    for (let n = 2; taken.has(candidate); n += 1) candidate = `${name}.${n}`
    return candidate
  }

  async function account(name: string, sizeBytes: number, transactions: number): Promise<void> {
    quarantined.push(`${QUARANTINE_DIR}/${name}`)
    droppedBytes += sizeBytes
    droppedTransactions += transactions
    await disk.syncDir(`${dir}/${QUARANTINE_DIR}`)
    await disk.syncDir(dir)
  }

  async function moveFile(name: string): Promise<void> {
    const found = await disk.stat(`${dir}/${name}`)
    if (found === undefined) return
    const transactions = name.startsWith('journal') ? await wholeLines(disk, `${dir}/${name}`) : 0
    const target = await freeName(name)
    await disk.rename(`${dir}/${name}`, `${dir}/${QUARANTINE_DIR}/${target}`)
    await account(target, found.sizeBytes, transactions)
  }

  async function moveRest(name: string, offset: number): Promise<void> {
    const target = await freeName(`${name}.from-${offset}`)
    await using source = await disk.open(`${dir}/${name}`, 'extend')
    await using rest = await disk.open(`${dir}/${QUARANTINE_DIR}/${target}`, 'create')
    const sizeBytes = await copyRest(source, rest, offset)
    await source.truncate(offset)
    await source.datasync()
    await account(target, sizeBytes, await wholeLines(disk, `${dir}/${QUARANTINE_DIR}/${target}`))
  }

  return { moveFile, moveRest, report: (): Quarantined => ({ quarantined, droppedBytes, droppedTransactions }) }
}

async function copyRest(source: DiskFile, rest: DiskFile, offset: number): Promise<number> {
  const chunk = Buffer.alloc(COPY_CHUNK_BYTES)
  let done = 0
  for (;;) {
    const read = await source.read(chunk, offset + done)
    if (read === 0) break
    await writeFully(rest, chunk.subarray(0, read), done)
    done += read
  }
  await rest.datasync()
  return done
}

async function wholeLines(disk: Disk, path: string): Promise<number> {
  await using file = await disk.open(path, 'read')
  let whole = 0
  await scanLines(file, (line) => {
    if (unframe(line) !== undefined) whole += 1
    return true
  })
  return whole
}
