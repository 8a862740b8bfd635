import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { median, ratios, rounded } from './report.ts'
import { ask, inTempDir, start, stop } from './storage.ts'
import type { Look } from './storage.worker.ts'

const ROUNDS = 6
/** Long enough for some flushes. */
const ROUND_MS = 2_000
const WARM_UP_MS = 1_000
const WRITERS = [16, 64] as const
const BYTES_A_KB = 1_000
const MILLISECONDS_A_SECOND = 1_000

/** What a store costs that has made many purchases, with its rows in LevelDB. */
export function growth(purchases: number) {
  return inTempDir(async (dir) => {
    const [store, empty] = [join(dir, 'store'), join(dir, 'empty')]
    await start({ do: 'grow', dir: store, purchases })
    await start({ do: 'grow', dir: empty, purchases: 0 })
    const diskBytes = await bytesIn(store)
    // Each in a process of its own, the empty one first: the first start reads the sources from the disk.
    const bare = await looked(empty)
    const full = await looked(store)
    const commits = await commitRatios(store, join(dir, 'memory'))
    return {
      purchases,
      anon_mb_over_empty: rounded(full.anonMb - bare.anonMb),
      disk_kb_per_purchase: rounded(diskBytes / BYTES_A_KB / purchases),
      start_cpu_s_over_empty: rounded((full.cpuMs - bare.cpuMs) / MILLISECONDS_A_SECOND),
      page_p99_ms: rounded(full.pageP99Ms),
      commit_ratio_16: rounded(commits[16]),
      commit_ratio_64: rounded(commits[64]),
    }
  })
}

async function looked(dir: string): Promise<Look> {
  return (await start({ do: 'look', dir })).answer as Look // what the worker answers to this
}

/** A store over LevelDB that flushes, against one whose rows are in memory, in turns. */
async function commitRatios(inLevel: string, inMemory: string): Promise<Record<(typeof WRITERS)[number], number>> {
  const level = await start({ do: 'commit', dir: inLevel, records: 0, rows: 'level' })
  const memory = await start({ do: 'commit', dir: inMemory, records: 0 })
  const rates = {
    16: { level: [] as number[], memory: [] as number[] },
    64: { level: [] as number[], memory: [] as number[] },
  }
  for (const child of [level, memory]) await ask(child, { writers: 16, ms: WARM_UP_MS })
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const writers of WRITERS) {
      rates[writers].level.push((await ask(level, { writers, ms: ROUND_MS })).perSecond)
      rates[writers].memory.push((await ask(memory, { writers, ms: ROUND_MS })).perSecond)
    }
  }
  await stop(level)
  await stop(memory)
  const middle = (writers: (typeof WRITERS)[number]) => median(ratios(rates[writers].level, rates[writers].memory))
  return { 16: middle(16), 64: middle(64) }
}

async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}
