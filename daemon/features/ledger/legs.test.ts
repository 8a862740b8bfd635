import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toWallet } from '../../../src/core/hex.ts'
import { type Usdc, usdc } from '../../../src/core/money.ts'
import { type Leg, linesOf } from '../../../src/model/ledger.ts'
import { account, type Buyer, type Escrowed, legsOf, refundAccount, split, takenFrom } from './legs.ts'

const RUNS = { numRuns: 300 }

const names = ['ext', 'fees', 'ops', 'oper', 'bal:p_1', 'bal:p_2', 'hold:x', 'esc:j', 'prov:p_3', 'refp:p_4', 'rfd:0x1']
const amount = fc.bigInt({ min: 0n, max: 10n ** 17n }).map(usdc)
const leg = fc.record({ from: fc.constantFrom(...names), to: fc.constantFrom(...names), amount })

const price = fc.bigInt({ min: 1n, max: 10_000_000n }).map((steps) => usdc(steps * 1_000n))
const escrowed: fc.Arbitrary<Escrowed> = fc
  .record({ price, kind: fc.constantFrom('first_party', 'third_party'), referrers: fc.constantFrom(0, 1, 2, 3) })
  .map((sale) => ({
    jobId: 'j',
    providerId: 'p_3',
    split: split(sale.kind as 'first_party', sale.price),
    referrers: { buyer: sale.referrers & 1 ? 'p_4' : null, provider: sale.referrers & 2 ? 'p_5' : null },
  }))
const wallet = toWallet('0x1111111111111111111111111111111111111111')
const buyer = fc.constantFrom<Buyer>({ participantId: 'p_1' }, { wallet })

const sum = (legs: readonly Leg[]) => linesOf(legs).reduce((total, line) => total + line.delta, 0n)

/** What a book holds after legs, and whether anything but the sources went below zero. */
function apply(legs: readonly Leg[], opening: Record<string, bigint>): Map<string, bigint> {
  const book = new Map(Object.entries(opening))
  for (const { account: name, delta } of linesOf(legs)) book.set(name, (book.get(name) ?? 0n) + delta)
  return book
}

test('random legs always sum to zero, and no account has two lines or an empty one', () => {
  fc.assert(
    fc.property(fc.array(leg, { maxLength: 30 }), (legs) => {
      const lines = linesOf(legs)
      expect(sum(legs)).toBe(0n)
      expect(new Set(lines.map((line) => line.account)).size).toBe(lines.length)
      expect(lines.every((line) => line.delta !== 0n)).toBe(true)
      for (const name of names) {
        const line = lines.find((one) => one.account === name)
        expect(takenFrom(legs, name)).toBe(-(line?.delta ?? 0n))
      }
    }),
    RUNS,
  )
})

test('a negative leg is refused', () => {
  expect(() => linesOf([{ from: 'ext', to: 'ops', amount: usdc(-1n) }])).toThrow(RangeError)
})

describe('what was held in escrow leaves it whole, and nothing but it pays', () => {
  test('on release: the net to the provider, the fee to the fees and who referred', () => {
    fc.assert(
      fc.property(escrowed, (sale) => {
        const book = apply(legsOf.escrowRelease(sale), { 'esc:j': sale.split.agent })
        expect(book.get('esc:j')).toBe(0n)
        expect(book.get('prov:p_3') ?? 0n).toBe(sale.split.net)
        const kept = (book.get('fees') ?? 0n) + (book.get('refp:p_4') ?? 0n) + (book.get('refp:p_5') ?? 0n)
        expect(kept).toBe(sale.split.fee)
        expect([...book.values()].every((balance) => balance >= 0n)).toBe(true)
      }),
      RUNS,
    )
  })

  test('on a refund: all of it to where it came from', () => {
    fc.assert(
      fc.property(escrowed, buyer, (sale, who) => {
        const refund = { jobId: 'j', buyer: who, amount: sale.split.agent }
        const book = apply(legsOf.escrowRefund(refund), { 'esc:j': sale.split.agent })
        expect([book.get('esc:j'), book.get(refundAccount(who))]).toEqual([0n, sale.split.agent])
      }),
      RUNS,
    )
  })

  test('on a split: the buyer gets what was ruled, the provider its net on the rest, never more', () => {
    const ruling = escrowed.chain((sale) =>
      fc.record({
        sale: fc.constant(sale),
        toBuyer: fc.bigInt({ min: 0n, max: sale.split.agent }).map(usdc),
        who: buyer,
      }),
    )
    fc.assert(
      fc.property(ruling, ({ sale, toBuyer, who }) => {
        const legs = legsOf.disputeSplit({ ...sale, buyer: who, toBuyer })
        const book = apply(legs, { 'esc:j': sale.split.agent })
        const net = book.get('prov:p_3') ?? 0n
        expect([book.get('esc:j'), book.get(refundAccount(who)) ?? 0n]).toEqual([0n, toBuyer])
        expect(net * sale.split.agent <= sale.split.net * (sale.split.agent - toBuyer)).toBe(true)
        expect([...book.values()].every((balance) => balance >= 0n)).toBe(true)
        if (toBuyer === 0n) expect(linesOf(legs)).toEqual(linesOf(legsOf.escrowRelease(sale)))
      }),
      RUNS,
    )
  })

  test('a split of more than was held is refused', () => {
    const sale = { jobId: 'j', providerId: 'p_3', split: split('third_party', usdc(1_000n)), referrers: nobody }
    expect(() => legsOf.disputeSplit({ ...sale, buyer: { wallet }, toBuyer: usdc(2_000_000n) })).toThrow(RangeError)
  })
})

