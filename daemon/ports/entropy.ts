import { randomFillSync } from 'node:crypto'
import type { Entropy } from '../../src/core/hex.ts'

const POOL_BYTES = 4_096

/** Random bytes, read in pools to save system calls. */
export function systemEntropy(): Entropy {
  const pool = Buffer.alloc(POOL_BYTES)
  let at = POOL_BYTES
  return (count) => {
    if (count > POOL_BYTES) return randomFillSync(Buffer.alloc(count))
    if (at + count > POOL_BYTES) {
      randomFillSync(pool)
      at = 0
    }
    const drawn = Buffer.from(pool.subarray(at, at + count))
    pool.fill(0, at, at + count)
    at += count
    return drawn
  }
}
