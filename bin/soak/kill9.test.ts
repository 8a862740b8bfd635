import { expect, test } from 'vitest'
import { run } from './kill9.ts'

// @deep a soak

const ROUNDS = 10

test('ten kills under sixteen writers lose nothing acknowledged', async () => {
  const result = await run(ROUNDS)
  expect(result).toMatchObject({ rounds: ROUNDS, lost: 0, halves: 0 })
  expect(result.acknowledged).toBeGreaterThan(ROUNDS)
})
