import { setTimeout as sleep } from 'node:timers/promises'
import { readHandle } from '../engine/engine.ts'
import type { Store } from '../port.ts'
import type { PgAddress } from './address.ts'
import { type Connection, connectPrimary } from './connection.ts'
import { createPool } from './pool.ts'
import { pgReads } from './reads.ts'
import { isPassing } from './retry.ts'
import { pgTable } from './schema.ts'
import { LEASE_SECONDS } from './setup.ts'

/*
 * A spare: a daemon that waits until the one that has the database, the leader, stops, hangs or loses its connections.
 * Meanwhile it hands its requests to the leader.
 */

const POLL_MS = 250
/** A holder without any session is gone after that time, so that it may connect again after a fail-over. */
const GRACE_SECONDS = 3
const POLLS_PER_REPORT = 4

/** Where a daemon answers requests that another one hands to it. */
export type LeaderAddress = {
  readonly url: string
  /** Its certificate (PEM), if it answers over TLS. */
  readonly cert?: string
}

/** The daemon that has the database. */
export type Holder = Partial<LeaderAddress> & { readonly label: string }

/** Session of a spare, by which the leader counts them. */
export const frontSession = (schema: string): string => `souk front of ${schema}`

export type SpareParts = {
  readonly address: PgAddress
  /** Refuses a store that this daemon could not serve. */
  readonly check: (store: Pick<Store, 'table'>) => Promise<void>
  /** Called on each change, undefined once no daemon has the store, and again and again. Ends the wait by an error. */
  readonly onHolder: (holder: Holder | undefined) => void
}

/** Waits until no daemon has the database. It does not take it: others may wait, too. */
export async function untilFree({ address, check, onHolder }: SpareParts): Promise<void> {
  const pool = createPool(() => connectPrimary(address, frontSession(address.schema)))
  async function look(connection: Connection): Promise<Holder | undefined> {
    const [found] = await connection.query(`select to_regclass('souk_instances')::text as there`)
    if (found?.there == null) return undefined
    await check(readsOf(connection))
    return holderOf(connection)
  }
  try {
    let holder = await pool.use(look)
    let shown: Holder | undefined
    for (let polls = 0; holder !== undefined; polls += 1) {
      if (polls % POLLS_PER_REPORT === 0 || holder.label !== shown?.label || holder.url !== shown.url) onHolder(holder)
      shown = holder
      await sleep(POLL_MS)
      // A database that is away, as in a fail-over, cannot say that it is free.
      holder = await pool.use(look).catch((error: unknown) => {
        if (isPassing(error)) return shown
        throw error
      })
    }
    onHolder(undefined)
  } finally {
    await pool.close()
  }
}

function readsOf(connection: Connection): Pick<Store, 'table'> {
  const ask = ([text, values]: Parameters<Parameters<typeof pgReads>[1]>[0]) => connection.query(text, values)
  return readHandle(
    async (call) => call(),
    (collection) => pgReads(pgTable(collection), ask),
  )
}

async function holderOf(connection: Connection): Promise<Holder | undefined> {
  // The column is absent where a daemon of an earlier version has the database.
  const [row] = await connection.query(
    `select label, to_jsonb(i) ->> 'answers' as answers from souk_instances i where until > clock_timestamp() and (
      until > clock_timestamp() + $1::float8 * interval '1 second' or exists (
        select 1 from pg_stat_activity where datname = current_database() and application_name = 'souk ' || i.id)) limit 1`,
    [LEASE_SECONDS - GRACE_SECONDS],
  )
  if (row === undefined) return undefined
  const answers = row.answers === null ? {} : (JSON.parse(String(row.answers)) as LeaderAddress)
  return { label: String(row.label), ...answers }
}
