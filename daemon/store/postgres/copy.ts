import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { AppError } from '../../../src/core/error.ts'
import { type BlobStore, openBlobs } from '../blobs.ts'
import { readHandle } from '../engine/engine.ts'
import type { AnyRow } from '../engine/order.ts'
import { BLOB_DIR } from '../lowdb/files.ts'
import { readWhole, type WholeTable, writeWhole } from '../lowdb/whole.ts'
import type { AnyCollection, Store } from '../port.ts'
import { type PgAddress, shownAddress } from './address.ts'
import { pgBlobs } from './blobs.ts'
import { type Connection, connectPrimary, isLost } from './connection.ts'
import type { Pool } from './pool.ts'
import { pgReads } from './reads.ts'
import { refusalOf } from './refusal.ts'
import { type PgTable, pgTable } from './schema.ts'
import { adopt, create, takeOver } from './setup.ts'
import { insertStatement } from './statements.ts'

/*
 * Copies a whole store between files and a database. What the database sees is one transaction: a copy that fails or is
 * killed leaves no table behind. Both sides are read back and compared before a copy counts.
 */

const MAX_ROWS = 500
const MAX_CHARS = 1024 * 1024
/** No stored file is larger. */
const MAX_FILE_BYTES = Number.MAX_SAFE_INTEGER

/** What a store has. Equal stores have equal hashes: of all rows by collection and key, then of the names of all files. */
export type Contents = { readonly rows: number; readonly files: number; readonly sha256: string }

type Books = Pick<Store, 'read' | 'stats'>

export type CopyParts = {
  readonly address: PgAddress
  readonly collections: readonly AnyCollection[]
  /** Says what the books come to. Both stores must say the same. */
  readonly audit: (books: Books) => Promise<string>
  /** Called with the number of rows read so far. */
  readonly watch: (rows: number) => void
}

/** A store in files that nobody writes. */
export type FileSource = {
  readonly wholes: readonly WholeTable[]
  readonly storeId: string
  readonly seq: number
  readonly books: Books
  readonly blobs: BlobStore
}

/**
 * Copies files into a schema without a marketplace. A schema that has exactly these contents is taken for an earlier copy.
 * @throws AppError `conflict` for a schema with other contents
 */
export function copyToDatabase(parts: CopyParts, source: FileSource): Promise<Contents> {
  const { address, audit } = parts
  return inSession(parts, async (session, tables) => {
    await session.script(`begin; select pg_advisory_xact_lock(hashtext('souk ${address.schema}'))`)
    const { wholes } = source
    const wanted = contentsOf(wholes, await source.blobs.list())
    if (await hasMarketplace(session, address)) {
      const found = await contentsIn(session, tables, watching(parts))
      if (found.sha256 === wanted.sha256) return found
      throw new AppError(
        'conflict',
        `${shownAddress(address)} has another marketplace. Add ?schema=NAME to the address to use an empty schema.`,
      )
    }
    await create(session, { schema: address.schema, tables })
    await session.query('update souk_format set store = $1', [source.storeId])
    for (const whole of wholes) await insertAll(session, tables, whole)
    await session.query('update souk_lane set seq = $1, records = $2', [source.seq, wanted.rows])
    await copyFiles(source.blobs, await ownBlobs(session))
    await session.query('delete from souk_instances')
    const copied = await contentsIn(session, tables, watching(parts))
    requireSame([wanted.sha256, copied.sha256], [await audit(source.books), await audit(booksIn(session, tables))])
    await session.commit()
    return copied
  })
}

/**
 * Copies a database into a new folder for files. No daemon has the database meanwhile.
 * @param audited - opens the new folder and says what its books come to
 * @throws AppError `not_found` for a schema without a marketplace; StoreLocked while a daemon has it
 */
export function copyToFiles(parts: CopyParts, dir: string, audited: () => Promise<string>): Promise<Contents> {
  const { address, audit, collections } = parts
  return inSession(parts, async (session, tables) => {
    await session.script('begin')
    const shown = shownAddress(address)
    if (!(await hasMarketplace(session, address)))
      throw new AppError('not_found', `${shown} has no marketplace: name its database and schema.`)
    // Keeps daemons out until the copy is read.
    await session.query('select 1 from souk_lane where id = 1 for update')
    await takeOver(session, shown)
    await adopt(session, tables)
    const [format] = await session.query('select store from souk_format')
    const writer = await writeWhole(dir, String(format?.store))
    try {
      const told = watching(parts)
      const found = await contentsIn(session, tables, async (collection, json, count) => {
        await writer.add(collection, json)
        await told(collection, json, count)
      })
      const blobs = await openBlobs({ dir: join(dir, BLOB_DIR) })
      await copyFiles(await ownBlobs(session), blobs)
      await writer.end()
      const copied = contentsOf(await readWhole(dir, collections), await blobs.list())
      requireSame([found.sha256, copied.sha256], [await audit(booksIn(session, tables)), await audited()])
      return copied
    } catch (error) {
      await writer.drop()
      throw error
    }
  })
}

