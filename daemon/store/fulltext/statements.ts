import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { dropOldest } from '../../../src/core/record.ts'

const DAMAGED: ReadonlySet<number> = new Set([11, 26])

const PRIMARY_CODE_MASK = 0xff

export function codeOf(error: unknown): number {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined
  return typeof code === 'number' ? code & PRIMARY_CODE_MASK : 0
}

/** Whether an error means that the file is damaged, not that the statement is wrong. */
export function isDamage(error: unknown): boolean {
  return DAMAGED.has(codeOf(error))
}

export type Prepared = (sql: string) => StatementSync

/** Cache of prepared statements, limited to `MAX_STATEMENTS`. */
export function statementsOf(db: DatabaseSync): Prepared {
  const known = new Map<string, StatementSync>()
  return (sql) => {
    const kept = known.get(sql)
    if (kept) return kept
    if (known.size >= MAX_STATEMENTS) dropOldest(known)
    const made = db.prepare(sql)
    known.set(sql, made)
    return made
  }
}

export const MAX_STATEMENTS = 256

export function atomic(db: DatabaseSync, work: () => void): void {
  db.exec('begin')
  try {
    work()
    db.exec('commit')
  } catch (error) {
    if (db.isTransaction) db.exec('rollback')
    throw error
  }
}

export type Condition = readonly [sql: string, ...values: SQLInputValue[]]
/** Rows that fulfil conditions, as SQL after `from`. */
export type Matches = { readonly from: string; readonly values: readonly SQLInputValue[] }

export function where(source: string, conditions: readonly Condition[]): Matches {
  const all = conditions.map(([sql]) => sql).join(' and ')
  return { from: all === '' ? source : `${source} where ${all}`, values: conditions.flatMap(([, ...values]) => values) }
}

export function countOf(prepared: Prepared, { from, values }: Matches): number {
  return Number(prepared(`select count(*) as total from ${from}`).get(...values)?.['total'])
}

export function idsOf(prepared: Prepared, sql: string, values: readonly SQLInputValue[]): string[] {
  return prepared(sql)
    .all(...values)
    .map((row) => String(row['id']))
}
