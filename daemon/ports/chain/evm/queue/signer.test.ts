import fc from 'fast-check'
import { recoverAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { type Hex, toWallet } from '../../../../../src/core/hex.ts'
import { openKey } from '../../key.ts'
import { signTransaction } from './signer.ts'

// @slow thousands of signatures

const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`
const key = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map(hexOf)
  .filter((text) => BigInt(text) > 0n && BigInt(text) < 2n ** 255n)
const wei = fc.oneof(fc.constantFrom(0n, 1n, 127n, 128n, 255n, 256n), fc.bigInt({ min: 0n, max: 2n ** 100n }))
const transaction = fc.record({
  chainId: fc.constantFrom(1, 127, 128, 8453, 84532, 31337),
  nonce: fc.oneof(fc.constantFrom(0, 127, 128, 255, 256), fc.nat()),
  tip: wei,
  maxFee: wei,
  gas: fc.integer({ min: 21_000, max: 16_000_000 }),
  to: fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => toWallet(hexOf(bytes))),
  // Lengths on both sides of where the length of a string, and the length of its length, changes.
  data: fc
    .constantFrom(0, 1, 2, 54, 55, 56, 57, 255, 256, 257, 40_000)
    .chain((length) => fc.uint8Array({ minLength: length, maxLength: length }).map(hexOf)),
})

test('signed bytes are those of an independent implementation', async () => {
  await fc.assert(
    fc.asyncProperty(key, transaction, async (secret, { tip, maxFee, ...rest }) => {
      fc.pre(tip <= maxFee)
      const account = privateKeyToAccount(secret)
      const signer = await openKey(secret)
      expect(signer.address).toBe(toWallet(account.address))
      const fees = { maxPriorityFeePerGas: tip, maxFeePerGas: maxFee }
      const { gas, data, to, chainId, nonce } = rest
      const expected = await account.signTransaction({
        type: 'eip1559',
        chainId,
        nonce,
        to,
        data,
        gas: BigInt(gas),
        ...fees,
      })
      expect((await signTransaction(signer, { ...rest, tip, maxFee })).raw).toBe(expected)
    }),
    { numRuns: 60 },
  )
})

test('a digest is signed so that the wallet is recovered', async () => {
  await fc.assert(
    fc.asyncProperty(key, fc.uint8Array({ minLength: 32, maxLength: 32 }), async (secret, hash) => {
      const signer = await openKey(secret)
      const address = await recoverAddress({ hash: hexOf(hash), signature: await signer.sign(hash) })
      expect(toWallet(address)).toBe(signer.address)
    }),
    { numRuns: 20 },
  )
})

test.each(['', '0x', 'zz'.repeat(32), '00'.repeat(32), 'ff'.repeat(32), '11'.repeat(31)])(
  'what is no key is refused without repeating it: %s',
  async (text) => {
    const opened = openKey(text)
    await expect(opened).rejects.toThrow(RangeError)
    if (text) await expect(opened).rejects.not.toThrow(text)
  },
)
