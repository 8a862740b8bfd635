import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fitColumns } from './columns.ts'

const GAP = 2
const need = fc
  .record({ least: fc.integer({ min: 1, max: 30 }), more: fc.integer({ min: 0, max: 5_000 }), drop: fc.nat(3) })
  .map(({ least, more, drop }) => ({ least, natural: least + more, drop }))

test('what is shown fits, each at no less than its least, and nothing is left out or cut without need', () => {
  fc.assert(
    fc.property(fc.array(need, { minLength: 1, maxLength: 8 }), fc.integer({ min: 1, max: 200 }), (needs, room) => {
      const widths = fitColumns(needs, room, GAP)
      const shown = needs.flatMap((one, i) => (widths[i] === undefined ? [] : [{ ...one, width: widths[i] }]))
      const taken = shown.reduce((sum, { width }) => sum + width + GAP, -GAP)
      const atLeast = shown.reduce((sum, { least }) => sum + least + GAP, -GAP)
      expect(shown.every(({ least, natural, width }) => width >= least && width <= natural)).toBe(true)
      // What cannot give way any further is allowed to be too wide.
      expect(taken <= room || (taken === atLeast && shown.every(({ drop }) => drop === 0))).toBe(true)
      const isWhole = shown.length === needs.length && shown.every(({ natural, width }) => width === natural)
      expect(isWhole || taken >= room || shown.length < needs.length).toBe(true)
    }),
  )
})

test.each([
  ['all of it where there is room', 40, [10, 20, 5]],
  ['the widest gives way first', 30, [10, 11, 5]],
  ['the highest number goes first', 14, [undefined, 7, 5]],
  ['what may not go stays, though it does not fit', 3, [undefined, 4, undefined]],
])('%s', (_, room, widths) => {
  const needs = [
    { natural: 10, least: 10, drop: 2 },
    { natural: 20, least: 4 },
    { natural: 5, least: 5, drop: 1 },
  ]
  expect(fitColumns(needs, room, GAP)).toEqual(widths)
})
