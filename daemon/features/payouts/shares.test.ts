import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Wallet } from '../../../src/core/hex.ts'
import { usdc } from '../../../src/core/money.ts'
import type { Payee } from '../../../src/model/words.ts'
import { operatorOnly, payeeFault, sharesOf } from './splitter-distribute.ts'

const wallet = (n: number) => `0x${n.toString(16).padStart(40, '0')}` as Wallet

/** One to six payees whose shares are the whole. */
const payees: fc.Arbitrary<Payee[]> = fc
  .uniqueArray(fc.integer({ min: 1, max: 9_999 }), { maxLength: 5 })
  .map((cuts) => [0, ...cuts.toSorted((a, b) => a - b), 10_000])
  .map((edges) =>
    edges.slice(1).map((edge, n) => ({
      to: n === 0 ? 'operator' : wallet(n),
      bps: BigInt(edge - (edges[n] as number)), // one edge before each of the others
    })),
  )
const amount = fc.bigInt({ min: 0n, max: 10n ** 15n }).map(usdc)

test('no more than there is, less by no more than an atomic unit a payee, each its share floored', () => {
  fc.assert(
    fc.property(amount, payees, (whole, list) => {
      expect(payeeFault(list)).toBeUndefined()
      const shares = sharesOf(whole, list)
      const sum = shares.reduce((total, one) => total + one.amount, 0n)
      expect(sum <= whole && whole - sum < BigInt(list.length)).toBe(true)
      for (const { to, bps } of list) {
        const got = shares.find((one) => one.to === to)?.amount ?? 0n
        expect(got * 10_000n <= whole * bps && (got + 1n) * 10_000n > whole * bps).toBe(true)
      }
    }),
    { numRuns: 500 },
  )
})

test('what is left over is never distributed to some of them only', () => {
  fc.assert(
    fc.property(amount, payees, (whole, list) => {
      const shares = sharesOf(whole, list)
      if (shares.length < list.length) return
      const dust = usdc(whole - shares.reduce((total, one) => total + one.amount, 0n))
      expect(sharesOf(dust, list).length).toBeLessThan(list.length)
    }),
    { numRuns: 500 },
  )
})

test('the operator alone gets all of it', () => {
  fc.assert(
    fc.property(amount, (whole) => {
      expect(sharesOf(whole, operatorOnly)[0]?.amount ?? 0n).toBe(whole)
    }),
  )
})

test.each<[string, Payee[]]>([
  ['the shares sum to 99 %, not 100 %', [{ to: 'operator', bps: 9_900n }]],
  ['the shares sum to 0 %, not 100 %', []],
  [
    'duplicate payee',
    [
      { to: wallet(1), bps: 5_000n },
      { to: wallet(1), bps: 5_000n },
    ],
  ],
  [
    'a share must be more than 0',
    [
      { to: wallet(1), bps: 10_000n },
      { to: wallet(2), bps: 0n },
    ],
  ],
])('%s', (fault, list) => {
  expect(payeeFault(list)).toBe(fault)
})
