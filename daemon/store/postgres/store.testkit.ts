import { testServer } from '../../../fixtures/kit/postgres.ts'
import type { PgAddress } from './address.ts'
import { type Connection, connectPrimary } from './connection.ts'
import { openPgStore, type PgStore, type PgStoreOptions } from './open.ts'

/* Stores of tests, each in a schema of its own. */

let schemas = 0

/** The address of a schema that nobody used. */
export async function freshAddress(): Promise<PgAddress> {
  schemas += 1
  return (await testServer()).addressOf(`t${process.pid}_${schemas}`)
}

export function openTestStore(
  address: PgAddress,
  options: Pick<PgStoreOptions, 'collections'> & Partial<PgStoreOptions>,
): Promise<PgStore> {
  const onFatal = (error: Error): void => {
    throw error
  }
  return openPgStore({ address, label: 'a test', onFatal, freeze: true, ...options })
}

/** Runs work in a session of its own. */
export async function inSession<T>(address: PgAddress, work: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await connectPrimary(address, 'test')
  try {
    return await work(connection)
  } finally {
    await connection.end()
  }
}

export async function dropSchema(address: PgAddress): Promise<void> {
  await inSession(address, (connection) => connection.script(`drop schema ${address.schema} cascade`))
}
