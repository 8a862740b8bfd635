import { isObject } from '../core/json.ts'
import { bold, clip, harmless, nearest, oneLine, padEnd, padStart, widthOf } from '../text/text.ts'
import { usage } from './exit.ts'
import type { Io } from './io.ts'

const GAP = '  '
const MISSING = '—'
const MIN_FLEXIBLE_COLUMNS = 8

export type Column<R> = {
  readonly title: string
  /** What people see; null shows as a dash. */
  value(row: R): string | number | null | undefined
  /** The full value for programs; default: `value`. */
  plain?(row: R): string | number | boolean | null | undefined
  readonly align?: 'right'
  /** May be cut to fit; ids and money never are. */
  readonly flexible?: true
  /** Dropped first on a narrow terminal, the highest number before the others; without one it always stays. */
  readonly drop?: number
}

/** Prints rows: fitted to the terminal, or tab-separated and whole where stdout is no terminal. */
export function printRows<R>(io: Io, columns: readonly Column<R>[], rows: readonly R[]): void {
  if (rows.length === 0) return
  const shown = fitted(io.width, columns, rows)
  io.line(shown.map(({ column, width }) => bold(pad(column, column.title, width))).join(GAP))
  for (const row of rows) {
    io.line(
      shown
        .map(({ column, width }) => pad(column, clip(cell(column, row), width), width))
        .join(GAP)
        .trimEnd(),
    )
  }
}

/** Full values, tab-separated; the header only when asked for. */
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

function pad<R>(column: Column<R>, text: string, width: number): string {
  return column.align === 'right' ? padStart(text, width) : padEnd(text, width)
}

type Fitted<R> = { column: Column<R>; width: number }

/** Cuts flexible columns, then drops the most dispensable ones, until a row fits. */
function fitted<R>(width: number, columns: readonly Column<R>[], rows: readonly R[]): readonly Fitted<R>[] {
  const natural = columns.map((column) => ({
    column,
    width: Math.max(widthOf(column.title), ...rows.map((row) => widthOf(cell(column, row)))),
  }))
  const over = natural.reduce((sum, one) => sum + one.width, GAP.length * (columns.length - 1)) - width
  if (over <= 0) return natural
  const slack = natural.reduce((sum, one) => sum + slackOf(one), 0)
  const droppable = columns.filter(({ drop }) => drop !== undefined).sort((a, b) => (b.drop ?? 0) - (a.drop ?? 0))[0]
  if (slack < over && droppable)
    return fitted(
      width,
      columns.filter((column) => column !== droppable),
      rows,
    )
  return shrink(natural, Math.min(over, slack))
}

function slackOf<R>({ column, width }: Fitted<R>): number {
  return column.flexible ? Math.max(0, width - Math.max(MIN_FLEXIBLE_COLUMNS, widthOf(column.title))) : 0
}

/** Takes the excess from the widest flexible column first. */
function shrink<R>(all: readonly Fitted<R>[], excess: number): readonly Fitted<R>[] {
  const widths = all.map(({ width }) => width)
  for (let left = excess; left > 0; left -= 1) {
    const widest = all.reduce((best, one, i) => {
      const candidate = slackOf({ ...one, width: widths[i] ?? 0 })
      return candidate > 0 && (best < 0 || (widths[i] ?? 0) > (widths[best] ?? 0)) ? i : best
    }, -1)
    if (widest < 0) break
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return all.map(({ column }, i) => ({ column, width: widths[i] ?? 0 }))
}

type Picked = { [member: string]: unknown }

/** `--fields`: the named members, dotted; of a list's elements where the value is a list or its envelope. */
export function pickFields(value: unknown, fields: readonly string[]): unknown {
  const list = listMember(value)
  if (Array.isArray(value)) return value.map((element) => pickFrom(element, fields, value))
  if (list === undefined) return pickFrom(value, fields, [value])
  const { envelope, name, elements } = list
  return { ...envelope, [name]: elements.map((element) => pickFrom(element, fields, elements)) }
}

type ListMember = { readonly envelope: object; readonly name: string; readonly elements: readonly unknown[] }

/** The one member of an envelope that holds its list of objects. */
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
  const near = nearest(field, known)
  return usage(`There is no field "${field}"${near ? ` (did you mean ${near}?)` : ''}.`, {
    facts: [`fields: ${known.join(', ')}`],
  })
}
