import type { DatabaseSync } from 'node:sqlite'
import type { CatalogDoc } from './catalog.ts'
import { NO_PRICE, NO_REPUTATION } from './catalog-file.ts'
import { type Run, statementsOf } from './select.ts'
import { termsOf } from './terms.ts'

/** An open table and its prepared statements. */
export type Open = { readonly db: DatabaseSync; readonly run: Run }

export const opened = (db: DatabaseSync): Open => ({ db, run: statementsOf(db) })

/** All of the work or none of it. */
export function atomic({ db }: Open, work: () => void): void {
  db.exec('begin')
  try {
    work()
    db.exec('commit')
  } catch (error) {
    if (db.isTransaction) db.exec('rollback')
    throw error
  }
}

const COLUMNS =
  'id, category, provider, service_type, fulfillment_type, verified, price, price_last, reputation, listed_at'

/** Adds or replaces a listing, which keeps its number. */
export function put({ run }: Open, doc: CatalogDoc): void {
  const row = [
    doc.id,
    doc.category,
    doc.provider_id,
    doc.service_type,
    doc.fulfillment_type,
    doc.verified ? 1 : 0,
    doc.agent_price,
    doc.agent_price ?? NO_PRICE,
    doc.reputation ?? NO_REPUTATION,
    doc.listed_at,
  ]
  const marks = row.map(() => '?').join(', ')
  const [kept] = run(
    `insert into doc (${COLUMNS}) values (${marks}) on conflict (id) do update
     set (${COLUMNS}) = (${COLUMNS.replace(/\w+/g, 'excluded.$&')}) returning n`,
    row,
  )
  const n = Number(kept?.['n'])
  const texts = [doc.name, doc.tags.join(' '), doc.category, doc.provider_name, doc.description]
  run('insert or replace into words (rowid, name, tags, category, provider, description) values (?, ?, ?, ?, ?, ?)', [
    n,
    ...texts.map((text) => termsOf(text).join(' ')),
  ])
  run('delete from tag where n = ?', [n])
  for (const tag of new Set(doc.tags)) run('insert into tag (tag, n) values (?, ?)', [tag, n])
}

export function remove({ run }: Open, id: string): void {
  const [gone] = run('delete from doc where id = ? returning n', [id])
  if (!gone) return
  const n = Number(gone['n'])
  run('delete from words where rowid = ?', [n])
  run('delete from tag where n = ?', [n])
}

export const mark = ({ run }: Open, seq: number) => run('update state set seq = ?', [seq])
