import { expect, test } from 'vitest'
import { run } from './crons.ts'

// @deep a soak

const KILLS = 3

test('three kills while crons run leave nothing undone and nothing done twice', async () => {
  const result = await run(KILLS)
  expect(result).toMatchObject({ kills: KILLS, faults: [] })
  expect(result.renewals).toBeGreaterThan(0)
})
