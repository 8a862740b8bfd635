import { z } from 'zod'
import { RowInvalid, RowMissing, StoreMisuse } from '../errors.ts'
import type { Row, Table } from '../port.ts'
import { type Awaitable, chain } from './base.ts'
import type { Layer } from './layer.ts'
import type { AnyRow } from './order.ts'
import type { ScopeGuard } from './scope.ts'
import type { TableShape } from './tables.ts'
import { conflict, hasUniqueValues, keyOf, uniqueValues } from './tables.ts'
import { createReader, readRow } from './view.ts'

/** Validates a row and drops absent members. Unchanged members were checked before. @throws RowInvalid */
function validated({ collection }: TableShape, row: AnyRow, before: AnyRow | undefined): AnyRow {
  const { schema, name, key } = collection
  const changed = before && validatedChange(schema, row, before)
  if (changed) return changed
  const parsed = (schema as z.ZodType<AnyRow>).safeParse(row)
  if (!parsed.success) throw new RowInvalid(name, String(row[key]), parsed.error)
  const clean = parsed.data as Record<string, unknown>
  for (const member in clean) if (clean[member] === undefined) delete clean[member]
  return parsed.data
}

/** Validates only changed members. Undefined if one is missing, unknown or invalid, or if the schema has `checks`. */
function validatedChange(schema: z.ZodType, row: AnyRow, before: AnyRow): AnyRow | undefined {
  if (!(schema instanceof z.ZodObject) || schema.def.checks?.length) return undefined
  const clean: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(schema.shape as Readonly<Record<string, z.ZodType>>)) {
    const value = row[name] === before[name] ? row[name] : member.safeParse(row[name]).data
    if (value !== undefined) clean[name] = value
    else if (row[name] !== before[name]) return undefined
  }
  return Object.keys(clean).length === Object.keys(row).length ? (clean as AnyRow) : undefined
}

function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const inner of Object.values(value)) freezeDeep(inner)
  return Object.freeze(value)
}

type Members = Readonly<Record<string, unknown>>

/** @throws Conflict when unique values are taken; unchanged ones are the row's own */
function assertFree(layer: Layer, row: AnyRow, current: AnyRow | undefined): Awaitable<void> {
  const { shape } = layer
  const key = keyOf(shape, row)
  return shape.uniques.reduce<Awaitable<void>>((checked, index) => {
    const values = uniqueValues(index, row)
    if (values === undefined || (current && hasUniqueValues(index, current, values))) return checked
    const owner = chain(checked, () => layer.unique(index, values))
    return chain(owner, (found) => {
      if (found !== undefined && keyOf(shape, found) !== key) conflict(shape, index.definition.name)
    })
  }, undefined)
}

function add(row: AnyRow, field: string, by: bigint | number): bigint | number {
  const current = row[field]
  if (typeof current === 'bigint' && typeof by === 'bigint') return current + by
  if (typeof current === 'number' && typeof by === 'number') return current + by
  throw new StoreMisuse(`cannot add a ${typeof by} to ${field}, a ${typeof current}`)
}

/** Keys that may be `put`, because the transaction read them for update or wrote them. */
type Held = Set<string>

/** Writes rows with their next version and returns them. */
function rowWriter(layer: Layer, held: Held, freeze: boolean) {
  const { shape } = layer
  const { name, key: keyField } = shape.collection
  return (draft: Members, current: AnyRow | undefined): Awaitable<AnyRow> => {
    const key = draft[keyField]
    if (typeof key !== 'string' || key === '') throw new StoreMisuse(`${name}: a row has no key`)
    const row = validated(shape, { ...draft, version: (current?.version ?? 0) + 1 }, current)
    if (keyOf(shape, row) !== key) throw new StoreMisuse(`${name}: the schema changes the key ${key}`)
    return chain(assertFree(layer, row, current), () => {
      layer.put(key, freeze ? freezeDeep(row) : row, current)
      held.add(key)
      return row
    })
  }
}

/** Table handle of a transaction (port.ts). */
export function createTxTable<R extends Row>(layer: Layer, guard: ScopeGuard, freeze: boolean): Table<R> {
  const { shape } = layer
  const { name, key: keyField } = shape.collection
  const held: Held = new Set()
  const write = rowWriter(layer, held, freeze)
  const save = (draft: Members, current: AnyRow | undefined) => write(draft, current) as Awaitable<Row> as Awaitable<R>
  const find = (key: string): Awaitable<AnyRow | undefined> => readRow(layer, key)

  const change = (key: string, next: (row: AnyRow | undefined) => Members): Promise<R> =>
    guard(() => chain(find(key), (row) => save(next(row), row)))

  function remove(row: AnyRow | undefined, key: string): boolean {
    if (row !== undefined) layer.put(key, null, row)
    held.add(key)
    return row !== undefined
  }

  const keyIn = (draft: Members): string => String(draft[keyField])

  return {
    ...createReader<R>(layer, guard),
    getForUpdate: (key) =>
      guard(() => {
        held.add(key)
        return find(key) as Awaitable<R | undefined>
      }),
    insert: (draft) =>
      guard(() => chain(find(keyIn(draft)), (row) => (row ? conflict(shape, keyField) : save(draft, undefined)))),
    insertIfAbsent: (draft) =>
      guard(() => chain(find(keyIn(draft)), (row) => (row ? false : chain(save(draft, undefined), () => true)))),
    put: (draft) =>
      change(keyIn(draft), () => {
        if (!held.has(keyIn(draft))) throw new StoreMisuse(`${name}: put ${keyIn(draft)} without getForUpdate`)
        return draft
      }),
    update: (key, version, patch) =>
      change(key, (row) => {
        if (row === undefined || row.version !== version) conflict(shape, 'version')
        const patched = { ...row, ...patch }
        if (keyIn(patched) !== key) throw new StoreMisuse(`${name}: a patch changes the key ${key}`)
        return patched
      }),
    increment: (key, field, by) =>
      change(key, (row) => {
        if (row === undefined) throw new RowMissing(name, key)
        return { ...row, [field]: add(row, field, by) }
      }),
    delete: (key) => guard(() => chain(find(key), (row) => remove(row, key))),
  }
}
