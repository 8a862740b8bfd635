import { bytesToHex } from '@noble/hashes/utils.js'
import fc from 'fast-check'
import { hashTypedData } from 'viem'
import { expect, test } from 'vitest'
import {
  type Authorization,
  authorizationDigest,
  authorizationTypes,
  circleUsdc,
  domainSeparator,
  MAX_UINT256,
  networks,
  splitSignature,
} from './authorization.ts'
import { type Hex, toWallet } from './hex.ts'

const hex = (bytes: Uint8Array): Hex => `0x${bytesToHex(bytes)}`

/** Domain separators of USDC, as the published clients of both generations compute them. */
const separators = {
  base: '0x02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f',
  'base-sepolia': '0x71f17a3b2ff373b803d70a5a07c046c1a2bc8e89c09ef722fcb047abe94c9818',
} as const

test.each(['base', 'base-sepolia'] as const)('domain separator of USDC on %s', (network) => {
  const { asset, name, version } = circleUsdc[network]
  const domain = { name, version, chainId: networks[network].chainId, verifyingContract: asset }
  expect(hex(domainSeparator(domain))).toBe(separators[network])
})

const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => toWallet(hex(bytes)))
const word = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(hex)
const uint = fc.bigInt({ min: 0n, max: MAX_UINT256 })
const anyAuthorization: fc.Arbitrary<Authorization> = fc.record({
  from: address,
  to: address,
  value: uint,
  validAfter: uint,
  validBefore: uint,
  nonce: word,
})
// The reference leaves empty members out of the domain type; a token has none empty.
const anyDomain = fc.record({
  name: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
  version: fc.string({ minLength: 1, maxLength: 4 }),
  chainId: fc.integer({ min: 1 }),
  verifyingContract: address,
})

test('digest equals the reference EIP-712 implementation', () => {
  fc.assert(
    fc.property(anyDomain, anyAuthorization, (domain, message) => {
      const reference = hashTypedData({
        domain,
        types: authorizationTypes,
        primaryType: 'TransferWithAuthorization',
        message,
      })
      expect(hex(authorizationDigest(domainSeparator(domain), message))).toBe(reference)
    }),
    { numRuns: 300 },
  )
})

const r = '11'.repeat(32)
const HALF_ORDER = '7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0'
const ABOVE_HALF = '7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a1'

test.each([
  { name: 'v 27', signature: `0x${r}${r}1b`, expected: 0 },
  { name: 'v 28', signature: `0x${r}${r}1c`, expected: 1 },
  { name: 'v 0', signature: `0x${r}${r}00`, expected: 0 },
  { name: 'v 1', signature: `0x${r}${r}01`, expected: 1 },
  { name: 'largest low s', signature: `0x${r}${HALF_ORDER}1b`, expected: 0 },
  { name: 'smallest high s', signature: `0x${r}${ABOVE_HALF}1b`, expected: 'signature_high_s' },
  { name: 'v 2', signature: `0x${r}${r}02`, expected: 'signature_invalid' },
  { name: 'v 26', signature: `0x${r}${r}1a`, expected: 'signature_invalid' },
  { name: 'v 29', signature: `0x${r}${r}1d`, expected: 'signature_invalid' },
  { name: '64 bytes', signature: `0x${r}${r}`, expected: 'signature_length' },
  { name: '66 bytes', signature: `0x${r}${r}1b00`, expected: 'signature_length' },
  { name: 'nothing', signature: '0x', expected: 'signature_length' },
  { name: 'not hexadecimal', signature: `0x${'zz'.repeat(65)}`, expected: 'signature_invalid' },
  { name: 'ERC-6492', signature: `0x${r}${'6492'.repeat(16)}`, expected: 'smart_wallet_unsupported' },
] as const)('signature form: $name', ({ signature, expected }) => {
  const split = splitSignature(signature)
  expect(split.ok ? split.signature.parity : split.fault).toBe(expected)
})
