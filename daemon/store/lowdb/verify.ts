import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { isBlobName } from '../blobs.ts'
import { type Disk, realDisk } from '../disk.ts'
import { StoreMisuse } from '../errors.ts'
import { migrations as allMigrations } from '../migrations.ts'
import type { AnyCollection, AnyIndex, Row } from '../port.ts'
import { type StoreFolder, streamRows } from './behind.ts'
import { BLOB_DIR, readManifest } from './files.ts'
import type { TornTail } from './recover.ts'

export type VerifyOptions = StoreFolder & { readonly visit?: (collection: string, row: Row) => void }

export type VerifyReport = {
  readonly storeId: string
  readonly seq: number
  readonly records: number
  readonly counts: Readonly<Record<string, number>>
  readonly torn: TornTail | undefined
  readonly blobs: number
  /** Blobs whose content does not match their name. */
  readonly damagedBlobs: readonly string[]
  /** Blobs that no row names. */
  readonly unnamedBlobs: readonly string[]
  readonly missingBlobs: readonly string[]
}

/**
 * Reads a whole store without changes. For stopped stores and backups.
 * @throws StoreDamaged, StoreFormatUnknown; StoreMisuse without a store
 */
export async function verifyStore(options: VerifyOptions): Promise<VerifyReport> {
  const { dir, collections, visit, openDb, disk = realDisk, migrations = allMigrations } = options
  const manifest = await readManifest(disk, dir, migrations.length + 1)
  if (manifest === undefined) throw new StoreMisuse(`${dir} is not a store`)
  const byName = new Map(collections.map((collection) => [collection.name, collection]))
  const counts = Object.fromEntries(collections.map(({ name }) => [name, 0]))
  const named = new Set<string>()
  const job = { disk, dir, manifest, collections, migrations, openDb }
  const { seq, torn } = await streamRows({
    ...job,
    visit(name, _key, row) {
      visit?.(name, row)
      counts[name] = (counts[name] ?? 0) + 1
      for (const blob of blobsOf(byName.get(name), row)) named.add(blob)
    },
  })
  const records = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const found = { ...(await verifyBlobs(disk, dir)), ...(await matchBlobs({ disk, dir }, named)) }
  return { storeId: manifest.store, seq, records, counts, torn, ...found }
}

/** Blobs of a row: those named in the fields of the indexes `file` and `…_file`. */
function blobsOf(collection: AnyCollection | undefined, row: Row): string[] {
  const members: Readonly<Record<string, unknown>> = row
  return (collection?.indexes ?? [])
    .filter(({ name, where }) => /(^|_)file$/.test(name) && (!where || isHeld(members, where)))
    .flatMap(({ fields }) => fields.map((field) => members[field]))
    .filter((value): value is string => typeof value === 'string' && isBlobName(value))
}

function isHeld(members: Readonly<Record<string, unknown>>, where: NonNullable<AnyIndex['where']>): boolean {
  return 'equals' in where ? members[where.field] === where.equals : members[where.field] != null
}

async function matchBlobs({ disk, dir }: { disk: Disk; dir: string }, named: ReadonlySet<string>) {
  const there = new Set((await disk.list(`${dir}/${BLOB_DIR}`)).filter(isBlobName))
  return {
    unnamedBlobs: [...there].filter((name) => !named.has(name)),
    missingBlobs: [...named].filter((name) => !there.has(name)),
  }
}

/** Reads the folder directly, because opening it as a blob store would remove unfinished uploads. */
async function verifyBlobs(disk: Disk, dir: string): Promise<{ blobs: number; damagedBlobs: string[] }> {
  const names = (await disk.list(`${dir}/${BLOB_DIR}`)).filter(isBlobName)
  const damagedBlobs: string[] = []
  for (const name of names) {
    const hash = createHash('sha256')
    for await (const chunk of createReadStream(`${dir}/${BLOB_DIR}/${name}`)) hash.update(chunk)
    if (hash.digest('hex') !== name) damagedBlobs.push(name)
  }
  return { blobs: names.length, damagedBlobs }
}
