import { createHash } from 'node:crypto'
import { idPrefixes } from '../../core/id-prefixes.ts'
import { isObject } from '../../core/json.ts'
import { clip, safe } from '../../text/text.ts'

/** What an answer consists of, without its values: `.services[].price` → `string`, several types joined by `|`. */
export type Shape = Readonly<Record<string, string>>

/** Ids that an answer names, by where it does. */
export type Ids = Readonly<Record<string, string>>

/** A place at which two answers differ; null where one of them has nothing. */
export type Difference = { readonly at: string; readonly was: string | null; readonly is: string | null }

/** Places of an answer that are told apart; of more, those behind are not compared. */
const SHAPE_PATHS_MAX = 500
const SHAPE_DEPTH_MAX = 32
const NAME_CHARS_MAX = 80
const IDS_MAX = 200
const HASH_CHARS = 12
const DIFFERENCES_MAX = 50
const ROOT = '.'
/** What a service takes and gives is its own. */
const FREE = /\.(\w+_schema|input|result|deliverables)(\[\])*$/
/** Says that an answer had more places than are kept. */
const CUT = '…'

export const idPattern = `(?:${Object.values(idPrefixes).join('|')})[0-9a-f]{16}`
const ID = new RegExp(`^${idPattern}$`)

export function shapeOf(value: unknown): Shape {
  const types: Types = new Map()
  noteTypes(types, value, { path: ROOT, depth: 0 })
  return Object.fromEntries([...types].map(([path, found]) => [path, [...found].toSorted().join('|')]))
}

type Types = Map<string, Set<string>>
type Spot = { readonly path: string; readonly depth: number }

function noteTypes(types: Types, value: unknown, { path, depth }: Spot): void {
  if (!note(types, path, typeOf(value)) || depth >= SHAPE_DEPTH_MAX || FREE.test(path)) return
  if (Array.isArray(value)) {
    for (const element of value) noteTypes(types, element, { path: `${path}[]`, depth: depth + 1 })
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(value))
      noteTypes(types, member, { path: under(path, name), depth: depth + 1 })
  }
}

/** @returns whether there was room for the place */
function note(types: Types, path: string, type: string): boolean {
  const known = types.get(path)
  if (known) known.add(type)
  else if (types.size < SHAPE_PATHS_MAX) types.set(path, new Set([type]))
  else types.set(CUT, new Set([CUT]))
  return types.has(path)
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'list' : typeof value
}

function under(path: string, name: string): string {
  const shown = /^[\w-]+$/.test(name) && name.length <= NAME_CHARS_MAX ? name : `"${clip(safe(name), NAME_CHARS_MAX)}"`
  return path === ROOT ? `.${shown}` : `${path}.${shown}`
}

/** Rows of a list go by a hash of their name, where no other row has it: what it is stays unknown. */
export function idsOf(value: unknown): Ids {
  const found: Found = { ids: new Map(), twice: new Set() }
  noteIds(found, value, { path: ROOT, depth: 0 })
  return Object.fromEntries([...found.ids].filter(([path]) => !found.twice.has(path)))
}

type Found = { readonly ids: Map<string, string>; readonly twice: Set<string> }

function noteIds(found: Found, value: unknown, { path, depth }: Spot): void {
  if (found.ids.size >= IDS_MAX || depth > SHAPE_DEPTH_MAX || FREE.test(path)) return
  if (typeof value === 'string' && ID.test(value)) {
    if (found.ids.has(path)) found.twice.add(path)
    found.ids.set(path, value)
  }
  for (const [part, member] of partsOf(value, path)) noteIds(found, member, { path: part, depth: depth + 1 })
}

function partsOf(value: unknown, path: string): readonly (readonly [string, unknown])[] {
  if (Array.isArray(value))
    return value.flatMap((row) => (named(row) === undefined ? [] : [[`${path}[${named(row)}]`, row] as const]))
  return isObject(value) ? Object.entries(value).map(([name, member]) => [under(path, name), member] as const) : []
}

function named(row: unknown): string | undefined {
  if (!isObject(row) || typeof row.name !== 'string') return undefined
  return createHash('sha256').update(row.name).digest('hex').slice(0, HASH_CHARS)
}

/**
 * Where two answers differ. A value that is null in one of them, and what an empty list would hold, tells nothing;
 * of what is missing, only the topmost place is named.
 * @param ignored - paths that are not looked at, with everything below them
 */
export function differences(was: Shape, is: Shape, ignored: readonly string[] = []): readonly Difference[] {
  const isWhole = !(CUT in was || CUT in is)
  const paths = [...new Set([...Object.keys(was), ...Object.keys(is)])].filter(
    (path) =>
      path !== CUT && !ignored.some((one) => path === one || path.startsWith(`${one}.`) || path.startsWith(`${one}[`)),
  )
  return paths.flatMap((at): Difference[] => differenceAt(at, { was, is, isWhole })).slice(0, DIFFERENCES_MAX)
}

type Compared = { readonly was: Shape; readonly is: Shape; readonly isWhole: boolean }

function differenceAt(at: string, { was, is, isWhole }: Compared): Difference[] {
  const [before, now] = [was[at], is[at]]
  if (before !== undefined && now !== undefined) return isAlike(before, now) ? [] : [{ at, was: before, is: now }]
  if (!isWhole || at.endsWith('[]')) return []
  const parent = parentOf(at)
  const other = before === undefined ? was : is
  return other[parent]?.split('|').includes('object') ? [{ at, was: before ?? null, is: now ?? null }] : []
}

function isAlike(before: string, now: string): boolean {
  const [one, other] = [before, now].map((types) => types.split('|').filter((type) => type !== 'null'))
  return !one?.length || !other?.length || one.join('|') === other.join('|')
}

function parentOf(path: string): string {
  return path.replace(/\.(?:[\w-]+|"[^"]*")$/, '') || ROOT
}
