import { expect, test } from 'vitest'
import { shortTime, withShortTimes } from './time.ts'

const now = Date.parse('2026-11-22T13:10:00.000Z')
const utc = { style: 'utc', now } as const

test.each([
  ['2026-11-22T13:04:10.123Z', '13:04:10Z'],
  ['2026-11-21T13:04:10.123Z', '21 Nov 13:04Z'],
  ['2025-11-22T13:04:10.123Z', '2025-11-22 13:04Z'],
  ['2027-01-02T03:04:05.006Z', '2027-01-02 03:04Z'],
])('%s is shown as %s', (time, shown) => {
  expect(shortTime(Date.parse(time), utc)).toBe(shown)
})

test('in the zone of this machine the same moment is meant', () => {
  const at = Date.parse('2026-07-01T00:30:00.000Z')
  const local = new Date(at)
  const hour = String(local.getHours()).padStart(2, '0')
  expect(shortTime(at, { style: 'local', now })).toContain(`${hour}:${String(local.getMinutes()).padStart(2, '0')}`)
})

test('only times that stand alone are shortened: a document is shown as it is', () => {
  expect(withShortTimes('created 2026-11-22T13:04:10.123Z   "2026-11-22T13:04:10.123Z"', utc)).toBe(
    'created 13:04:10Z   "2026-11-22T13:04:10.123Z"',
  )
  expect(withShortTimes('at 2026-11-22T13:04:10.123Z', { style: 'iso', now })).toBe('at 2026-11-22T13:04:10.123Z')
})
