import { type FuzzResult, runFuzz } from '../../fixtures/fuzz/run.ts'

/** Most by which the heap may have grown, by what it was. */
const MAX_HEAP_GROWTH = 0.2

/** Random and bent requests over every row, under a seed of the day; sets a non-zero exit code when one is a fault. */
export async function run(requests: number): Promise<Omit<FuzzResult, 'faults'> & { faults: number }> {
  const { faults, ...result } = await runFuzz({ requests, seed: Math.floor(Date.now() / 1_000) })
  if (faults.length > 0 || result.heapGrowth > MAX_HEAP_GROWTH) {
    process.exitCode = 1
    process.stderr.write(`${faults.join('\n\n')}\n`)
  }
  return { ...result, faults: faults.length }
}
