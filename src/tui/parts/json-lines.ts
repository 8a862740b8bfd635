import { safe, take } from '../../text/text.ts'
import { accent, dim, type Line, type Piece } from './line.ts'

const LINES_MAX = 2_000
/** Longest string shown. */
const STRING_CHARS_MAX = 2_000
const INDENT = '  '

type Entry = { readonly value: unknown; readonly name: Piece | undefined; readonly depth: number; readonly end: string }

/** A value as indented, sanitised JSON. The number of lines is limited, since they may be redrawn every second. */
export function jsonLines(value: unknown): Line[] {
  const lines: Line[] = []
  const todo: (Entry | Line)[] = [{ value, name: undefined, depth: 0, end: '' }]
  while (todo.length > 0) {
    if (lines.length >= LINES_MAX) return [...lines, [dim(' … the rest is not shown')]]
    const next = todo.pop() ?? []
    if (isEntry(next)) expand(next, lines, todo)
    else lines.push(next)
  }
  return lines
}

function isEntry(one: Entry | Line): one is Entry {
  return !Array.isArray(one)
}

function expand({ value, name, depth, end }: Entry, lines: Line[], todo: (Entry | Line)[]): void {
  const head: Line = [' ', INDENT.repeat(depth), ...(name === undefined ? [] : [name, ': '])]
  if (typeof value !== 'object' || value === null) {
    lines.push([...head, scalar(value), end])
    return
  }
  const isList = Array.isArray(value)
  const [open, close] = isList ? ['[', ']'] : ['{', '}']
  const members = Object.entries(value).slice(0, LINES_MAX)
  if (members.length === 0) {
    lines.push([...head, `${open}${close}${end}`])
    return
  }
  lines.push([...head, open])
  todo.push([' ', INDENT.repeat(depth), `${close}${end}`])
  for (const [i, [key, member]] of [...members.entries()].reverse()) {
    const label = isList ? undefined : accent(safe(JSON.stringify(key)))
    todo.push({ value: member, name: label, depth: depth + 1, end: i === members.length - 1 ? '' : ',' })
  }
}

function scalar(value: unknown): string {
  if (typeof value !== 'string') return String(value)
  const shown = safe(JSON.stringify(value.slice(0, STRING_CHARS_MAX)))
  return value.length > STRING_CHARS_MAX ? `${take(shown, STRING_CHARS_MAX)}… (${value.length} characters)` : shown
}
