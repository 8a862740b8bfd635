import { expect, test } from 'vitest'
import { run } from './kill9.ts'

// @deep a soak

const ROUNDS = 10

test.each(['memory', 'level'] as const)('ten kills lose nothing acknowledged, rows in %s', async (rows) => {
  const result = await run(ROUNDS, rows)
  expect(result).toMatchObject({ rounds: ROUNDS, lost: 0, halves: 0 })
  expect(result.acknowledged).toBeGreaterThan(ROUNDS)
})
