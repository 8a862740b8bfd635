import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { circleUsdc } from '../../../src/core/authorization.ts'
import { AppError } from '../../../src/core/error.ts'
import { MAX_PRODUCT_BYTES } from '../../../src/core/limits.ts'
import { ENGINES_SEEN } from '../../engines/seen.ts'
import { IDENTITY } from '../../kernel/identity.ts'
import { settings } from '../../kernel/rows.ts'
import { sandboxTokens } from '../../ports/chain/sandbox/ledger.ts'
import { type BlobStore, openBlobs } from '../../store/blobs.ts'
import type { AnyRow } from '../../store/engine/order.ts'
import { BLOB_DIR } from '../../store/lowdb/files.ts'
import { readWhole, type WholeTable } from '../../store/lowdb/whole.ts'
import { FORMAT } from '../../store/migrations.ts'
import type { AnyCollection } from '../../store/port.ts'
import { payments } from '../payments/rows.ts'
import { VENDOR } from '../verification/routes.ts'

const CHUNK_CHARS = 256 * 1024

export type ExportWanted = {
  /** Backup to export instead of the data folder. */
  readonly tarFile?: string
  /** Receives the export's lines in chunks. */
  readonly lines: (text: string) => Promise<void>
}

type StateExport = {
  /** Store folder; nothing writes to it during the export. */
  readonly dir: string
  readonly collections: readonly AnyCollection[]
}

function tableOf(tables: readonly WholeTable[], { name }: { readonly name: string }): readonly AnyRow[] {
  return tables.find(({ collection }) => collection.name === name)?.rows ?? []
}

/** Refuses an export while payments are being settled, because their signatures are valid for this installation only. */
function refuseUnderWay(tables: readonly WholeTable[]): void {
  const count = tableOf(tables, payments).filter((row) => row['state'] === 'settling').length
  if (count === 0) return
  const what = count === 1 ? 'payment is' : 'payments are'
  throw new AppError('unavailable', `${count} ${what} being settled: try again in a moment.`)
}

function installationOf(tables: readonly WholeTable[]): InstallationValues {
  const token = tableOf(tables, sandboxTokens)[0]
  const own = tableOf(tables, settings).filter((row) => isOwn(settings, row))
  return {
    asset: (token?.['asset'] ?? null) as InstallationValues['asset'], // by the schemas of both collections
    pay_to: (token?.['pay_to'] ?? null) as InstallationValues['pay_to'],
    settings: Object.fromEntries(own.map((row) => [String(row['id']), row['value']])) as InstallationValues['settings'],
  }
}

function symbolic({ addresses }: AnyCollection, row: AnyRow, { asset, pay_to }: InstallationValues): AnyRow {
  if (!addresses) return row
  const symbols = new Map<unknown, string>()
  if (asset !== null) symbols.set(asset, SYMBOLS.asset)
  if (pay_to !== null) symbols.set(pay_to, SYMBOLS.pay_to)
  const changes = addresses.filter((member) => symbols.has(row[member]))
  return { ...row, ...Object.fromEntries(changes.map((member) => [member, symbols.get(row[member])])) }
}

/** Sorts rows by key again, because a placeholder may have replaced a key. */
function inOrder({ key }: AnyCollection, rows: AnyRow[]): AnyRow[] {
  return rows.sort((one, other) => (String(one[key]) < String(other[key]) ? -1 : 1))
}

export type Exported = { readonly rows: number; readonly files: number; readonly sha256: string }

/**
 * Writes a marketplace's whole state line by line, no faster than the reader takes it.
 * @throws AppError `unavailable` while payments are being settled, StoreDamaged
 */
export async function writeState(
  { dir, collections }: StateExport,
  lines: (text: string) => Promise<void>,
  now: number,
): Promise<Exported> {
  const tables = await readWhole(dir, collections)
  refuseUnderWay(tables)
  const installation = installationOf(tables)
  const kept = tables.map((table) => ({ ...table, rows: table.rows.filter((row) => !isOwn(table.collection, row)) }))
  const rows = kept.reduce((sum, table) => sum + table.rows.length, 0)
  const blobs = await openBlobs({ dir: join(dir, BLOB_DIR) })
  const files = (await blobs.list()).sort()
  const header = `${JSON.stringify(headerOf({ now, rows, files: files.length, installation }))}\n`
  await lines(header)
  const hash = createHash('sha256')
  const write = async (text: string) => {
    hash.update(text)
    await lines(text)
  }
  let chunk = ''
  for (const { collection, codec, rows: own } of kept) {
    for (const row of inOrder(
      collection,
      own.map((one) => symbolic(collection, one, installation)),
    )) {
      chunk += `${JSON.stringify({ in: collection.name, row: codec.toJson(row) })}\n`
      if (chunk.length < CHUNK_CHARS) continue
      await write(chunk)
      chunk = ''
    }
  }
  await write(chunk)
  for (const file of files) for await (const part of partsOf(blobs, file)) await write(part)
  const counts = Object.fromEntries(
    kept.flatMap(({ collection, rows: own }) => (own.length > 0 ? [[collection.name, own.length]] : [])),
  )
  const header_sha256 = createHash('sha256').update(header).digest('hex')
  const sha256 = hash.digest('hex')
  const end: StateEnd = { end: 'state', counts, files: files.length, sha256, header_sha256 }
  await lines(`${JSON.stringify(end)}\n`)
  return { rows, files: files.length, sha256 }
}

