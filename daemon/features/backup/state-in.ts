import { createHash, type Hash } from 'node:crypto'
import type { z } from 'zod'
import { sandboxTokens } from '../../ports/chain/sandbox/ledger.ts'
import { indexedValue } from '../../store/engine/order.ts'
import { RowInvalid } from '../../store/errors.ts'
import { type CheckedRow, rowChecker } from '../../store/lowdb/whole.ts'
import { FORMAT } from '../../store/migrations.ts'
import type { AnyCollection, AnyIndex } from '../../store/port.ts'
import { payments } from '../payments/rows.ts'
import { faultAt, linesOf, type StateLine } from './state-lines.ts'
import { isOwn, STATE_FORMAT, StateEnd, StateHeader, StatePart, StateRow, SYMBOLS } from './state-out.ts'

/** A part of an export. The counts and hashes of the whole export are checked before the part `end` is returned. */
export type StateItem =
  | { readonly kind: 'header'; readonly header: StateHeader }
  | { readonly kind: 'row'; readonly row: CheckedRow }
  | { readonly kind: 'part'; readonly line: number; readonly part: StatePart; readonly bytes: Buffer }
  | { readonly kind: 'end'; readonly end: StateEnd }

/** Reads and checks an export. @throws AppError 400 with line and member of the first fault */
export async function* readState(
  chunks: AsyncIterable<Uint8Array>,
  collections: readonly AnyCollection[],
): AsyncGenerator<StateItem> {
  let reader: ReturnType<typeof bodyReader> | undefined
  let ended = false
  let last = 0
  for await (const line of linesOf(chunks)) {
    last = line.number
    if (ended) throw faultAt(line.number, 'unexpected line after the end')
    if (reader === undefined) {
      const header = headerOf(line)
      reader = bodyReader(header, collections, line.bytes)
      yield { kind: 'header', header }
      continue
    }
    const item = reader(line)
    ended = item?.kind === 'end'
    if (item) yield item
  }
  if (last === 0) throw faultAt(1, 'the file is empty')
  if (!ended) throw faultAt(last + 1, 'the end is missing: the file was truncated')
}

function headerOf({ number, value }: StateLine): StateHeader {
  const known = value as Partial<StateHeader> | null
  if (known?.souk !== 'state') {
    throw faultAt(number, 'is not the start of a full export (souk export --all writes one)', 'souk')
  }
  if (known.format !== STATE_FORMAT) {
    throw faultAt(number, `is not ${STATE_FORMAT}: import it with the souk version that wrote it`, 'format')
  }
  const header = shaped(StateHeader, value, number)
  if (header.store_format > FORMAT) {
    throw faultAt(number, `is newer than ${FORMAT}, the newest supported: upgrade souk`, 'store_format')
  }
  return header
}

function shaped<S extends z.ZodType>(schema: S, value: unknown, line: number): z.output<S> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw faultAt(line, issue?.message ?? 'invalid', issue?.path.join('.'))
}

type Body = { readonly header: StateHeader; readonly headerHash: string; readonly hash: Hash }

function bodyReader(header: StateHeader, collections: readonly AnyCollection[], first: Buffer) {
  const body: Body = {
    header,
    headerHash: createHash('sha256').update(first).digest('hex'),
    hash: createHash('sha256'),
  }
  const rows = rowReader(header, collections)
  const files = fileReader()
  return (line: StateLine): StateItem | undefined => {
    const { value, number } = line
    if (typeof value === 'object' && value !== null && 'end' in value) {
      files.close(number)
      return { kind: 'end', end: checkedEnd(line, body, { counts: rows.counts(), files: files.count() }) }
    }
    body.hash.update(line.bytes)
    if (typeof value === 'object' && value !== null && 'file' in value) return files.part(line)
    if (files.count() > 0) throw faultAt(number, 'rows must come before files')
    const row = rows.read(line)
    return row && { kind: 'row', row }
  }
}

function checkedEnd(line: StateLine, body: Body, seen: { counts: Record<string, number>; files: number }): StateEnd {
  const end = shaped(StateEnd, line.value, line.number)
  const wrong = (path: string, message: string) => faultAt(line.number, message, path)
  if (end.header_sha256 !== body.headerHash) throw wrong('header_sha256', 'the first line was changed')
  const names = new Set([...Object.keys(end.counts), ...Object.keys(seen.counts)])
  for (const name of names) {
    const [told, found] = [end.counts[name] ?? 0, seen.counts[name] ?? 0]
    if (told !== found) throw wrong(`counts.${name}`, `declares ${told}, but ${found} were found`)
  }
  const rows = Object.values(seen.counts).reduce((sum, count) => sum + count, 0)
  if (rows !== body.header.rows)
    throw wrong('counts', `add up to ${rows}, but the first line declares ${body.header.rows}`)
  if (end.files !== seen.files || seen.files !== body.header.files) {
    throw wrong('files', `declares ${end.files}, but ${seen.files} were found`)
  }
  if (end.sha256 !== body.hash.digest('hex')) throw wrong('sha256', 'an earlier line was changed')
  return end
}

/** Digest length for values of a unique index: long enough to avoid collisions. */
const DIGEST_CHARS = 16

