import { RowInvalid } from '../errors.ts'
import type { Change } from '../port.ts'
import type { AnyRow } from './order.ts'
import type { State } from './state.ts'

/** JSON of one transaction: `{"s":seq,"t":ms,"w":[[collection,key,row|null],…]}`. @throws RowInvalid */
export function encodeChange(state: State, change: Change, nowMs: number): string {
  const writes = change.writes.map(({ collection, key, row }) =>
    encodeWrite(state, { collection, key, row: row as AnyRow | null }),
  )
  return `{"s":${change.seq},"t":${nowMs},"w":[${writes.join(',')}]}`
}

function encodeWrite(state: State, write: { collection: string; key: string; row: AnyRow | null }): string {
  const { collection, key, row } = write
  const codec = state.get(collection)?.codec
  try {
    return JSON.stringify([collection, key, row === null || codec === undefined ? null : codec.toJson(row)])
  } catch (error) {
    // A bigint where the schema shows none (z.custom, z.unknown): it could not be told from text on load.
    throw new RowInvalid(collection, key, error)
  }
}
