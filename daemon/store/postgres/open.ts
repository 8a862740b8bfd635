import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BlobStore } from '../blobs.ts'
import { DEFAULT_WATCHDOG_MS, listenerSet, readHandle } from '../engine/engine.ts'
import { guardOf, openScope, type Scope, type ScopeGuard, settle, type Watchdog } from '../engine/scope.ts'
import { StoreLocked, StoreMisuse, StoreStopped } from '../errors.ts'
import type { AnyCollection, Change, Collection, Reader, ReadTx, Row, Store } from '../port.ts'
import { type PgAddress, shownAddress } from './address.ts'
import { perTable } from './batch.ts'
import { pgBlobs, removeUnfinished } from './blobs.ts'
import { type Connection, connectPrimary } from './connection.ts'
import { createLane, type PgLane } from './lane.ts'
import { createPool, type Pool } from './pool.ts'
import { type AskRows, createRowCache, gatheredReads, pgReads } from './reads.ts'
import { type PgTable, pgTable } from './schema.ts'
import { type PreparedDatabase, prepare, renew, sessionName } from './setup.ts'
import { frontSession, type LeaderAddress } from './spare.ts'

const MAX_CACHED_ROWS = 50_000
const RENEW_MS = 2_000
const OPEN_TRIES = 10
const OPEN_PAUSE_MS = 200
/** Time for the first run of a batch's bodies, so that one that waits does not stop the others. */
const SCOUT_MS = 200

export type AnswersAt = (ownAddress: string) => LeaderAddress

export type PgStoreOptions = {
  readonly address: PgAddress
  readonly collections: readonly AnyCollection[]
  /** Called once when this process may not write any more and must end. */
  readonly onFatal: (error: StoreStopped) => void
  /** Names this process to others, such as `pid 12 on host`. */
  readonly label: string
  /** Where other daemons reach this one, given the address of its machine (default: nowhere). */
  readonly answersAt?: AnswersAt
  /** Aborted when the process is to end: then nothing waits for a database that is away. */
  readonly stopping?: AbortSignal
  /** Whether other processes may use the database at the same time. Then each reads what the others write. */
  readonly isShared?: boolean
  readonly watchdogMs?: number
  readonly freeze?: boolean
}

/** How safe the database keeps what was committed. */
export type PgStatus = {
  readonly version: string
  /** Host that accepts writes. */
  readonly host: string
  readonly synchronousCommit: string
  /** Number of standbys that a commit waits for. */
  readonly synchronousStandbys: number
  /** How much of the log each connected standby has not applied yet, such as `16 kB, 0 bytes`; empty without any. */
  readonly lags: string
  /** Size of the database on disk. */
  readonly size: string
  /** Number of daemons that hand their requests to this one. */
  readonly fronts: number
}

export type PgStore = Store & {
  readonly storeId: string
  readonly blobs: BlobStore
  /** The address without its password. */
  readonly address: string
  status(): Promise<PgStatus>
  /** Whether the database did not answer when the lease was last renewed. */
  isAway(): boolean
}

/** Opens a store in PostgreSQL. @throws StoreUnreachable, StoreLocked, StoreFormatUnknown */
export async function openPgStore(options: PgStoreOptions): Promise<PgStore> {
  const { address, isShared = false, label } = options
  const tables = new Map(options.collections.map((collection) => [collection.name, pgTable(collection)]))
  const shown = shownAddress(address)
  const first = await connectPrimary(address, 'souk')
  const answers = options.answersAt ? JSON.stringify(options.answersAt(first.ownAddress)) : null
  const { schema } = address
  const parts = { schema, tables: [...tables.values()], label, isExclusive: !isShared, shown, answers }
  const prepared = await prepareSoon(first, parts).catch(async (error: unknown) => {
    await first.end()
    throw error
  })
  let isClosed = false
  const isOver = () => isClosed || options.stopping?.aborted === true
  const pool = createPool(() => connectPrimary(address, sessionName(prepared.instance)), isOver)
  const stop = { error: undefined as StoreStopped | undefined }
  const fatal = (error: StoreStopped): void => {
    if (stop.error !== undefined) return
    stop.error = error
    options.onFatal(error)
  }
  const listeners = listenerSet()
  const running = new AsyncLocalStorage<Scope | undefined>()
  const lane = createLane(
    {
      tables,
      cache: createRowCache(MAX_CACHED_ROWS),
      running,
      freeze: options.freeze ?? false,
      inTime: timeLimit(options.watchdogMs ?? DEFAULT_WATCHDOG_MS),
      inScoutTime: timeLimit(Math.min(SCOUT_MS, options.watchdogMs ?? SCOUT_MS)),
      connect: () => connectPrimary(address, sessionName(prepared.instance)),
      instance: prepared.instance,
      isShared,
      // Listeners are not part of the transaction whose turn it is.
      deliver: (change: Change) => running.run(undefined, listeners.tell, change),
      onFatal: fatal,
      isOver,
    },
    { ...prepared, session: first },
  )
  if (!isShared) await pool.retry(removeUnfinished)
  const lease = keepLease({ pool, prepared, fatal })
  const store = storeOver({ lane, pool, tables, running, listeners, stop, options })
  return {
    ...store,
    storeId: prepared.storeId,
    blobs: pgBlobs(pool, prepared.instance),
    isAway: lease.isAway,
    address: shown,
    status: () => pool.retry((connection) => statusOf(connection, schema)),
    async close() {
      isClosed = true
      lease.stop()
      await store.close()
      await lane.close((session) => session.query('delete from souk_instances where id = $1', [prepared.instance]))
      await pool.close()
    },
  }
}

