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

/* A spare: a daemon that waits until the one that has the database stops, hangs or loses its connections. */

const POLL_MS = 250
/** A holder without any session is gone after that time, so that it may connect again after a fail-over. */
const GRACE_SECONDS = 3
const POLLS_PER_REPORT = 4

export type SpareParts = {
  readonly address: PgAddress
  /** Refuses a store that this daemon could not serve. */
  readonly check: (store: Pick<Store, 'table'>) => Promise<void>
  /** Called again and again with the name of the daemon that has the store. Ends the wait by an error. */
  readonly onWaiting: (holder: string) => void
}

/** Waits until no daemon has the database. It does not take it: others may wait, too. */
export async function untilFree({ address, check, onWaiting }: SpareParts): Promise<void> {
  const pool = createPool(() => connectPrimary(address, 'souk spare'))
  try {
    let holder = await pool.use(async (connection) => {
      const [found] = await connection.query(`select to_regclass('souk_instances')::text as there`)
      if (found?.there == null) return undefined
      await check(readsOf(connection))
      return holderOf(connection)
    })
    for (let polls = 0; holder !== undefined; polls += 1) {
      if (polls % POLLS_PER_REPORT === 0) onWaiting(holder)
      await sleep(POLL_MS)
      // A database that is away, as in a fail-over, cannot say that it is free.
      holder = await pool.use(holderOf).catch((error: unknown) => {
        if (isPassing(error)) return holder
        throw error
      })
    }
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

async function holderOf(connection: Connection): Promise<string | undefined> {
  const [row] = await connection.query(
    `select label from souk_instances i where until > clock_timestamp() and (
      until > clock_timestamp() + $1::float8 * interval '1 second' or exists (
        select 1 from pg_stat_activity where datname = current_database() and application_name = 'souk ' || i.id)) limit 1`,
    [LEASE_SECONDS - GRACE_SECONDS],
  )
  return row && String(row.label)
}
