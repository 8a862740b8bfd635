import { moveStore } from '../../daemon/index.ts'
import { boundHeapGrowth } from '../../src/lifecycle/memory.ts'
import type { Move, Moved } from './store-copy.ts'

// `souk store copy` in a process of its own, which says what it took.

const KB_A_MB = 1_000
const MILLISECONDS_A_SECOND = 1_000
boundHeapGrowth()
// What the parent passed.
const { dataDir, ...wanted } = JSON.parse(process.argv[2] ?? '') as Move

async function moved(): Promise<Moved> {
  try {
    const { rows, files, sha256 } = await moveStore(dataDir, { ...wanted, watch: () => undefined })
    const seconds = performance.now() / MILLISECONDS_A_SECOND
    return { rows, files, sha256, seconds, peakMb: process.resourceUsage().maxRSS / KB_A_MB }
  } catch (error) {
    return { refused: error instanceof Error ? error.message : String(error) }
  }
}

process.send?.(await moved())
process.disconnect()
