import { expect, test } from 'vitest'
import { usdc } from '../../../src/core/money.ts'
import type { EntryKind } from '../../../src/model/ledger.ts'
import type { LedgerRow } from '../ledger/rows.ts'
import { booksChecks, chainCheck, checkOf, type Numbering, newRecount, recount, saleFault } from './checks.ts'

type Lines = Record<string, bigint>

function row(seq: number, lines: Lines, kind: EntryKind = 'deposit'): LedgerRow {
  const list = Object.entries(lines).map(([account, delta]) => ({ account, delta: usdc(delta) }))
  return { id: `txn_${seq}`, version: 1, seq, kind, ref_kind: 'job', ref_id: 'job_1', lines: list, at: 0 }
}

function failed(rows: readonly LedgerRow[], numbering: Partial<Numbering> = {}): string[] {
  const books = newRecount()
  for (const one of rows) recount(books, one)
  return booksChecks(books, { last: books.seq, forgotten: 0, ...numbering })
    .filter((check) => !check.ok)
    .map((check) => check.name)
}

const sale = { 'hold:x': -105n, 'prov:p_1': 100n, fees: 4n, 'refp:p_2': 1n }

test.each<[string, LedgerRow[], string[]]>([
  ['sound books', [row(1, { ext: -5n, 'bal:p_1': 5n })], []],
  ['a transaction that does not sum to zero', [row(1, { ext: -5n, 'bal:p_1': 4n })], ['zero_sum']],
  ['a number that was left out', [row(2, { ext: -5n, 'bal:p_1': 5n })], ['order']],
  ['a number that came twice', [row(1, {}), row(1, {})], ['order']],
  [
    'a balance that was negative for a moment',
    [row(1, { 'bal:p_1': -1n, ops: 1n }), row(2, { ext: -1n, 'bal:p_1': 1n })],
    ['negative'],
  ],
  ['a sale', [row(1, { ext: -105n, 'hold:x': 105n }), row(2, sale, 'instant_sale')], []],
  ['a sale that pays the operator', [row(1, { ext: -2n, 'prov:p_1': 1n, oper: 1n }, 'instant_sale')], ['fees']],
])('%s', (_, rows, expected) => {
  expect(failed(rows)).toEqual(expected)
})

test('numbers of forgotten holds may be missing, and no others', () => {
  const rows = [row(2, { ext: -5n, 'bal:p_1': 5n }), row(4, { ext: -5n, 'bal:p_1': 5n })]
  const missing = (forgotten: number, last = 4) => failed(rows, { last, forgotten })
  expect([missing(2), missing(3, 5)]).toEqual([[], []])
  for (const found of [missing(1), missing(3), missing(0), missing(2, 5)]) expect(found).toEqual(['order'])
})

const job = { amount: 105n, provider_amount: 100n, fee: 5n }

test.each<[string, Lines, typeof job | undefined, RegExp | undefined]>([
  ['agrees', sale, job, undefined],
  ['is not there', sale, undefined, /missing record/],
  ['was paid more', sale, { ...job, amount: 110n, fee: 10n }, /took 0.000105/],
  ['says another net', sale, { amount: 105n, provider_amount: 99n, fee: 6n }, /differently/],
  ['has a fee that is not the rest', sale, { ...job, fee: 6n }, /fee/],
])('a job that %s', (...[, lines, record, expected]) => {
  const fault = saleFault(row(1, lines, 'instant_sale'), record)
  if (expected) expect(fault).toMatch(expected)
  else expect(fault).toBeUndefined()
})

test.each<[string, Omit<Parameters<typeof chainCheck>[0], 'advanced' | 'cold'>, boolean]>([
  ['nothing on its way', { ext: -100n, onChain: 100n, unposted: 0n, uncovered: 0n, sent: 0n, awaited: 0n }, true],
  ['one unit short', { ext: -100n, onChain: 99n, unposted: 0n, uncovered: 0n, sent: 0n, awaited: 0n }, false],
  ['one unit over', { ext: -100n, onChain: 101n, unposted: 0n, uncovered: 0n, sent: 0n, awaited: 0n }, false],
  ['settled, not posted', { ext: -100n, onChain: 110n, unposted: 10n, uncovered: 0n, sent: 0n, awaited: 0n }, true],
  ['sent, not confirmed', { ext: -100n, onChain: 93n, unposted: 0n, uncovered: 0n, sent: 7n, awaited: 0n }, true],
  ['sent, not arrived', { ext: -100n, onChain: 100n, unposted: 0n, uncovered: 0n, sent: 7n, awaited: 0n }, true],
  ['undone, and not covered', { ext: -100n, onChain: 93n, unposted: 0n, uncovered: 7n, sent: 0n, awaited: 0n }, false],
  ['more gone than was sent', { ext: -100n, onChain: 92n, unposted: 0n, uncovered: 0n, sent: 7n, awaited: 0n }, false],
  [
    'let go by others, not final',
    { ext: -100n, onChain: 95n, unposted: 0n, uncovered: 0n, sent: 0n, awaited: 5n },
    true,
  ],
  [
    'more gone than others let go',
    { ext: -100n, onChain: 94n, unposted: 0n, uncovered: 0n, sent: 0n, awaited: 5n },
    false,
  ],
])('the chain with %s', (_, facts, ok) => {
  expect(chainCheck({ ...facts, advanced: 0n, cold: 0n }).ok).toBe(ok)
  // What left in advance is missing on the chain, and nothing else is.
  expect(chainCheck({ ...facts, onChain: facts.onChain - 5n, advanced: 5n, cold: 0n }).ok).toBe(ok)
})

test('many faults are counted, not listed', () => {
  const { detail } = checkOf('x', 'fine', ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
  expect(detail).toBe('a; b; c; d; e; and 2 more')
})
