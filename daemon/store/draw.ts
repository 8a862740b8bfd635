import { hash } from 'node:crypto'
import type { Entropy } from '../../src/core/entropy.ts'
import { idPrefixes, type Noun } from '../../src/core/id.ts'
import type { Store, Tx } from './port.ts'

const ID_BYTES = 8
const SEED_BYTES = 32

/**
 * Ids and secrets for a transaction body, drawn from a seed taken before it: a body that runs
 * again draws the same ones, as the port's rerun rule asks.
 */
export type Draw = {
  id(noun: Noun): string
  bytes(count: number): Buffer
}

export function drawFrom(seed: Buffer): Draw {
  let block = 0
  const bytes = (count: number): Buffer => {
    const blocks: Buffer[] = []
    for (let length = 0; length < count; length += SEED_BYTES) {
      blocks.push(hash('sha256', Buffer.concat([seed, Buffer.from(String(block++))]), 'buffer'))
    }
    return Buffer.concat(blocks).subarray(0, count)
  }
  return { bytes, id: (noun) => `${idPrefixes[noun]}${bytes(ID_BYTES).toString('hex')}` }
}

/** One transaction with a fresh seed; see `Store.tx` for what a body may do. */
export function commit<T>(
  world: { readonly store: Store; readonly entropy: Entropy },
  body: (t: Tx, draw: Draw) => Promise<T>,
): Promise<T> {
  const seed = world.entropy(SEED_BYTES)
  return world.store.tx((t) => body(t, drawFrom(seed)))
}