/** Waits for the sessions of a process that was killed, which end a moment after it. */
async function prepareSoon(connection: Connection, parts: Parameters<typeof prepare>[1]): Promise<PreparedDatabase> {
  for (let tries = 1; tries < OPEN_TRIES; tries += 1) {
    try {
      return await prepare(connection, parts)
    } catch (error) {
      if (!(error instanceof StoreLocked)) throw error
    }
    await sleep(OPEN_PAUSE_MS)
  }
  return prepare(connection, parts)
}

async function statusOf(connection: Connection, schema: string): Promise<PgStatus> {
  const [found] = await connection.query(
    `select current_setting('server_version') as version, current_setting('synchronous_commit') as sync,
      (select count(*)::float8 from pg_stat_replication where sync_state in ('sync', 'quorum')) as standbys,
      (select coalesce(string_agg(pg_size_pretty(greatest(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn), 0)), ', '), '')
        from pg_stat_replication where replay_lsn is not null) as lags,
      pg_size_pretty(pg_database_size(current_database())) as size,
      (select count(*)::float8 from pg_stat_activity where application_name = $1) as fronts`,
    [frontSession(schema)],
  )
  const { host, port } = connection.host
  return {
    version: String(found?.version),
    host: host.startsWith('/') ? host : `${host}:${port}`,
    synchronousCommit: String(found?.sync),
    synchronousStandbys: Number(found?.standbys),
    lags: String(found?.lags),
    size: String(found?.size),
    fronts: Number(found?.fronts),
  }
}

type LeaseParts = {
  readonly pool: Pool
  readonly prepared: PreparedDatabase
  readonly fatal: (error: StoreStopped) => void
}

/** Renews the lease until it is stopped. */
function keepLease({ pool, prepared, fatal }: LeaseParts) {
  let timer: NodeJS.Timeout
  let isStopped = false
  let isAway = false
  async function again(): Promise<void> {
    // A database that does not answer cannot hand the store to another daemon.
    const isKept = await pool.use((connection) => renew(connection, prepared.instance)).catch(() => undefined)
    isAway = isKept === undefined
    if (isKept === false && !isStopped)
      fatal(new StoreStopped('another daemon took over the database, so this one stops'))
    if (!isStopped) arm()
  }
  function arm(): void {
    timer = setTimeout(() => void again(), RENEW_MS)
    timer.unref()
  }
  arm()
  return {
    isAway: () => isAway,
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

function timeLimit(ms: number): Watchdog {
  return (body) =>
    new Promise((resolve, reject) => {
      const giveUp = () => reject(new StoreMisuse(`a tx or read body did not settle within ${ms} ms`))
      const timer = setTimeout(giveUp, ms)
      timer.unref()
      body.finally(() => clearTimeout(timer)).then(resolve, reject)
    })
}

type StoreParts = {
  readonly lane: PgLane
  readonly pool: Pool
  readonly tables: ReadonlyMap<string, PgTable>
  readonly running: AsyncLocalStorage<Scope | undefined>
  readonly listeners: ReturnType<typeof listenerSet>
  readonly stop: { readonly error: StoreStopped | undefined }
  readonly options: PgStoreOptions
}

function storeOver({ lane, pool, tables, running, listeners, stop, options }: StoreParts): Store {
  let isClosed = false
  const inTime = timeLimit(options.watchdogMs ?? DEFAULT_WATCHDOG_MS)

  function enter(call: string): void {
    const stopped = isClosed ? new StoreStopped('the store is closed') : stop.error
    if (stopped !== undefined) throw stopped
    if (running.getStore()?.open) throw new StoreMisuse(`${call} inside a tx or read body: use the handle of that body`)
  }

  const single: ScopeGuard = async (call) => {
    enter('a read outside the handle')
    return call()
  }

  async function read<T>(body: (t: ReadTx) => Promise<T>): Promise<T> {
    enter('read')
    return pool.use(async (connection) => {
      await connection.script('begin isolation level repeatable read read only')
      const scope = openScope()
      const readsOf = perTable(tables, (table) => pgReads(table, ([text, values]) => connection.query(text, values)))
      try {
        return await settle(scope, running.run(scope, body, readHandle(guardOf(scope), readsOf)), inTime)
      } finally {
        // A connection that is gone has rolled back, and nothing was written.
        await connection.script('rollback').catch(() => undefined)
      }
    })
  }

  const asking: AskRows = ([text, values]) => pool.retry((connection) => connection.query(text, values))
  const outside = readHandle(
    single,
    perTable(tables, (table) => gatheredReads(pgReads(table, asking))),
  )

  return {
    async tx(body) {
      enter('tx')
      return lane.tx(body)
    },
    read,
    table: <R extends Row>(collection: Collection<R>): Reader<R> => outside.table(collection),
    // Only committed rows are ever seen.
    durable: async () => undefined,
    subscribe: listeners.add,
    stats: () => ({ ...lane.stats(), journalBytes: 0 }),
    async close() {
      isClosed = true
    },
  }
}
