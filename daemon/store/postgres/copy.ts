import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { AppError } from '../../../src/core/error.ts'
import { type BlobStore, openBlobs } from '../blobs.ts'
import { readHandle } from '../engine/engine.ts'
import type { AnyRow } from '../engine/order.ts'
import { inOrder } from '../engine/tables.ts'
import { BLOB_DIR } from '../lowdb/files.ts'
import type { LowdbStore, StoredRow } from '../lowdb/open.ts'
import { writeWhole } from '../lowdb/whole.ts'
import type { AnyCollection, Store } from '../port.ts'
import { type PgAddress, shownAddress } from './address.ts'
import { perTable } from './batch.ts'
import { pgBlobs } from './blobs.ts'
import { type Connection, connectPrimary, isLost } from './connection.ts'
import type { Pool } from './pool.ts'
import { type AskRows, gatheredReads, pgReads } from './reads.ts'
import { refusalOf } from './refusal.ts'
import { type PgTable, pgTable } from './schema.ts'
import { adopt, create, takeOver } from './setup.ts'
import { insertStatement } from './statements.ts'

/*
 * Copies a whole store between files and a database. What the database sees is one transaction: a copy that fails or is
 * killed leaves no table behind. Both sides are read back and compared before a copy counts. Rows pass in their order,
 * a batch at a time, so that a copy needs no more memory for more of them.
 */

/** Rows that are read or written at once; large texts are files, so that a row has some kilobytes. */
const BATCH_ROWS = 500
const BATCH_CHARS = 1024 * 1024
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
  /** Called with the number of rows copied so far. */
  readonly watch: (rows: number) => void
}

/** A store in files that nobody writes. */
export type CopiedFiles = Books & Pick<LowdbStore, 'rows' | 'blobs' | 'storeId'>

/**
 * Copies files into a schema without a marketplace. A schema that has exactly these contents is taken for an earlier copy.
 * @throws AppError `conflict` for a schema with other contents
 */
export function copyToDatabase(parts: CopyParts, source: CopiedFiles): Promise<Contents> {
  const { address, audit } = parts
  return inSession({ ...parts, commits: true }, async (session, tables) => {
    await session.query(`select pg_advisory_xact_lock(hashtext('souk ${address.schema}'))`)
    if (await hasMarketplace(session, address)) {
      const found = await contentsOf(rowsIn(session, tables), await filesIn(session))
      if ((await contentsOf(source.rows(), await source.blobs.list())).sha256 === found.sha256) return found
      throw new AppError(
        'conflict',
        `${shownAddress(address)} has another marketplace. Add ?schema=NAME to the address to use an empty schema.`,
      )
    }
    await create(session, { schema: address.schema, tables: [...tables.values()] })
    await session.query('update souk_format set store = $1', [source.storeId])
    const sum = adding(parts.watch)
    await insertAll(session, tables, sum.passing(source.rows()))
    const wanted = sum.end(await source.blobs.list())
    await session.query('update souk_lane set seq = $1, records = $2', [source.stats().seq, wanted.rows])
    await copyFiles(source.blobs, await ownBlobs(session))
    await session.query('delete from souk_instances')
    const copied = await contentsOf(rowsIn(session, tables), await filesIn(session))
    requireSame([wanted.sha256, copied.sha256], [await audit(source), await audit(booksIn(session, tables))])
    return copied
  })
}

/**
 * Copies a database into a new folder for files. No daemon has the database meanwhile.
 * @param open - opens the new folder
 * @throws AppError `not_found` for a schema without a marketplace; StoreLocked while a daemon has it
 */
export function copyToFiles(
  parts: CopyParts,
  dir: string,
  open: () => Promise<CopiedFiles & Pick<Store, 'close'>>,
): Promise<Contents> {
  const { address, audit } = parts
  return inSession(parts, async (session, tables) => {
    const shown = shownAddress(address)
    if (!(await hasMarketplace(session, address)))
      throw new AppError('not_found', `${shown} has no marketplace: name its database and schema.`)
    // Keeps daemons out until the copy is read.
    await session.query('select 1 from souk_lane where id = 1 for update')
    await takeOver(session, shown)
    await adopt(session, [...tables.values()])
    const [format] = await session.query('select store from souk_format')
    const sum = adding(parts.watch)
    const writer = await writeWhole(dir, String(format?.store))
    try {
      for await (const row of sum.passing(rowsIn(session, tables))) await writer.add(...row)
      await copyFiles(await ownBlobs(session), await openBlobs({ dir: join(dir, BLOB_DIR) }))
      await writer.end()
    } catch (error) {
      await writer.drop()
      throw error
    }
    const found = sum.end(await filesIn(session))
    const store = await open()
    try {
      const copied = await contentsOf(store.rows(), await store.blobs.list())
      requireSame([found.sha256, copied.sha256], [await audit(booksIn(session, tables)), await audit(store)])
      return copied
    } finally {
      await store.close()
    }
  })
}

