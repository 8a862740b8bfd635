import { RowMissing, StoreMisuse } from '../errors.ts'
import type { Draft, Row, Table } from '../port.ts'
import type { AnyRow } from './order.ts'
import type { ScopeGuard } from './scope.ts'
import { freezeDeep, type Staging, validated } from './staging.ts'
import { conflict } from './state.ts'
import { createReader, readRow } from './view.ts'

type Members = Readonly<Record<string, unknown>>

/** Stages a row with the next version and hands it back. */
function write(staging: Staging, draft: Members, freeze: boolean): AnyRow {
  const { table } = staging
  const key = draft[table.collection.key]
  if (typeof key !== 'string' || key === '') throw new StoreMisuse(`${table.collection.name}: a row has no key`)
  const before = readRow(staging, key)
  const row = validated(table, { ...draft, version: (before?.version ?? 0) + 1 }, before)
  if (row[table.collection.key] !== key)
    throw new StoreMisuse(`${table.collection.name}: the schema changes the key ${key}`)
  staging.stage(key, freeze ? freezeDeep(row) : row)
  staging.held.add(key)
  return row
}

function add(row: AnyRow, field: string, by: bigint | number): bigint | number {
  const current = row[field]
  if (typeof current === 'bigint' && typeof by === 'bigint') return current + by
  if (typeof current === 'number' && typeof by === 'number') return current + by
  throw new StoreMisuse(`${field} is a ${typeof current} and cannot grow by a ${typeof by}`)
}

/** The table handle of one transaction (port.ts). */
export function createTxTable<R extends Row>(staging: Staging, guard: ScopeGuard, freeze: boolean): Table<R> {
  const { table } = staging
  const keyField = table.collection.key
  const save = (draft: Members): R => write(staging, draft, freeze) as R
  const find = (key: string): AnyRow | undefined => readRow(staging, key)

  function insert(draft: Members): R {
    if (find(String(draft[keyField])) !== undefined) conflict(table, keyField)
    return save(draft)
  }

  function put(draft: Members): R {
    const key = String(draft[keyField])
    if (!staging.held.has(key)) throw new StoreMisuse(`${table.collection.name}: put ${key} without getForUpdate`)
    return save(draft)
  }

  function update(key: string, version: number, patch: Partial<Draft<R>>): R {
    const row = find(key)
    if (row === undefined || row.version !== version) conflict(table, 'version')
    const patched = { ...row, ...patch }
    if (patched[keyField] !== key) throw new StoreMisuse(`${table.collection.name}: a patch changes the key ${key}`)
    return save(patched)
  }

  function increment(key: string, field: string, by: bigint | number): R {
    const row = find(key)
    if (row === undefined) throw new RowMissing(table.collection.name, key)
    return save({ ...row, [field]: add(row, field, by) })
  }

  function remove(key: string): boolean {
    const existed = find(key) !== undefined
    if (existed) staging.stage(key, null)
    staging.held.add(key)
    return existed
  }

  return {
    ...createReader<R>(staging, guard),
    getForUpdate: (key) =>
      guard(() => {
        staging.held.add(key)
        return find(key) as R | undefined
      }),
    insert: (draft) => guard(() => insert(draft)),
    insertIfAbsent: (draft) =>
      guard(() => {
        if (find(String((draft as Members)[keyField])) !== undefined) return false
        insert(draft)
        return true
      }),
    put: (draft) => guard(() => put(draft)),
    update: (key, version, patch) => guard(() => update(key, version, patch)),
    increment: (key, field, by) => guard(() => increment(key, field, by)),
    delete: (key) => guard(() => remove(key)),
  }
}
