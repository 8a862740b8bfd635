import { expect, test } from 'vitest'
import { runFuzz } from '../../fixtures/fuzz/run.ts'
import { runs } from '../../fixtures/kit/depth.ts'
import { endpointNames } from '../../src/api/index.ts'

// @deep random requests over every row

/* `npm run soak -- fuzz` sends 20,000 under a new seed. */

const REQUESTS = runs(4_000, 1_500)
const SEED = 20_261_121
const MAX_HEAP_GROWTH = 0.2
/** Rows that have to have succeeded, or the requests are too bad to get anywhere. */
const MIN_WELL = 0.6

test(`${REQUESTS} random requests over every row, seed ${SEED}: no fault, no leak`, async () => {
  const { faults, heapGrowth, neverWell } = await runFuzz({ requests: REQUESTS, seed: SEED })
  expect(faults.join('\n\n')).toBe('')
  expect(heapGrowth).toBeLessThan(MAX_HEAP_GROWTH)
  expect(1 - neverWell.length / endpointNames.length).toBeGreaterThan(MIN_WELL)
})
