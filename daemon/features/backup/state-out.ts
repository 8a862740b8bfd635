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

export type StateExport = {
  /** Store folder; nothing writes to it during the export. */
  readonly dir: string
  readonly collections: readonly AnyCollection[]
}

export type OutRow = { readonly collection: AnyCollection; readonly json: AnyRow }
export type StateOut = {
  readonly installation: InstallationValues
  readonly rows: number
  readonly files: readonly string[]
  readonly each: () => Generator<OutRow>
  readonly bytesOf: (file: string) => Promise<{ readonly size: number; readonly chunks: AsyncIterable<Uint8Array> }>
}

/** Thrown while a payment is in progress, because another installation could not finish it. Try again later. */
export class PaymentsUnderWay extends AppError {
  constructor(count: number) {
    super(
      'unavailable',
      `${count} ${count === 1 ? 'payment is' : 'payments are'} being settled: try again in a moment.`,
    )
  }
}

/** Opens a marketplace's whole state for export. @throws PaymentsUnderWay, StoreDamaged */
export async function openState(options: StateExport): Promise<StateOut> {
  const tables = await readWhole(options.dir, options.collections)
  refuseUnderWay(tables)
  const installation = installationOf(tables)
  const blobs = await openBlobs({ dir: join(options.dir, BLOB_DIR) })
  const kept = tables.map((table) => ({ ...table, rows: table.rows.filter((row) => !isOwn(table.collection, row)) }))
  return {
    installation,
    rows: kept.reduce((sum, { rows }) => sum + rows.length, 0),
    files: (await blobs.list()).sort(),
    *each() {
      for (const { collection, codec, rows } of kept) {
        const prepared = rows.map((row) => symbolic(collection, row, installation))
        for (const row of ordered(collection, prepared)) yield { collection, json: codec.toJson(row) }
      }
    },
    bytesOf: (file) => stored(blobs, file),
  }
}

async function stored(blobs: BlobStore, file: string) {
  const size = (await blobs.stat(file))?.sizeBytes ?? 0
  return { size, chunks: blobs.read(file) }
}

function tableOf(tables: readonly WholeTable[], { name }: { readonly name: string }): readonly AnyRow[] {
  return tables.find(({ collection }) => collection.name === name)?.rows ?? []
}

/** Refuses an export while payments are being settled, because their signatures are valid for this installation only. */
function refuseUnderWay(tables: readonly WholeTable[]): void {
  const settling = tableOf(tables, payments).filter((row) => row['state'] === 'settling').length
  if (settling > 0) throw new PaymentsUnderWay(settling)
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

function ordered({ key }: AnyCollection, rows: AnyRow[]): AnyRow[] {
  return rows.sort((one, other) => (String(one[key]) < String(other[key]) ? -1 : 1))
}

export type Exported = { readonly rows: number; readonly files: number; readonly sha256: string }

/** Writes the export line by line, no faster than the reader takes it. */
export async function writeState(
  state: StateOut,
  lines: (text: string) => Promise<void>,
  now: number,
): Promise<Exported> {
  const header = `${JSON.stringify(headerOf(state, now))}\n`
  await lines(header)
  const hash = createHash('sha256')
  const write = async (text: string) => {
    hash.update(text)
    await lines(text)
  }
  const counts: Record<string, number> = {}
  let chunk = ''
  for (const { collection, json } of state.each()) {
    counts[collection.name] = (counts[collection.name] ?? 0) + 1
    chunk += `${JSON.stringify({ in: collection.name, row: json })}\n`
    if (chunk.length < CHUNK_CHARS) continue
    await write(chunk)
    chunk = ''
  }
  await write(chunk)
  for (const file of state.files) for await (const part of partsOf(state, file)) await write(part)
  const header_sha256 = createHash('sha256').update(header).digest('hex')
  const sha256 = hash.digest('hex')
  const end: StateEnd = { end: 'state', counts, files: state.files.length, sha256, header_sha256 }
  await lines(`${JSON.stringify(end)}\n`)
  return { rows: state.rows, files: state.files.length, sha256 }
}

function headerOf({ installation, rows, files }: StateOut, now: number): StateHeader {
  const made_at = new Date(now).toISOString()
  return { souk: 'state', format: STATE_FORMAT, store_format: FORMAT, made_at, rows, files: files.length, installation }
}

/** A file as export lines, one line per part of the file. An empty file has one line, too. */
async function* partsOf(state: StateOut, file: string): AsyncGenerator<string> {
  const { size, chunks } = await state.bytesOf(file)
  const line = (at: number, bytes: Buffer) => `${JSON.stringify({ file, size, at, data: bytes.toString('base64') })}\n`
  let at = 0
  for await (const chunk of chunks) {
    for (let from = 0; from < chunk.byteLength; from += FILE_PART_BYTES) {
      const part = Buffer.from(chunk.subarray(from, from + FILE_PART_BYTES))
      yield line(at, part)
      at += part.byteLength
    }
  }
  if (at === 0) yield line(0, Buffer.alloc(0))
}
