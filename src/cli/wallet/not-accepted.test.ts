import { describe, expect, test } from 'vitest'
import type { RawAnswer } from '../../client/exchange.ts'
import { clockFault } from './unpaid.ts'

/* A payment that a wrong clock signed is refused for its time: the clock is named, and not the faucet. */

const there = Date.UTC(2026, 10, 26, 12)
const refusal = (reason: string): RawAnswer => ({
  status: 402,
  headers: { date: new Date(there).toUTCString() },
  body: { error: reason, code: 'payment_required', message: 'The authorization has expired.' },
})
const expired = refusal('invalid_exact_evm_payload_authorization_valid_before')
const early = refusal('invalid_exact_evm_payload_authorization_valid_after')

describe('a clock', () => {
  test.each([
    [expired, -600_000, '600 s behind'],
    [early, 600_000, '600 s ahead of'],
  ])('that is wrong is named with how far it is off', (answer, off, words) => {
    const error = clockFault(answer, there + off)
    expect(error?.message).toContain(words)
    expect([error?.exit, error?.next]).toEqual(['payment', []])
    expect(error?.facts.join(' ')).toContain('nothing was charged')
  })

  test('that is right is not blamed, nor is one for another refusal', () => {
    expect(clockFault(expired, there + 1_000)).toBeUndefined()
    expect(clockFault(refusal('insufficient_funds'), there - 600_000)).toBeUndefined()
    expect(clockFault({ ...expired, headers: {} }, there - 600_000)).toBeUndefined()
  })
})
