import { expect, it } from 'vitest'
import { HEARTBEAT_MS } from '../../daemon/http/limits.ts'
import type { FoundDaemon } from '../client/discover.ts'
import { placesOf } from '../client/settings.ts'
import { problemOf, STREAM_TIMEOUT_MS } from './cockpit-link.ts'
import { noDaemon } from './target.ts'

it('an event stream with nothing to tell outlasts two heartbeats that come late', () => {
  expect(STREAM_TIMEOUT_MS).toBeGreaterThan(2 * HEARTBEAT_MS)
})

it('a daemon that starts is not one that is gone', () => {
  const registration = { pid: 7, step: 'history', detail: 'day 31 of 98', since: '', data_dir: '/data', version: '1' }
  const [starting, stale] = (['starting', 'stale'] as const).map((state) => {
    // What is said of either needs no more of a registration.
    const found = { state, registration } as unknown as FoundDaemon
    return problemOf(noDaemon(found, placesOf({ HOME: '/nowhere' }), 0))
  })
  expect([starting?.kind, stale?.kind]).toEqual(['starting', 'gone'])
  expect(starting?.facts.join()).toContain('day 31 of 98')
})