/** Runs a copy in a session of its own, and takes back what it did not commit. */
async function inSession(
  { address, collections }: CopyParts,
  copy: (session: Connection, tables: readonly PgTable[]) => Promise<Contents>,
): Promise<Contents> {
  try {
    const session = await connectPrimary(address, 'souk store copy')
    try {
      return await copy(session, collections.map(pgTable).sort(byName))
    } finally {
      await session.script('rollback').catch(() => undefined) // after a commit, it does nothing
      await session.end()
    }
  } catch (error) {
    if (isLost(error))
      throw new AppError(
        'unavailable',
        `The connection to ${shownAddress(address)} broke. Run the same command again.`,
        {
          cause: error,
        },
      )
    throw refusalOf(error, address)
  }
}

const nameOf = ({ shape }: PgTable): string => shape.collection.name
const byName = (one: PgTable, other: PgTable): number => (nameOf(one) < nameOf(other) ? -1 : 1)

async function hasMarketplace(session: Connection, { schema }: PgAddress): Promise<boolean> {
  const [found] = await session.query('select to_regclass($1)::text as there', [`${schema}.souk_format`])
  return found?.there != null
}

function requireSame(hashes: readonly [string, string], books: readonly [string, string]): void {
  const wrong = [['rows or files', ...hashes] as const, ['books', ...books] as const].find(
    ([, one, other]) => one !== other,
  )
  if (wrong !== undefined)
    throw new AppError('internal', `The ${wrong[0]} of the copy differ from the original. Nothing was changed.`)
}

/** Adds up what a store has. */
function adding() {
  const hash = createHash('sha256')
  let rows = 0
  return {
    row(collection: string, json: unknown): number {
      hash.update(`${JSON.stringify([collection, json])}\n`)
      rows += 1
      return rows
    },
    end(files: readonly string[]): Contents {
      hash.update([...files].sort().join('\n'))
      return { rows, files: files.length, sha256: hash.digest('hex') }
    },
  }
}

/** The tables and their rows come in the order of names and keys. */
function contentsOf(tables: readonly WholeTable[], files: readonly string[]): Contents {
  const sum = adding()
  for (const { collection, codec, rows } of tables) for (const row of rows) sum.row(collection.name, codec.toJson(row))
  return sum.end(files)
}

/** Called for each row, with the number of rows so far. */
type Visit = (collection: string, json: unknown, count: number) => Promise<void>

async function contentsIn(session: Connection, tables: readonly PgTable[], visit: Visit): Promise<Contents> {
  const sum = adding()
  for (const { name, shape } of tables) {
    const text = `select k, doc from ${name} where k > $1 order by k limit ${MAX_ROWS}`
    for (let after: string | undefined = ''; after !== undefined; ) {
      const rows = await session.query(text, [after])
      for (const { doc } of rows) await visit(shape.collection.name, doc, sum.row(shape.collection.name, doc))
      after = rows.length < MAX_ROWS ? undefined : String(rows.at(-1)?.['k'])
    }
  }
  const files = await session.query('select sha from souk_blobs')
  return sum.end(files.map(({ sha }) => String(sha)))
}

const watching =
  ({ watch }: CopyParts): Visit =>
  async (_collection, _json, count) => {
    if (count % MAX_ROWS === 0) watch(count)
  }

async function insertAll(session: Connection, tables: readonly PgTable[], whole: WholeTable): Promise<void> {
  const table = tables.find((one) => nameOf(one) === whole.collection.name)
  if (table === undefined) throw new TypeError(`${whole.collection.name} is not declared`)
  let docs = new Map<AnyRow, string>()
  let chars = 0
  const flush = async (): Promise<void> => {
    if (docs.size === 0) return
    const [text, values] = insertStatement(table, [...docs.keys()], (row) => docs.get(row) ?? '')
    await session.query(text, values)
    docs = new Map()
    chars = 0
  }
  for (const row of whole.rows) {
    const doc = JSON.stringify(whole.codec.toJson(row))
    docs.set(row, doc)
    chars += doc.length
    if (docs.size >= MAX_ROWS || chars >= MAX_CHARS) await flush()
  }
  await flush()
}

/** The files of the database, read and written in the transaction of the copy. */
async function ownBlobs(session: Connection): Promise<BlobStore> {
  const own: Pool = { use: (work) => work(session), retry: (work) => work(session), close: async () => undefined }
  const [row] = await session.query(
    `insert into souk_instances values (gen_random_uuid()::text, 'souk store copy', 'infinity') returning id`,
  )
  return pgBlobs(own, String(row?.id))
}

async function copyFiles(from: BlobStore, to: BlobStore): Promise<void> {
  for (const sha256 of await from.list()) {
    const copied = await to.put(from.read(sha256), MAX_FILE_BYTES)
    if (copied.sha256 !== sha256) throw new AppError('conflict', `The file ${sha256} is damaged. Run: souk verify`)
  }
}

function booksIn(session: Connection, tables: readonly PgTable[]): Books {
  const reads = readHandle(
    async (call) => call(),
    ({ name }) => {
      const table = tables.find((one) => nameOf(one) === name)
      if (table === undefined) throw new TypeError(`${name} is not declared`)
      return pgReads(table, ([text, values]) => session.query(text, values))
    },
  )
  return { read: (body) => body(reads), stats: () => ({ seq: 0, records: 0, journalBytes: 0, syncs: 0 }) }
}
