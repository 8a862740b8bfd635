import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { AppError } from '../../../src/core/error.ts'
import { settings } from '../../kernel/rows.ts'
import { sandboxTokens } from '../../ports/chain/sandbox/ledger.ts'
import { type BlobStore, openBlobs } from '../../store/blobs.ts'
import type { AnyRow } from '../../store/engine/order.ts'
import { BLOB_DIR } from '../../store/lowdb/files.ts'
import { readWhole, type WholeTable } from '../../store/lowdb/whole.ts'
import { FORMAT } from '../../store/migrations.ts'
import type { AnyCollection } from '../../store/port.ts'
import { payments } from '../payments/rows.ts'
import {
  FILE_PART_BYTES,
  type InstallationValues,
  isOwn,
  STATE_FORMAT,
  type StateEnd,
  type StateHeader,
  SYMBOLS,
} from './state-format.ts'

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
