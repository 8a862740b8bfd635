import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { formatAmount } from '../../../src/core/money.ts'
import { faultReason, faultSentences } from '../../../src/core/payment-fault.ts'
import { keysOf } from '../../../src/core/record.ts'
import { SECOND_MS } from '../../../src/core/time.ts'
import { facilitatedStates } from '../../../src/model/payment.ts'
import { MAX_FACILITATED, MAX_WRITES } from '../../http/rate-limit.ts'
import { MAX_RESOURCES } from './catalogue.ts'
import { MAX_DOUBTS } from './hand.ts'
import { facilitatorDefaults } from './policy.ts'

/* docs/reference/facilitator.md says what is so: its bounds and its words. */

const page = readFileSync(new URL('../../../docs/reference/facilitator.md', import.meta.url), 'utf8')
const grouped = (value: number) => value.toLocaleString('en')
const inWords = ['none', 'once', 'twice', 'three times', 'four times']

test.each([
  ['smallest payment', `| ${formatAmount(facilitatorDefaults.minValue)} |`],
  ['gas of a day', `| ${grouped(facilitatorDefaults.dailyGas)} |`],
  ['requests a minute', `| ${grouped(MAX_FACILITATED)} |`],
  ['writes of a stranger', `${MAX_WRITES} writes a minute`],
  ['how long a call waits', `After ${facilitatorDefaults.waitMs / SECOND_MS} seconds`],
  ['how often a success in doubt is given again', `${inWords[MAX_DOUBTS]} at most`],
  ['resources on the list', `${grouped(MAX_RESOURCES)} resources at most`],
])('%s', (_, words) => {
  expect(page).toContain(words)
})

test('every word in code marks that looks like a reason is one, and its states are states', () => {
  const reasons = new Set(keysOf(faultSentences).flatMap((fault) => [faultReason(fault, 1), faultReason(fault, 2)]))
  const told = [...page.matchAll(/`([a-z]+_[a-z_]+)`/g)].map(([, word = '']) => word)
  expect(told).toContain('duplicate_settlement')
  expect(told.filter((word) => !reasons.has(word))).toEqual([])
  for (const state of ['handing', 'handed'] as const) {
    expect(page).toContain(`\`${state}\``)
    expect(facilitatedStates).toContain(state)
  }
})
