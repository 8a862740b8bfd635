import { hexToBytes } from '@noble/hashes/utils.js'
import fc from 'fast-check'
import { recoverAddress } from 'viem'
import { privateKeyToAccount, sign } from 'viem/accounts'
import { beforeAll, describe, expect, test } from 'vitest'
import { runs } from '../../../fixtures/kit/depth.ts'
import { splitSignature } from '../../../src/core/authorization.ts'
import type { Hex } from '../../../src/core/hex.ts'
import { openNativeRecovery, openRecover, openWasmRecovery, type Recover, type RecoverKey } from './signature.ts'

// @slow thousands of signatures, right and wrong

const native = openNativeRecovery()
const wasm = await openWasmRecovery()
const ways: readonly [string, RecoverKey | undefined][] = [
  ['wasm', wasm],
  ['native', native],
]

const hex = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`
const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 })
const privateKey = bytes32.map((bytes) => hex(bytes.map((byte, i) => (i === 0 ? byte & 0x7f : byte | 1))))

/** What the reference says, or undefined where it finds no signer. */
async function reference(hash: Hex, signature: Hex): Promise<Hex | undefined> {
  try {
    return (await recoverAddress({ hash, signature })).toLowerCase() as Hex
  } catch {
    return undefined
  }
}
const ORDER = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'
const one = `${'00'.repeat(31)}01`

describe.each(ways.filter(([, way]) => way))('by %s', (engine, recoverKey) => {
  let recover: Recover
  beforeAll(async () => {
    recover = await openRecover(engine === 'native' ? (recoverKey ?? null) : null)
  })

  test('recovers what the reference recovers', async () => {
    await fc.assert(
      fc.asyncProperty(privateKey, bytes32, async (key, digest) => {
        const signature = await sign({ hash: hex(digest), privateKey: key, to: 'hex' })
        expect(recover(digest, signature)).toBe(privateKeyToAccount(key).address.toLowerCase())
      }),
      { numRuns: 150 },
    )
  })

  test('a changed byte gives what the reference gives, or is refused for its form', async () => {
    const mutation = fc.record({ at: fc.nat(64), flip: fc.integer({ min: 1, max: 255 }) })
    await fc.assert(
      fc.asyncProperty(privateKey, bytes32, mutation, async (key, digest, { at, flip }) => {
        const bytes = hexToBytes((await sign({ hash: hex(digest), privateKey: key, to: 'hex' })).slice(2))
        bytes[at] = (bytes[at] as number) ^ flip
        const mutated = hex(bytes)
        const recovered = recover(digest, mutated)
        expect(recovered).toBe(splitSignature(mutated).ok ? await reference(hex(digest), mutated) : undefined)
      }),
      { numRuns: 200 },
    )
  })

  test('random bytes give what the reference gives', async () => {
    const lowS = fc.tuple(bytes32, bytes32, fc.constantFrom(27, 28)).map(([r, s, v]) => {
      s[0] = (s[0] as number) & 0x7f
      return hex(Uint8Array.from([...r, ...s, v]))
    })
    await fc.assert(
      fc.asyncProperty(bytes32, lowS, async (digest, signature) => {
        const expected = splitSignature(signature).ok ? await reference(hex(digest), signature) : undefined
        expect(recover(digest, signature)).toBe(expected)
      }),
      { numRuns: 100 },
    )
  })

  test.each([
    { name: 'zero r', signature: `0x${'00'.repeat(32)}${one}1b` },
    { name: 'zero s', signature: `0x${one}${'00'.repeat(32)}1b` },
    { name: 'r of the order', signature: `0x${ORDER}${one}1b` },
    { name: 's of the order', signature: `0x${one}${ORDER}1b` },
    { name: 'r off the curve', signature: `0x${'00'.repeat(31)}05${one}1b` },
  ] as const)('no signer: $name', ({ signature }) => {
    expect(recover(new Uint8Array(32).fill(7), signature)).toBeUndefined()
  })

  test('says which it is', () => {
    expect(recover.engine).toBe(engine)
  })
})

/** Fields of a signature that break careless code, among random ones. */
const field = fc.oneof(
  { weight: 5, arbitrary: bytes32 },
  fc
    .constantFrom(`${'00'.repeat(32)}`, one, ORDER, 'f'.repeat(64), `${ORDER.slice(0, -1)}0`, `${'00'.repeat(31)}05`)
    .map((digits) => hexToBytes(digits)),
)

test.skipIf(!native)('native and WebAssembly agree on random and hostile signatures', () => {
  const signature = fc.tuple(field, field).map(([r, s]) => Uint8Array.from([...r, ...s]))
  fc.assert(
    fc.property(signature, fc.constantFrom<0 | 1>(0, 1), field, (compact, parity, digest) => {
      expect(native?.(compact, parity, digest)).toEqual(wasm(compact, parity, digest))
    }),
    { numRuns: runs(10_000, 1_000) },
  )
})

test.skipIf(!native)('native code is given no bytes of another length, and no other parity', () => {
  const [compact, digest] = [hexToBytes(one + one), hexToBytes(one)]
  expect(native?.(compact, 0, digest)).toBeDefined()
  for (let length = 0; length < 200; length += 1) {
    const bytes = new Uint8Array(length).fill(1)
    if (length !== compact.length) expect(native?.(bytes, 0, digest), `${length} bytes`).toBeUndefined()
    if (length !== digest.length) expect(native?.(compact, 0, bytes), `${length} bytes`).toBeUndefined()
  }
  for (const parity of [-1, 2, 3, 4, 0.5, Number.NaN, 2 ** 32])
    expect(native?.(compact, parity as 0, digest), `parity ${parity}`).toBeUndefined() // what the types forbid
  expect(native?.('00'.repeat(64) as unknown as Uint8Array, 0, digest)).toBeUndefined() // what the types forbid
})
