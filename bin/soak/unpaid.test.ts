import { expect, test } from 'vitest'
import { run } from './unpaid.ts'

// @deep a soak

const PURCHASES = 40

test('a few unpaid purchases get their answers and leave next to nothing', async () => {
  const result = await run(PURCHASES)
  expect(result.odd).toEqual([])
  expect(result.sweptStoreMb - result.startStoreMb).toBeLessThan(1)
})
