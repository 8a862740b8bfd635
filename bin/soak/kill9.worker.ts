import { writeSync } from 'node:fs'
import { openLowdbStore } from '../../daemon/store/lowdb/open.ts'
import { purchase, purchaseCollections } from '../bench/purchase.ts'

/** Buys until it is killed; prints the number of a purchase once it is acknowledged, never before. */
const WRITERS = 16
/** Small, so that kills also hit snapshots, switches and removals. */
const COMPACT_ABOVE_BYTES = 512 * 1024
const STDOUT = 1
const FATAL_EXIT = 70

const [dir, first, rows] = process.argv.slice(2)
const store = await openLowdbStore({
  dir: dir as string,
  collections: purchaseCollections,
  now: Date.now,
  onFatal: () => process.exit(FATAL_EXIT),
  compactAboveBytes: COMPACT_ABOVE_BYTES,
  ...(rows === 'level' ? { levelFrom: 0 } : {}),
})
writeSync(STDOUT, 'ready\n')

let next = Number(first)
async function buyForEver(): Promise<never> {
  for (;;) {
    const n = next
    next += 1
    await store.tx((t) => purchase(t, n))
    writeSync(STDOUT, `${n}\n`)
  }
}
await Promise.all(Array.from({ length: WRITERS }, buyForEver))
