import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { AppError } from '../../core/error.ts'
import { makeFolder } from '../../core/folder.ts'
import { type Usdc, usdc } from '../../core/money.ts'
import { DAY_MS } from '../../core/time.ts'
import { PRIVATE_FILE_MODE } from '../files.ts'
import type { Places } from '../settings.ts'
import type { Recipient, SpentTotals } from './policy.ts'

/** How long to wait while another process uses the log. */
const BUSY_TIMEOUT_MS = 15_000
/** Maximum number of payments of a wallet within the last 24 hours. Further ones are refused. */
const WINDOW_ENTRIES_MAX = 100_000
/** Maximum number of entries in the log. Beyond it, the oldest entries are summed up. */
const ENTRIES_MAX = 200_000
const FOLD_ENTRIES = 1_000

/**
 * Whether a payment counts as spent. `reserved`: nothing was sent, or the local daemon refused the payment; counts
 * until the time `until`. `sent`: a signature or key was sent, and the result is unknown; counts. `settled`: paid;
 * counts. `released`: nothing was sent, or nothing can be charged any more; does not count.
 */
export type SpendState = 'reserved' | 'sent' | 'settled' | 'released'

export type SpendEntry = ReturnType<typeof entryOf>

type Config = Pick<Places, 'config'>
type Window = { readonly wallet: string; readonly now: number }

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS spends (
    id INTEGER PRIMARY KEY, wallet TEXT NOT NULL, at INTEGER NOT NULL, amount INTEGER NOT NULL, state TEXT NOT NULL,
    until INTEGER NOT NULL, method TEXT NOT NULL, call TEXT NOT NULL, place TEXT NOT NULL, instance TEXT NOT NULL,
    seller TEXT, subject TEXT, payee TEXT
  ) STRICT;
  CREATE INDEX IF NOT EXISTS spends_by_wallet ON spends (wallet, at);
  CREATE TABLE IF NOT EXISTS folded (
    wallet TEXT PRIMARY KEY, count INTEGER NOT NULL, amount INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS proofs (spend INTEGER PRIMARY KEY, proof TEXT NOT NULL) STRICT;
`
/** SQL condition for the entries that count against the limits. */
const COUNTS = `(state IN ('sent', 'settled') OR (state = 'reserved' AND until > :now))`

export function ledgerFile(places: Config): string {
  return join(places.config, 'spending.db')
}

/** Runs `act` in one SQLite transaction, which other processes wait for, and which a crash rolls back. */
function within<T>(places: Config, act: (db: DatabaseSync) => T): T {
  const file = ledgerFile(places)
  makeFolder(places.config)
  closeSync(openSync(file, 'a', PRIVATE_FILE_MODE))
  let db: DatabaseSync | undefined
  try {
    // Not an import, so that the program can show a message on Node 20, which lacks the module.
    const sqlite = process.getBuiltinModule('node:sqlite')
    db = new sqlite.DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, readBigInts: true })
    db.exec('PRAGMA synchronous = FULL; BEGIN IMMEDIATE')
    db.exec(SCHEMA)
    const done = act(db)
    db.exec('COMMIT')
    return done
  } catch (error) {
    if (!(error instanceof Error && 'errcode' in error)) throw error
    // If earlier spending is unknown, no payment is allowed.
    throw new AppError('internal', `The spending log ${file} cannot be used: ${error.message}.`, { cause: error })
  } finally {
    // Closing rolls back.
    db?.close()
  }
}

/** What a wallet paid in the last 24 hours: in total, and to the payee. @throws AppError at the limit of payments */
function totalsIn(db: DatabaseSync, { wallet, now }: Window, payee: Recipient): SpentTotals {
  const where = `wallet = :wallet AND at > :since AND ${COUNTS}`
  const given = { wallet, since: now - DAY_MS, now }
  const day = db.prepare(`SELECT COUNT(*) AS n, COALESCE(SUM(amount), 0) AS sum FROM spends WHERE ${where}`).get(given)
  if (Number(day?.n) >= WINDOW_ENTRIES_MAX) {
    throw new AppError('payment_required', `This wallet reached the limit of ${WINDOW_ENTRIES_MAX} payments a day.`)
  }
  const { at: place, instance, seller, subject } = payee
  const one = db
    .prepare(
      `SELECT COALESCE(SUM(amount), 0) AS sum FROM spends WHERE ${where} AND (instance = :instance OR place = :place)
       AND (seller IS :seller OR (seller IS NULL AND subject IS NOT NULL AND subject IS :subject))`,
    )
    .get({ ...given, place, instance, seller, subject })
  return { day: amountIn(day?.sum), seller: amountIn(one?.sum) }
}

function amountIn(value: unknown): Usdc {
  return usdc(typeof value === 'bigint' ? value : 0n)
}

export type Reserving = Omit<SpendEntry, 'id' | 'state' | 'proof'> & { readonly wallet: string }

/**
 * Counts a payment before it is signed.
 * @param judge - gets the totals without this payment; if it throws, nothing is counted
 * @returns the number of the entry
 */
export function reserveSpend(places: Config, entry: Reserving, judge: (before: SpentTotals) => void) {
  const { payee, ...rest } = entry
  const { at: place, instance, seller, subject, payTo } = payee
  return within(places, (db) => {
    judge(totalsIn(db, { wallet: entry.wallet, now: entry.at }, payee))
    foldOldest(db, entry.at)
    const { lastInsertRowid } = db
      .prepare(
        `INSERT INTO spends (wallet, at, amount, state, until, method, call, place, instance, seller, subject, payee)
         VALUES (:wallet, :at, :amount, 'reserved', :until, :method, :call, :place, :instance, :seller, :subject, :payTo)`,
      )
      .run({ ...rest, place, instance, seller, subject, payTo })
    return Number(lastInsertRowid)
  })
}

/** Sums up the oldest entries if there are too many, but never entries of the last 24 hours. */
function foldOldest(db: DatabaseSync, now: number): void {
  if (Number(db.prepare('SELECT COUNT(*) AS n FROM spends').get()?.n) < ENTRIES_MAX) return
  const given = { now, since: now - DAY_MS }
  const oldest = `SELECT id FROM spends WHERE at <= :since ORDER BY at, id LIMIT ${FOLD_ENTRIES}`
  db.prepare(
    `INSERT INTO folded SELECT wallet, COUNT(*), SUM(amount) FROM spends WHERE id IN (${oldest}) AND ${COUNTS}
     GROUP BY wallet ON CONFLICT (wallet) DO UPDATE SET count = count + excluded.count, amount = amount + excluded.amount`,
  ).run(given)
  for (const [table, key] of [
    ['proofs', 'spend'],
    ['spends', 'id'],
  ])
    db.prepare(`DELETE FROM ${table} WHERE ${key} IN (${oldest})`).run({ since: given.since })
}

export function keepProof(places: Config, spend: number, proof: string): void {
  within(places, (db) => db.prepare('INSERT OR REPLACE INTO proofs VALUES (:spend, :proof)').run({ spend, proof }))
}

/** What the seller signed for a purchase, as JSON (`Proof`). @param bought - id of its job or conversation */
export function readProof(places: Config, bought: string): string | undefined {
  return within(places, (db) => {
    const named = `json_extract(proof, '$.job_id') IS NOT NULL
      AND :bought IN (json_extract(proof, '$.job_id'), json_extract(proof, '$.thread_id'))`
    // Paid acts on a job name it, too.
    const isPurchase = ['% /v1/jobs/%', '%/verify', '%/dispute'].map((act) => `call NOT LIKE '${act}'`).join(' AND ')
    const row = db
      .prepare(
        `SELECT proof FROM proofs JOIN spends ON id = spend WHERE ${named} AND ${isPurchase} ORDER BY id LIMIT 1`,
      )
      .get({ bought })
    return typeof row?.proof === 'string' ? row.proof : undefined
  })
}

export function markSpend(places: Config, id: number, state: SpendState): void {
  within(places, (db) => db.prepare('UPDATE spends SET state = :state WHERE id = :id').run({ id, state }))
}

/** Reads what a wallet paid in the last 24 hours. Records no payment. */
export function spentBefore(places: Config, window: Window, payee: Recipient): SpentTotals {
  return within(places, (db) => totalsIn(db, window, payee))
}

export type Spending = {
  /** Newest first. */
  readonly entries: readonly SpendEntry[]
  /** Payments of the last 24 hours that count against the limits. */
  readonly day: { readonly count: number; readonly amount: Usdc; readonly settled: Usdc }
  readonly all: { readonly count: number; readonly amount: Usdc; readonly settled: Usdc }
  /** The sellers that were paid most in the last 24 hours, largest amount first. */
  readonly sellers: readonly { readonly name: string; readonly count: number; readonly amount: Usdc }[]
}

const SELLERS_SHOWN = 20

export function readSpending(places: Config, { wallet, now }: Window, limit: number): Spending {
  return within(places, (db) => {
    const since = now - DAY_MS
    const sums = `COUNT(*) AS n, COALESCE(SUM(amount), 0) AS sum,
      COALESCE(SUM(CASE WHEN state = 'settled' THEN amount ELSE 0 END), 0) AS settled`
    const counted = `FROM spends WHERE wallet = :wallet AND ${COUNTS}`
    const day = db.prepare(`SELECT ${sums} ${counted} AND at > :since`).get({ wallet, now, since })
    const all = db.prepare(`SELECT ${sums} ${counted}`).get({ wallet, now })
    const folded = db.prepare('SELECT count AS n, amount AS sum FROM folded WHERE wallet = :wallet').get({ wallet })
    const old = amountIn(folded?.sum)
    const sellers = db
      .prepare(
        `SELECT COALESCE(seller, subject, 'market') || '@' || place AS name, ${sums} ${counted} AND at > :since
         GROUP BY name ORDER BY sum DESC, name LIMIT ${SELLERS_SHOWN}`,
      )
      .all({ wallet, now, since })
    const rows = db
      .prepare(
        'SELECT * FROM spends LEFT JOIN proofs ON spend = id WHERE wallet = :wallet ORDER BY id DESC LIMIT :limit',
      )
      .all({ wallet, limit })
    return {
      entries: rows.map(entryOf),
      day: { count: Number(day?.n), amount: amountIn(day?.sum), settled: amountIn(day?.settled) },
      all: {
        count: Number(all?.n) + Number(folded?.n ?? 0),
        amount: usdc(amountIn(all?.sum) + old),
        settled: usdc(amountIn(all?.settled) + old),
      },
      sellers: sellers.map(({ name, n, sum }) => ({ name: String(name), count: Number(n), amount: amountIn(sum) })),
    }
  })
}

const states: readonly SpendState[] = ['reserved', 'sent', 'settled', 'released']

function entryOf(row: Readonly<Record<string, unknown>>) {
  const text = (value: unknown) => (typeof value === 'string' ? value : null)
  return {
    id: Number(row.id),
    /** Machine milliseconds. */
    at: Number(row.at),
    amount: amountIn(row.amount),
    state: states.find((state) => state === row.state) ?? 'sent',
    /** Epoch milliseconds until which a reservation counts. */
    until: Number(row.until),
    method: row.method === 'balance' ? 'balance' : 'x402',
    /** Method and path of the call. */
    call: String(row.call),
    payee: {
      at: String(row.place),
      instance: String(row.instance),
      seller: text(row.seller),
      subject: text(row.subject),
      payTo: text(row.payee),
    },
    /** Signed offer and receipt, as JSON (`Proof`); null if there is none. */
    proof: text(row.proof),
  }
}
