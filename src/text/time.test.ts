import { afterEach, describe, expect, test } from 'vitest'
import {
  clockTime,
  dateTime,
  monthDay,
  shortTime,
  showTimesIn,
  timeOrDay,
  withShortTimes,
  zonedTime,
  zoneHere,
  zoneName,
} from './time.ts'

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

describe('the cockpit', () => {
  const machine = process.env.TZ
  afterEach(() => {
    showTimesIn('utc')
    if (machine === undefined) delete process.env.TZ
    else process.env.TZ = machine
  })

  test('tells times in the zone of this machine, which is named', () => {
    process.env.TZ = 'Europe/Berlin'
    showTimesIn('local')
    const at = Date.parse('2026-11-21T23:30:05.000Z')
    expect([clockTime(at), dateTime(at), monthDay(at), zoneName(at)]).toEqual([
      '00:30:05',
      '2026-11-22 00:30',
      'Nov 22',
      'UTC+1',
    ])
    expect(zonedTime(Date.parse('2026-07-01T12:00:00.000Z'))).toBe('2026-07-01 14:00 UTC+2')
  })

  test.each([
    ['Asia/Kolkata', 'UTC+5:30'],
    ['America/New_York', 'UTC-5'],
    ['UTC', 'UTC'],
  ])('names the zone %s by its distance, %s', (name, shown) => {
    process.env.TZ = name
    expect(zoneHere(Date.parse('2026-11-21T12:00:00.000Z'))).toBe(shown)
  })

  test('tells them in UTC where that is wished', () => {
    process.env.TZ = 'Europe/Berlin'
    showTimesIn('utc')
    expect(zonedTime(Date.parse('2026-11-21T23:30:05.000Z'))).toBe('2026-11-21 23:30 UTC')
  })

  test('gives the day of what was not today', () => {
    const today = Date.parse('2026-11-22T00:10:00.000Z')
    expect(timeOrDay(Date.parse('2026-11-22T23:59:00.000Z'), today)).toBe('23:59:00')
    expect(timeOrDay(Date.parse('2026-11-21T23:59:00.000Z'), today)).toBe('Nov 21')
    expect(timeOrDay(Date.parse('2025-11-22T00:10:00.000Z'), today)).toBe('Nov 22')
  })
})
