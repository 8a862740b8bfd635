import type { DatabaseSync } from 'node:sqlite'
import { type Prepared, statementsOf } from '../../../store/fulltext/statements.ts'
import { termsOf } from '../../../store/fulltext/terms.ts'
import { NO_PRICE, NO_REPUTATION } from './file.ts'
import type { CatalogDoc } from './query.ts'

export type Open = { readonly db: DatabaseSync; readonly prepared: Prepared }

export const opened = (db: DatabaseSync): Open => ({ db, prepared: statementsOf(db) })

const COLUMNS = [
  'id',
  'category',
  'provider',
  'service_type',
  'fulfillment_type',
  'verified',
  'payable',
  'price',
  'price_last',
  'reputation',
  'listed_at',
]
const MARKS = COLUMNS.map(() => '?').join(', ')
const ADD = `insert into doc (${COLUMNS.join(', ')}) values (${MARKS}) on conflict (id) do nothing`
const FIND = 'select n from doc where id = ?'
const CHANGE = `update doc set ${COLUMNS.map((column) => `${column} = ?`).join(', ')} where n = ?`
const INTO_WORDS = 'into words (rowid, name, tags, category, provider, description) values (?, ?, ?, ?, ?, ?)'

/** Adds or replaces a listing and keeps its row number. */
export function put({ prepared }: Open, doc: CatalogDoc): void {
  const row = [
    doc.id,
    doc.category,
    doc.provider_id,
    doc.service_type,
    doc.fulfillment_type,
    doc.verified ? 1 : 0,
    doc.payable ? 1 : 0,
    doc.agent_price,
    doc.agent_price ?? NO_PRICE,
    doc.reputation ?? NO_REPUTATION,
    doc.listed_at,
  ]
  const { changes, lastInsertRowid } = prepared(ADD).run(...row)
  const added = changes > 0
  const n = added ? Number(lastInsertRowid) : Number(prepared(FIND).get(doc.id)?.['n'])
  if (!added) prepared(CHANGE).run(...row, n)
  const texts = [doc.name, doc.tags.join(' '), doc.category, doc.provider_name, doc.description]
  const words = texts.map((text) => termsOf(text).join(' '))
  prepared(added ? `insert ${INTO_WORDS}` : `insert or replace ${INTO_WORDS}`).run(n, ...words)
  if (!added) prepared('delete from tag where n = ?').run(n)
  for (const tag of new Set(doc.tags)) prepared('insert into tag (tag, n) values (?, ?)').run(tag, n)
}

export function remove({ prepared }: Open, id: string): void {
  const known = prepared(FIND).get(id)
  if (!known) return
  const n = Number(known['n'])
  prepared('delete from doc where n = ?').run(n)
  prepared('delete from words where rowid = ?').run(n)
  prepared('delete from tag where n = ?').run(n)
}

export function mark({ prepared }: Open, seq: number): void {
  prepared('update state set seq = ?').run(seq)
}
