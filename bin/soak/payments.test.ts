import { expect, test } from 'vitest'
import { run } from './payments.ts'

// @deep a soak

const ROUNDS = 3

test('three kills under sixteen paying buyers lose nothing, charge nothing twice and refuse nobody', async () => {
  const result = await run(ROUNDS)
  expect(result).toMatchObject({ rounds: ROUNDS, lost: 0, doubled: 0, refused: 0, unsound: 0 })
  expect(result.answered).toBeGreaterThan(ROUNDS)
})
