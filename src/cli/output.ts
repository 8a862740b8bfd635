import { isObject } from '../core/json.ts'
import { compact } from '../core/record.ts'
import { fitColumns } from '../text/columns.ts'
import { bold, clip, didYouMean, harmless, oneLine, padEnd, padStart, widthOf } from '../text/text.ts'
import { usage } from './exit.ts'
import type { Io } from './io.ts'

const GAP = '  '
const MISSING = '—'
const MIN_FLEXIBLE_COLUMNS = 8

export type Column<R> = {
  readonly title: string
  /** The value as it is displayed; null is shown as a dash. */
  value(row: R): string | number | null | undefined
  /** The full value, for output that programs read (default: `value`). */
  plain?(row: R): string | number | boolean | null | undefined
  readonly align?: 'right'
  /** Texts in the column may be cut. Ids and amounts never are. */
  readonly flexible?: true
  /** On a narrow terminal, columns with a higher number are dropped first. A column without a number stays. */
  readonly drop?: number
}

/** Prints rows: fitted to the width of a terminal, or else tab-separated. */
export function printRows<R>(io: Io, columns: readonly Column<R>[], rows: readonly R[]): void {
  printGroups(io, columns, [{ rows }])
}

export type RowGroup<R> = { readonly heading?: string; readonly rows: readonly R[] }

/** Prints groups under one header. */
export function printGroups<R>(io: Io, columns: readonly Column<R>[], groups: readonly RowGroup<R>[]): void {
  const all = groups.flatMap(({ rows }) => rows)
  if (all.length === 0) return
  const shown = fitted(
    io.width,
    columns.map((column) => filled(timed(io, column), all)),
  )
  io.line(shown.map(({ column, width }) => bold(pad(column, column.title, width))).join(GAP))
  let at = 0
  for (const { heading, rows } of groups) {
    if (heading !== undefined) io.line(bold(clip(oneLine(heading), io.width)))
    for (const _ of rows) {
      io.line(lineOf(shown, at))
      at += 1
    }
  }
}

function lineOf(shown: readonly Fitted[], at: number): string {
  const cells = shown.map(({ column, width }) => pad(column, clip(column.cells[at] ?? '', width), width))
  return cells.join(GAP).trimEnd()
}

/** A column with its cells. Only cells of a flexible column are cut. */
type Filled = Pick<Column<never>, 'title' | 'align' | 'drop'> & {
  readonly cells: readonly string[]
  readonly holds: 'money' | 'ids' | 'text' | 'any'
}

function filled<R>(column: Column<R>, rows: readonly R[]): Filled {
  const { title, align, flexible, drop } = column
  const cells = rows.map((row) => cell(column, row))
  if (cells.some((one) => MONEY.test(one)))
    return { title, align: 'right', holds: 'money', cells: onPoint(cells), ...compact({ drop }) }
  const otherwise = flexible ? 'text' : 'any'
  const holds = cells.some((one) => OWN_ID.test(one)) ? 'ids' : otherwise
  return { title, holds, cells, ...compact({ align, drop }) }
}

const MONEY = /^[+-]?\$[\d,]+\.(\d+)$/
const OWN_ID = /^[a-z]{1,4}_[0-9a-f]{16}$/

/** Aligns decimal points. */
function onPoint(cells: readonly string[]): readonly string[] {
  const places = (text: string) => MONEY.exec(text)?.[1]?.length
  const most = Math.max(...cells.map((text) => places(text) ?? 0))
  return cells.map((text) => text + ' '.repeat(most - (places(text) ?? most)))
}

function timed<R>(io: Io, column: Column<R>): Column<R> {
  return {
    ...column,
    value(row) {
      const value = column.value(row)
      return typeof value === 'string' ? io.times(value) : value
    },
  }
}

/** Prints tab-separated full values; on request, with a header. */
export function printTsv<R>(
  io: Io,
  columns: readonly Column<R>[],
  table: { rows: readonly R[]; header: boolean },
): void {
  if (table.header) io.line(columns.map(({ title }) => title.toLowerCase().replaceAll(' ', '_')).join('\t'))
  for (const row of table.rows)
    io.line(columns.map((column) => tsvCell((column.plain ?? column.value)(row))).join('\t'))
}

