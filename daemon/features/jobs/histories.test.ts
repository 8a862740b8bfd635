import { test } from 'vitest'
import { runs } from '../../../fixtures/kit/depth.ts'
import { runJobHistories } from '../../../fixtures/market/job-histories.ts'

// @slow random histories

/* `npm run soak -- histories` runs 2,000. */
const RUNS = runs(250, 50)

test('in every history each cent is in one place, with an owner and a next event, and all of it ends', async () => {
  await runJobHistories(RUNS)
})
