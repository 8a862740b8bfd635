import { expect, test } from 'vitest'
import { MEMORY_BUDGET_BYTES, passage } from './files.ts'

test('100 MiB pass through a daemon in less memory than they are', { timeout: 60_000 }, async () => {
  const { growthBytes } = await passage(100 * 1024 * 1024)
  expect(growthBytes).toBeGreaterThan(0)
  expect(growthBytes).toBeLessThan(MEMORY_BUDGET_BYTES)
})
