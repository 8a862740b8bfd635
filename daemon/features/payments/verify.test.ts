import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  domain,
  requirement,
  sign,
  VECTOR_NOW_SECONDS,
  type Vector,
  vectors,
} from '../../../fixtures/payments/vectors.ts'
import { readPaymentHeader } from '../../../src/api/endpoint/x402-header.ts'
import { authorizationDigest, domainSeparator, type PaymentRequirement } from '../../../src/core/authorization.ts'
import { usdc } from '../../../src/core/money.ts'
import { faultReason } from '../../../src/core/payment-fault.ts'
import { openRecover, type Recover } from '../../ports/chain/signature.ts'
import { verifyAuthorization } from './order.ts'

let recover: Recover
const separator = domainSeparator(domain)

beforeAll(async () => {
  recover = await openRecover()
})

async function verify(vector: Vector, version: 1 | 2, asked: PaymentRequirement = requirement) {
  const { header } = await sign(vector, version)
  const read = readPaymentHeader(version, header)
  if (!read.ok) return read
  const { credential } = read
  const digest = authorizationDigest(separator, credential.authorization)
  const signer = recover(digest, credential.signature) ?? null
  const facts = {
    wallNowSeconds: VECTOR_NOW_SECONDS,
    marginSeconds: 6,
    funds: 10_000_000_000n,
    openReservations: 0n,
    ...vector.facts,
    signer,
  }
  return verifyAuthorization({ credential, requirement: asked, facts })
}

describe.each([1, 2] as const)('v%i', (version) => {
  test.each(vectors.filter(({ versions }) => versions.includes(version)))('$name', async (vector) => {
    const verdict = await verify(vector, version)
    expect(verdict.ok ? null : verdict.fault).toBe(vector.fault)
  })
})

const deposit: PaymentRequirement = { ...requirement, price: { min: usdc(10_000n), max: usdc(10_000_000_000n) } }

test.each([
  { value: 9_999n, amount: '10000', fault: 'amount_mismatch' },
  { value: 10_000n, amount: '10000', fault: null },
  { value: 5_000_000n, amount: '10000', fault: null },
  { value: 5_000_000n, amount: '5000000', fault: null },
  { value: 5_000_000n, amount: '4000000', fault: 'amount_mismatch' },
  { value: 10_000_000_000n, amount: '10000', fault: null },
  { value: 10_000_000_001n, amount: '10000', fault: 'amount_mismatch' },
] as const)('a deposit of $value quoted at $amount: $fault', async ({ value, amount, fault }) => {
  const facts = { funds: 20_000_000_000n }
  const vector: Vector = { name: '', versions: [1, 2], fault, signed: { value }, accepted: { amount }, facts }
  const v2 = await verify(vector, 2, deposit)
  expect(v2.ok ? null : v2.fault).toBe(fault)
  const v1 = await verify(vector, 1, deposit)
  // v1 payers echo no amount, so the value alone decides.
  expect(v1.ok).toBe(value >= 10_000n && value <= 10_000_000_000n)
})

test('funds must cover the value and every open reservation, to the unit', async () => {
  const plain: Vector = { name: '', versions: [1], fault: null }
  const { header } = await sign(plain, 1)
  const read = readPaymentHeader(1, header)
  if (!read.ok) throw new Error('the vector must be readable')
  const amount = fc.bigInt({ min: 0n, max: 2_000_000n })
  fc.assert(
    fc.property(amount, amount, (funds, openReservations) => {
      const facts = {
        wallNowSeconds: VECTOR_NOW_SECONDS,
        marginSeconds: 6,
        signer: read.credential.authorization.from,
        funds,
        openReservations,
      }
      const verdict = verifyAuthorization({ credential: read.credential, requirement, facts })
      expect(verdict.ok).toBe(funds - openReservations >= 525_000n)
    }),
  )
})

test('reason strings follow the generation of the payer', () => {
  const strings = (['recipient_mismatch', 'amount_mismatch', 'signature_invalid', 'insufficient_funds'] as const).map(
    (fault) => [faultReason(fault, 1), faultReason(fault, 2)],
  )
  expect(strings).toEqual([
    ['invalid_exact_evm_payload_recipient_mismatch', 'invalid_exact_evm_recipient_mismatch'],
    ['invalid_exact_evm_payload_authorization_value', 'invalid_exact_evm_payload_authorization_value_mismatch'],
    ['invalid_exact_evm_payload_signature', 'invalid_exact_evm_signature'],
    ['insufficient_funds', 'invalid_exact_evm_insufficient_balance'],
  ])
})
