import { StoreFormatUnknown, StoreLocked } from '../errors.ts'
import { FORMAT } from '../migrations.ts'
import type { Connection } from './connection.ts'
import type { PgTable } from './schema.ts'

/* What a store has besides the tables of its collections, and how it is created and taken. */

const OWN_TABLES = [
  `create table souk_format (id int primary key, store text not null, format int not null, tables json not null)`,
  // The row that every writer locks. Little of its page is filled, so that updates stay in it.
  `create table souk_lane (id int primary key, seq int8 not null, records int8 not null) with (fillfactor = 10)`,
  `insert into souk_lane values (1, 0, 0)`,
  `create table souk_changes (upto int8 primary key, batch text not null unique, instance text not null,
    at timestamptz not null default clock_timestamp(), writes json)`,
  `create table souk_instances (id text primary key, label text not null, until timestamptz not null, answers text)`,
  `create table souk_blobs (sha text collate "C" primary key, size int8 not null, upload int8 not null,
    at timestamptz not null default clock_timestamp())`,
  `create table souk_blob_parts (upload int8 not null, n int not null, bytes bytea not null, primary key (upload, n))`,
  // Files are mostly compressed already.
  `alter table souk_blob_parts alter column bytes set storage external`,
  `create sequence souk_uploads`,
]

/** How long a daemon that does not renew its lease keeps the database. */
export const LEASE_SECONDS = 10

export type PreparedDatabase = {
  readonly storeId: string
  /** Id of this process. */
  readonly instance: string
  readonly seq: number
  readonly records: number
}

type SetupParts = {
  readonly schema: string
  readonly tables: readonly PgTable[]
  /** Names this process to others. */
  readonly label: string
  /** Whether a second process is refused. */
  readonly isExclusive: boolean
  /** The address without its password. */
  readonly shown: string
  /** Where this process answers requests of other daemons, as JSON. */
  readonly answers: string | null
}

/**
 * Creates what is missing and registers this process, in one transaction.
 * @throws StoreLocked when another daemon has the database, StoreFormatUnknown
 */
export async function prepare(connection: Connection, parts: SetupParts): Promise<PreparedDatabase> {
  const { schema, tables, isExclusive } = parts
  await connection.script(`begin; select pg_advisory_xact_lock(hashtext('souk ${schema}'))`)
  try {
    const [found] = await connection.query('select to_regclass($1)::text as there', [`${schema}.souk_format`])
    if (found?.there === null) await create(connection, parts)
    else await adopt(connection, tables)
    if (isExclusive) await connection.query(END_EXPIRED)
    const lane = await connection.query('select seq::float8, records::float8 from souk_lane where id = 1 for update')
    if (isExclusive) await takeOver(connection, parts.shown)
    const [own] = await connection.query(
      `insert into souk_instances (id, label, until, answers)
        values (gen_random_uuid()::text, $1, clock_timestamp() + $2::float8 * interval '1 second', $3)
        returning id, (select store from souk_format) as store`,
      [parts.label, LEASE_SECONDS, parts.answers],
    )
    // Others see by the name of its database session that the process runs.
    await connection.query(`select set_config('application_name', $1, false)`, [sessionName(String(own?.id))])
    await connection.commit()
    return {
      storeId: String(own?.store),
      instance: String(own?.id),
      seq: Number(lane[0]?.seq),
      records: Number(lane[0]?.records),
    }
  } catch (error) {
    // A connection that is gone has rolled back.
    await connection.script('rollback').catch(() => undefined)
    throw error
  }
}

export async function create(
  connection: Connection,
  { schema, tables }: Pick<SetupParts, 'schema' | 'tables'>,
): Promise<void> {
  await connection.script(
    [`create schema if not exists ${schema}`, ...OWN_TABLES, ...tables.flatMap(({ ddl }) => ddl)].join(';'),
  )
  await connection.query('insert into souk_format values (1, gen_random_uuid()::text, $1, $2::text::json)', [
    FORMAT,
    JSON.stringify(declared(tables)),
  ])
}

const declared = (tables: readonly PgTable[]): Record<string, readonly string[]> =>
  Object.fromEntries(tables.map(({ shape, ddl }) => [shape.collection.name, ddl]))

/** Adds the tables of new collections. @throws StoreFormatUnknown */
export async function adopt(connection: Connection, tables: readonly PgTable[]): Promise<void> {
  const [row] = await connection.query('select format, tables from souk_format')
  const known = row?.tables as Readonly<Record<string, readonly string[]>>
  if (row?.format !== FORMAT)
    throw new StoreFormatUnknown(`the database has rows of format ${row?.format}; this souk writes format ${FORMAT}`)
  const [column] = await connection.query(
    `select 1 from pg_attribute where attrelid = 'souk_instances'::regclass and attname = 'answers'`,
  )
  // Databases of earlier versions do not have it. Writers read that table, so it is locked only then.
  if (column === undefined) await connection.script('alter table souk_instances add column answers text')
  const fresh = tables.filter(({ shape }) => known[shape.collection.name] === undefined)
  for (const [name, ddl] of Object.entries(declared(tables)))
    if (known[name] !== undefined && JSON.stringify(known[name]) !== JSON.stringify(ddl))
      throw new StoreFormatUnknown(`${name} was declared differently when its rows were written`)
  if (fresh.length === 0) return
  await connection.script(fresh.flatMap(({ ddl }) => ddl).join(';'))
  await connection.query('update souk_format set tables = $1::text::json', [
    JSON.stringify({ ...known, ...declared(fresh) }),
  ])
}

/** Ends the sessions of a process that hangs: its open transaction would keep the lock of the writers. */
const END_EXPIRED = `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()
  and application_name in (select 'souk ' || id from souk_instances where until < clock_timestamp())`

/** Sessions of a process, by which others see whether it still runs. */
export const sessionName = (instance: string): string => `souk ${instance}`

/**
 * Removes the instances that ended: their lease has run out, or none of their sessions is left. Whoever still runs
 * without its row finds that out under the lock and stops.
 * @throws StoreLocked when one of them runs
 */
export async function takeOver(connection: Connection, shown: string): Promise<void> {
  await connection.script(
    `delete from souk_instances i where until < clock_timestamp() or not exists (
      select 1 from pg_stat_activity where datname = current_database() and application_name = 'souk ' || i.id)`,
  )
  const [other] = await connection.query('select label from souk_instances limit 1')
  if (other !== undefined) throw new StoreLocked(`${shown} (${other.label})`)
}

/** Extends the lease. @returns false when it was taken away */
export async function renew(connection: Connection, instance: string): Promise<boolean> {
  const rows = await connection.query(
    `update souk_instances set until = clock_timestamp() + $2::float8 * interval '1 second' where id = $1 returning 1`,
    [instance, LEASE_SECONDS],
  )
  return rows.length > 0
}
