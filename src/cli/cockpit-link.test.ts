import { expect, it } from 'vitest'
import { HEARTBEAT_MS } from '../../daemon/http/limits.ts'
import { STREAM_TIMEOUT_MS } from './cockpit-link.ts'

it('an event stream with nothing to tell outlasts two heartbeats that come late', () => {
  expect(STREAM_TIMEOUT_MS).toBeGreaterThan(2 * HEARTBEAT_MS)
})