type HeaderFacts = Pick<StateHeader, 'rows' | 'files' | 'installation'> & { readonly now: number }

function headerOf({ now, ...facts }: HeaderFacts): StateHeader {
  const made_at = new Date(now).toISOString()
  return { souk: 'state', format: STATE_FORMAT, store_format: FORMAT, made_at, ...facts }
}

/** A file as export lines, one line per part of the file. An empty file has one line, too. */
async function* partsOf(blobs: BlobStore, file: string): AsyncGenerator<string> {
  const size = (await blobs.stat(file))?.sizeBytes ?? 0
  const line = (at: number, bytes: Buffer) => `${JSON.stringify({ file, size, at, data: bytes.toString('base64') })}\n`
  let at = 0
  for await (const chunk of blobs.read(file)) {
    for (let from = 0; from < chunk.byteLength; from += FILE_PART_BYTES) {
      const part = Buffer.from(chunk.subarray(from, from + FILE_PART_BYTES))
      yield line(at, part)
      at += part.byteLength
    }
  }
  if (at === 0) yield line(0, Buffer.alloc(0))
}

/*
 * An export as lines of JSON (docs/reference/storage-format.md, "The whole state as text"): a header, rows ordered by
 * collection and key, files ordered by name, and an end with counts and hash. Only the header has installation values.
 */

export const STATE_FORMAT = 1
/** Maximum bytes of a line. The longest lines are store rows. */
export const MAX_STATE_LINE_BYTES = 64 * 1024 * 1024
export const MAX_HEADER_BYTES = 64 * 1024
/** Maximum file bytes per line; a whole file has at most `MAX_FILE_BYTES`. */
const FILE_PART_BYTES = 96 * 1024
const MAX_FILE_BYTES = MAX_PRODUCT_BYTES

/** Placeholders for addresses of the installation. */
export const SYMBOLS = { asset: '@asset', pay_to: '@pay_to' } as const

const installationSettings = [IDENTITY, VENDOR, ENGINES_SEEN] as const

export function isOwn({ name }: { readonly name: string }, row: AnyRow): boolean {
  return name === settings.name && installationSettings.some((id) => id === row['id'])
}

const Wallet = z.string().regex(/^0x[0-9a-f]{40}$/)
const Asset = Wallet.refine(
  (address) => Object.values(circleUsdc).every(({ asset }) => asset !== address),
  'is a real token address',
)
const Sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const Count = z.int().min(0)

/** Identity of an installation. Installations with equal values accept each other's signatures. */
export const InstallationValues = z.strictObject({
  asset: Asset.nullable(),
  pay_to: Wallet.nullable(),
  settings: z.partialRecord(z.enum(installationSettings), z.json()),
})
export type InstallationValues = z.infer<typeof InstallationValues>

export const StateHeader = z.strictObject({
  souk: z.literal('state'),
  format: z.int().min(1),
  /** Format of the rows (`daemon/store/migrations.ts`). */
  store_format: z.int().min(1),
  made_at: z.iso.datetime(),
  rows: Count,
  files: Count,
  /** null in an anonymised export that an earlier version of souk wrote. */
  installation: InstallationValues.nullable(),
})
export type StateHeader = z.infer<typeof StateHeader>

export const StateRow = z.strictObject({ in: z.string(), row: z.record(z.string(), z.json()) })
export const StatePart = z.strictObject({
  file: Sha256,
  size: Count.max(MAX_FILE_BYTES),
  at: Count,
  data: z.base64().max(Math.ceil(FILE_PART_BYTES / 3) * 4),
})
export type StatePart = z.infer<typeof StatePart>

export const StateEnd = z.strictObject({
  end: z.literal('state'),
  /** Row counts of nonempty collections. */
  counts: z.record(z.string(), Count),
  files: Count,
  /** Hash of the lines between the header and this line. Exports of equal states have the same hash. */
  sha256: Sha256,
  /** Hash of the first line. */
  header_sha256: Sha256,
})
export type StateEnd = z.infer<typeof StateEnd>
