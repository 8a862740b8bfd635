import fc from 'fast-check'
import { expect, test } from 'vitest'
import { malformedHeaders, requirement, sign, vectors } from '../../../fixtures/payments/vectors.ts'
import { decodeObject, PAYMENT_HEADER_MAX_CHARS, readPaymentHeader } from './x402-header.ts'

test.each(malformedHeaders)('refuses a header: $name', ({ version, header, fault }) => {
  const read = readPaymentHeader(version, header)
  expect(read.ok ? 'read' : read.fault).toBe(fault)
})

test('a refusal names a place and repeats nothing of the payment', () => {
  const secrets = /[0-9a-f]{20}|525000/
  for (const { version, header } of malformedHeaders) {
    const read = readPaymentHeader(version, header)
    expect(read.ok ? '' : read.detail).toMatch(/^.{5,80}$/)
    expect(read.ok ? '' : read.detail).not.toMatch(secrets)
  }
})

const plain = vectors.find(({ name }) => name === 'plain')

test.each([1, 2] as const)('reads a v%i payment, lower-casing addresses', async (version) => {
  const { header, signature } = await sign(plain!, version)
  const read = readPaymentHeader(version, header)
  expect(read).toMatchObject({ ok: true, credential: { version, scheme: 'exact', signature } })
  if (!read.ok || read.credential.version === 1) return
  expect(read.credential.network).toBe('eip155:8453')
  expect(read.credential.accepted).toMatchObject({ asset: requirement.asset, payTo: requirement.payTo })
})

test('padding may be left off, as published servers allow', async () => {
  const { header } = await sign(plain!, 2)
  const bare = header.replace(/=+$/, '')
  expect(readPaymentHeader(2, bare).ok).toBe(true)
  expect(header.length).toBeLessThan(PAYMENT_HEADER_MAX_CHARS)
})

test('takes base64 in its one form alone: what would be written otherwise is refused', () => {
  const digits = fc.string({ unit: fc.constantFrom(...'ABQgw4/+9z'), minLength: 1, maxLength: 13 })
  fc.assert(
    fc.property(digits, fc.constantFrom('', '=', '=='), (text, padding) => {
      const read = decodeObject(text + padding)
      const written = Buffer.from(text, 'base64').toString('base64').replaceAll('=', '')
      expect(!read.ok && read.detail === 'the header is not standard base64').toBe(written !== text)
    }),
    { numRuns: 2_000 },
  )
})