const nobody = { buyer: null, provider: null }
const micro = usdc(1_000_000n)

/** `A → B x` of the table: from, to, amount. */
test.each<[string, Leg[], [string, string, Usdc]]>([
  [
    'balance reserve',
    legsOf.balanceHold({ participantId: 'p_1', paymentId: 'x', amount: micro }),
    ['bal:p_1', 'hold:x', micro],
  ],
  [
    'balance release',
    legsOf.balanceRelease({ participantId: 'p_1', paymentId: 'x', amount: micro }),
    ['hold:x', 'bal:p_1', micro],
  ],
  ['deposit', legsOf.deposit({ participantId: 'p_1', amount: micro }), ['ext', 'bal:p_1', micro]],
  ['fixed-price call', legsOf.fixedPriceCall({ source: 'ext', price: micro }), ['ext', 'ops', micro]],
  ['escrow', legsOf.escrowHold({ source: 'hold:x', jobId: 'j', amount: micro }), ['hold:x', 'esc:j', micro]],
  ['settled, effect refused', legsOf.settledRefused({ payer: wallet, amount: micro }), ['ext', `rfd:${wallet}`, micro]],
  ['payout', legsOf.payoutOpened({ id: 'o', from: `rfd:${wallet}`, amount: micro }), [`rfd:${wallet}`, 'out:o', micro]],
  ['payout confirmed', legsOf.payoutConfirmed({ id: 'o', amount: micro }), ['out:o', 'ext', micro]],
  ['payout failed', legsOf.payoutFailed({ id: 'o', from: 'prov:p_3', amount: micro }), ['out:o', 'prov:p_3', micro]],
  ['blocked', legsOf.blocked({ from: 'prov:p_3', wallet, amount: micro }), ['prov:p_3', `blk:${wallet}`, micro]],
  ['cleared', legsOf.unblocked({ to: 'prov:p_3', wallet, amount: micro }), [`blk:${wallet}`, 'prov:p_3', micro]],
  ['referral due', legsOf.referralDue({ participantId: 'p_4', amount: micro }), ['refp:p_4', 'ref:p_4', micro]],
  [
    'referral withdrawal',
    legsOf.referralWithdrawal({ participantId: 'p_4', amount: micro }),
    ['ref:p_4', 'bal:p_4', micro],
  ],
  [
    'first-party settlement',
    legsOf.firstPartySettlement({ providerId: 'p_3', amount: micro }),
    ['prov:p_3', 'oper', micro],
  ],
  ['splitter', legsOf.splitter({ from: 'fees', to: account.oper, amount: micro }), ['fees', 'oper', micro]],
  ['adjustment up', legsOf.adjustment({ participantId: 'p_1', amount: micro }), ['oper', 'bal:p_1', micro]],
  ['adjustment down', legsOf.adjustment({ participantId: 'p_1', amount: usdc(-micro) }), ['bal:p_1', 'oper', micro]],
])('%s', (_, legs, [from, to, moved]) => {
  expect(legs).toEqual([{ from, to, amount: moved }])
})
