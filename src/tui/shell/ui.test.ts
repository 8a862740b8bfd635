import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type CursorStep, chosenIndex, firstUi, type Ui, walked } from './ui.ts'

/** A list of many pages, each of which comes only after its page was turned to. */
function listOf(total: number, size: number) {
  let ui: Ui = firstUi('jobs')
  const lastPage = Math.max(0, Math.ceil(total / size) - 1)
  const rows = () => {
    const from = (ui.pages.jobs ?? 0) * size
    return Array.from({ length: Math.min(size, total - from) }, (_, at) => String(from + at))
  }
  return {
    lastPage,
    at: () => Number(rows()[chosenIndex(ui, rows())]),
    step: (step: CursorStep) => {
      ui = walked(ui, rows(), { step, lastPage })
    },
  }
}

const sizes = [fc.integer({ min: 1, max: 120 }), fc.integer({ min: 1, max: 30 })] as const

test('the cursor goes through all rows of all pages, down and up', () => {
  fc.assert(
    fc.property(...sizes, (total, size) => {
      const list = listOf(total, size)
      const down = Array.from({ length: total }, () => [list.at(), list.step('down')][0])
      expect(down).toEqual(Array.from({ length: total }, (_, at) => at))
      const up = Array.from({ length: total }, () => [list.at(), list.step('up')][0])
      expect(up).toEqual(down.toReversed())
    }),
  )
})

test('its ends are those of the whole list, also when asked for twice, and a page key loses no row', () => {
  fc.assert(
    fc.property(...sizes, (total, size) => {
      const list = listOf(total, size)
      for (const step of ['last', 'last'] as const) {
        list.step(step)
        expect(list.at()).toBe(total - 1)
      }
      for (const step of ['first', 'first'] as const) {
        list.step(step)
        expect(list.at()).toBe(0)
      }
      for (let before = -1; list.at() !== before; list.step('pageDown')) before = list.at()
      expect(list.at()).toBe(total - 1)
    }),
  )
})

test('keys that come before the rows of a page leave the cursor at its end', () => {
  const asked = walked(firstUi('jobs'), ['a', 'b'], { step: 'last', lastPage: 3 })
  expect(asked.pages.jobs).toBe(3)
  const held = walked(asked, [], { step: 'down', lastPage: 3 })
  expect(held).toBe(asked)
  expect(chosenIndex(held, ['y', 'z'])).toBe(1)
})