/** Checks that rows are ordered, and unique in every unique index. */
function rowReader(header: StateHeader, collections: readonly AnyCollection[]) {
  const check = rowChecker(collections, header.store_format)
  const counts: Record<string, number> = {}
  const taken = new Set<string>()
  let before = { in: '', key: '' }

  function read({ number, value }: StateLine): CheckedRow | undefined {
    const { in: name, row } = shaped(StateRow, value, number)
    const checked = checkedRow(check, { name, row }, number)
    counts[name] = (counts[name] ?? 0) + 1
    if (checked === undefined) return undefined
    place(checked, number)
    for (const index of checked.collection.indexes) if (index.unique) take(checked, index, number)
    refuseForeign(checked, number)
    return checked
  }

  function place({ collection, row }: CheckedRow, number: number): void {
    const { name } = collection
    const key = String(row[collection.key])
    if (before.in === name && before.key === key)
      throw faultAt(number, `duplicate ${name} ${key}`, `row.${collection.key}`)
    if (before.in > name || (before.in === name && before.key > key)) {
      throw faultAt(
        number,
        `${name} ${key} is out of order: rows are sorted by collection and key`,
        `row.${collection.key}`,
      )
    }
    before = { in: name, key }
  }

  function take({ collection, row }: CheckedRow, { name, fields, where }: AnyIndex, line: number): void {
    if (where && 'equals' in where && indexedValue(row, where.field) !== where.equals) return
    const values = fields.map((field) => indexedValue(row, field))
    if (values.includes(null)) return
    const text = [collection.name, name, ...values.map((value) => `${typeof value} ${value}`)].join('\n')
    const digest = createHash('sha256').update(text).digest('base64').slice(0, DIGEST_CHARS)
    if (taken.has(digest)) throw faultAt(line, 'an earlier row has the same value', `row.${fields.join(', row.')}`)
    taken.add(digest)
  }

  return { read, counts: () => counts }
}

function checkedRow(check: ReturnType<typeof rowChecker>, { name, row }: { name: string; row: unknown }, line: number) {
  try {
    return check(name, row)
  } catch (error) {
    if (!(error instanceof RowInvalid)) throw error
    const cause = error.cause
    const issue = cause instanceof Error && 'issues' in cause ? (cause as z.ZodError).issues[0] : undefined
    const path = ['row', ...(issue?.path ?? [])].join('.')
    throw faultAt(
      line,
      issue?.message ?? (cause instanceof Error ? cause.message : 'is not a row'),
      issue ? path : 'in',
    )
  }
}

function refuseForeign({ collection, row, json }: CheckedRow, line: number): void {
  if (collection.name === payments.name && row['state'] === 'settling') {
    throw faultAt(line, 'belongs to a payment being settled: only its own installation can finish it', 'row.state')
  }
  if (isOwn(collection, row)) throw faultAt(line, 'belongs in the first line', 'row.id')
  if (collection.name !== sandboxTokens.name) return
  const named = Object.entries(SYMBOLS).find(([member, symbol]) => json[member] !== symbol)
  if (named) throw faultAt(line, `must be ${named[1]}: the address itself is in the first line`, `row.${named[0]}`)
}

type OpenFile = { readonly file: string; readonly size: number; at: number; readonly hash: Hash }

function partFault(current: OpenFile | undefined, part: StatePart, bytes: Buffer): [string, string] | undefined {
  if (current?.file !== part.file || current.at !== part.at) {
    return ['does not continue where the previous line ended', 'at']
  }
  if (current.size !== part.size) return [`was ${current.size} in the previous lines`, 'size']
  if (bytes.byteLength === 0 && part.size > 0) return ['is empty', 'data']
  if (part.at + bytes.byteLength > part.size) return [`the file is larger than its size, ${part.size}`, 'data']
  return undefined
}

/** Checks that files are ordered, complete and match their names. */
function fileReader() {
  let current: OpenFile | undefined
  let count = 0
  let last = ''

  function close(line: number): void {
    if (current === undefined) return
    if (current.at !== current.size)
      throw faultAt(line, `the previous file ends at ${current.at} of ${current.size} bytes`)
    if (current.hash.digest('hex') !== current.file)
      throw faultAt(line, 'the previous file does not match its hash', 'file')
    last = current.file
    current = undefined
  }

  function part({ number, value }: StateLine): StateItem {
    const found = shaped(StatePart, value, number)
    if (found.at === 0 && (current?.file !== found.file || current.at === 0)) begin(found, number)
    const bytes = Buffer.from(found.data, 'base64')
    const fault = partFault(current, found, bytes)
    if (fault) throw faultAt(number, ...fault)
    if (!current) throw faultAt(number, 'belongs to no file')
    current.at += bytes.byteLength
    current.hash.update(bytes)
    return { kind: 'part', line: number, part: found, bytes }
  }

  function begin({ file, size }: StatePart, number: number): void {
    close(number)
    if (file <= last) throw faultAt(number, 'is a duplicate or out of order', 'file')
    current = { file, size, at: 0, hash: createHash('sha256') }
    count += 1
  }

  return { part, close, count: () => count }
}
