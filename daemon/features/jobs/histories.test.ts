import { test } from 'vitest'
import { runJobHistories } from '../../../fixtures/market/job-histories.ts'

// @slow random histories

/* `npm run soak -- histories` runs 2,000. */
const RUNS = 250

test('in every history each cent is in one place, with an owner and a next event, and all of it ends', async () => {
  await runJobHistories(RUNS)
})
