import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toWallet } from '../../../src/core/hex.ts'
import { isOwn, type PayToAddress, payeeFor } from './chain.ts'

/* The window rule: an address is paid from the moment it is quoted until the last of its quotes has ended. */

const WINDOW = 120
const walletOf = (n: number) => toWallet(`0x${String(n).padStart(40, '0')}`)

type Rotated = { readonly at: number; readonly leaked: boolean }

/** The addresses at a time, and who was quoted when, as rotations one after the other leave them. */
function history(rotations: readonly Rotated[], now: number) {
  const done = rotations.filter(({ at }) => at <= now)
  const current: PayToAddress = { address: walletOf(done.length), until: Number.POSITIVE_INFINITY }
  const former = done.map(({ at, leaked }, n) => ({ address: walletOf(n), until: leaked ? at : at + WINDOW }))
  const all = [current, ...former.toReversed()]
  return { payTo: current.address, payees: () => all }
}

const rotations = fc
  .array(fc.record({ wait: fc.integer({ min: 0, max: 300 }), leaked: fc.boolean() }), { maxLength: 5 })
  .map((all) =>
    all.map(({ leaked }, n): Rotated => ({ at: all.slice(0, n + 1).reduce((sum, { wait }) => sum + wait, 0), leaked })),
  )

test('a quote is good for its window, unless its key leaked; a payment to any other address is asked for anew', () => {
  fc.assert(
    fc.property(rotations, fc.nat(1_500), fc.nat(300), (all, quotedAt, later) => {
      const to = history(all, quotedAt).payTo
      const now = quotedAt + later
      const chain = history(all, now)
      const replaced = all[Number(to)]
      const isGood = chain.payTo === to || (replaced !== undefined && !replaced.leaked && now < replaced.at + WINDOW)
      expect(payeeFor(chain, to, now)).toBe(isGood ? to : chain.payTo)
      // Who pays at once what it was quoted is never asked again, whatever was rotated meanwhile.
      if (later < WINDOW && all.every(({ leaked }) => !leaked)) expect(payeeFor(chain, to, now)).toBe(to)
      expect(payeeFor(chain, walletOf(99), now)).toBe(chain.payTo)
      expect(isOwn(chain, to)).toBe(true)
    }),
  )
})
