import { expect, test } from 'vitest'
import { createSlots, MAX_CONCURRENT, MAX_SLOW_CONCURRENT } from './worker.ts'

test('participants whose endpoints hang leave room for all others', () => {
  let now = 0
  const slots = createSlots({ wall: () => now })
  const hanging = Array.from({ length: MAX_CONCURRENT }, (_, n) => `p_${n}`)
  const first = hanging.map((id) => slots.enter(id))
  expect([slots.isFull(), slots.enter('p_quick')]).toEqual([true, undefined])
  now += 10_000
  for (const leave of first) leave?.()
  const again = hanging.map((id) => slots.enter(id))
  expect(again.filter(Boolean)).toHaveLength(MAX_SLOW_CONCURRENT)
  const quick = slots.enter('p_quick')
  expect(quick).toBeDefined()
  quick?.()
  again[0]?.() // at once this time: it is like all others again
  expect(slots.enter('p_0')).toBeDefined()
  expect(slots.enter('p_0')).toBeDefined()
})