/** Runs a copy in one transaction of a session of its own, and takes back what it did not commit. */
async function inSession(
  { address, collections, commits = false }: CopyParts & { readonly commits?: boolean },
  copy: (session: Connection, tables: Tables) => Promise<Contents>,
): Promise<Contents> {
  let lost = 'Nothing was copied'
  try {
    const session = await connectPrimary(address, 'souk store copy')
    try {
      // The session waits while the files are read.
      await session.script('begin; set local idle_in_transaction_session_timeout = 0')
      const tables = new Map(collections.map((collection) => [collection.name, pgTable(collection)]))
      const contents = await copy(session, new Map(inOrder(tables)))
      if (commits) {
        lost = 'The copy may be complete'
        await session.commit()
      }
      return contents
    } finally {
      await session.script('rollback').catch(() => undefined) // after a commit, it does nothing
      await session.end()
    }
  } catch (error) {
    if (!isLost(error)) throw refusalOf(error, address)
    const message = `The connection to ${shownAddress(address)} broke. ${lost}: run the same command again.`
    throw new AppError('unavailable', message, { cause: error })
  }
}

/** By collection, in the order of their names. */
type Tables = ReadonlyMap<string, PgTable>

function tableOf(tables: Tables, name: string): PgTable {
  const table = tables.get(name)
  if (table === undefined) throw new TypeError(`${name} is not declared`)
  return table
}

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

/** Adds up what a store has, while its rows pass. They come in the order of names and keys. */
function adding(watch: CopyParts['watch'] = () => undefined) {
  const hash = createHash('sha256')
  let rows = 0
  return {
    async *passing(all: AsyncIterable<StoredRow>): AsyncGenerator<StoredRow> {
      for await (const row of all) {
        hash.update(`${JSON.stringify(row)}\n`)
        rows += 1
        if (rows % BATCH_ROWS === 0) watch(rows)
        yield row
      }
    },
    end(files: readonly string[]): Contents {
      hash.update([...files].sort().join('\n'))
      return { rows, files: files.length, sha256: hash.digest('hex') }
    },
  }
}

async function contentsOf(rows: AsyncIterable<StoredRow>, files: readonly string[]): Promise<Contents> {
  const sum = adding()
  for await (const _row of sum.passing(rows));
  return sum.end(files)
}

async function* rowsIn(session: Connection, tables: Tables): AsyncGenerator<StoredRow> {
  for (const [collection, { name }] of tables) {
    const text = `select k, doc from ${name} where k > $1 order by k limit ${BATCH_ROWS}`
    for (let after: string | undefined = ''; after !== undefined; ) {
      const rows = await session.query(text, [after])
      for (const { doc } of rows) yield [collection, doc]
      after = rows.length < BATCH_ROWS ? undefined : String(rows.at(-1)?.['k'])
    }
  }
}

async function filesIn(session: Connection): Promise<string[]> {
  return (await session.query('select sha from souk_blobs')).map(({ sha }) => String(sha))
}

async function insertAll(session: Connection, tables: Tables, rows: AsyncIterable<StoredRow>) {
  let table: PgTable | undefined
  let docs = new Map<AnyRow, string>()
  let chars = 0
  async function flush(): Promise<void> {
    if (table === undefined) return
    const [text, values] = insertStatement(table, [...docs.keys()], (row) => docs.get(row) ?? '')
    await session.query(text, values)
    docs = new Map()
    chars = 0
  }
  for await (const [name, json] of rows) {
    if (table?.shape.collection.name !== name || docs.size >= BATCH_ROWS || chars >= BATCH_CHARS) {
      await flush()
      table = tableOf(tables, name)
    }
    const doc = JSON.stringify(json)
    docs.set(table.shape.codec.fromJson(json as AnyRow), doc) // both sides keep only rows
    chars += doc.length
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
    if (copied.sha256 !== sha256)
      throw new AppError('conflict', `The file ${sha256} is damaged, so nothing was copied. Run: souk verify`)
  }
}

function booksIn(session: Connection, tables: Tables): Books {
  const ask: AskRows = ([text, values]) => session.query(text, values)
  const readsOf = perTable(tables, (table) => gatheredReads(pgReads(table, ask)))
  const reads = readHandle(async (call) => call(), readsOf)
  return { read: (body) => body(reads), stats: () => ({ seq: 0, records: 0, journalBytes: 0, syncs: 0 }) }
}
