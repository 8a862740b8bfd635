import { expect, test } from 'vitest'
import { run } from './unpaid.ts'

// @deep a soak

const AMOUNTS = { purchases: 40, sockets: 20, keys: 500 }

test('a few unpaid purchases, silent sockets and made-up keys get their answers and leave next to nothing', async () => {
  const result = await run(AMOUNTS)
  expect(result.odd).toEqual([])
  expect(result.sweptStoreMb - result.startStoreMb).toBeLessThan(1)
})