function tsvCell(value: string | number | boolean | null | undefined): string {
  return value === null || value === undefined ? '' : oneLine(harmless(String(value)))
}

function cell<R>(column: Column<R>, row: R): string {
  const value = column.value(row)
  return value === null || value === undefined || value === '' ? MISSING : oneLine(String(value))
}

function pad({ align }: Filled, text: string, width: number): string {
  return align === 'right' ? padStart(text, width) : padEnd(text, width)
}

type Fitted = { readonly column: Filled; readonly width: number }

/** Order in which kinds of columns are dropped: highest number first, from the right. The first column always stays. */
const LAST_RESORT = { text: 3, any: 2, ids: 2, money: 1 } as const
const BEFORE_THOSE = 4

/** Cuts flexible columns, or drops columns, until rows fit. */
function fitted(room: number, columns: readonly Filled[]): readonly Fitted[] {
  const needs = columns.map(({ title, cells, holds, drop }, at) => {
    const natural = Math.max(widthOf(title), ...cells.map(widthOf))
    const isFirst = at === 0
    const shortest = holds === 'text' ? Math.max(MIN_FLEXIBLE_COLUMNS, widthOf(title)) : natural
    const least = isFirst && holds === 'any' ? Math.min(natural, room) : Math.min(natural, shortest)
    const otherwise = isFirst ? undefined : LAST_RESORT[holds]
    return { natural, least, drop: drop === undefined ? otherwise : drop + BEFORE_THOSE }
  })
  const widths = fitColumns(needs, room, GAP.length)
  return columns.flatMap((column, i) => {
    const width = widths[i]
    return width === undefined ? [] : [{ column, width }]
  })
}

type Picked = { [member: string]: unknown }

/** Picks the members that `--fields` names by dotted path. In a list, picks them from each element. */
export function pickFields(value: unknown, fields: readonly string[]): unknown {
  const list = listMember(value)
  if (Array.isArray(value)) return value.map((element) => pickFrom(element, fields, value))
  if (list === undefined) return pickFrom(value, fields, [value])
  const { envelope, name, elements } = list
  return { ...envelope, [name]: elements.map((element) => pickFrom(element, fields, elements)) }
}

type ListMember = { readonly envelope: object; readonly name: string; readonly elements: readonly unknown[] }

export function listMember(value: unknown): ListMember | undefined {
  if (!isObject(value)) return undefined
  if (!('total' in value) && !('next_cursor' in value)) return undefined
  const lists = Object.entries(value).flatMap(([name, member]) =>
    Array.isArray(member) ? [{ envelope: value, name, elements: member }] : [],
  )
  return lists.length === 1 ? lists[0] : undefined
}

function pickFrom(value: unknown, fields: readonly string[], siblings: readonly unknown[]): unknown {
  const picked: Picked = {}
  for (const field of fields) {
    const found = memberAt(value, field.split('.'))
    if (found === undefined && !siblings.some((one) => memberAt(one, field.split('.')) !== undefined)) {
      throw unknownField(field, siblings)
    }
    place(picked, field.split('.'), found ?? null)
  }
  return picked
}

function memberAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, name) => (isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined), value)
}

function place(target: Picked, path: readonly string[], value: unknown): void {
  const [name, ...rest] = path
  if (name === undefined) return
  if (rest.length === 0) {
    Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
    return
  }
  const inner = Object.hasOwn(target, name) ? target[name] : undefined
  const next = isObject(inner) ? inner : {}
  Object.defineProperty(target, name, { value: next, enumerable: true, configurable: true, writable: true })
  place(next, rest, value)
}

function unknownField(field: string, siblings: readonly unknown[]) {
  const known = [...new Set(siblings.flatMap((one) => (isObject(one) ? Object.keys(one) : [])))]
  return usage(`There is no field "${field}"${didYouMean(field, known)}.`, { facts: [`fields: ${known.join(', ')}`] })
}
