import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from '@x402/core/http'
import { parsePaymentRequired } from '@x402/core/schemas'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buyer, buyerWallet, requirement } from '../../../fixtures/payments/vectors.ts'
import { formatAmount, usdc } from '../../core/money.ts'
import {
  type PaymentOffer,
  PaymentRequired,
  PaymentRequiredV2,
  paymentRequired,
  paymentResponse,
  REQUIRED_HEADER_MAX_CHARS,
} from './x402.ts'
import { decodeObject } from './x402-header.ts'

const offer: PaymentOffer = {
  ...requirement,
  resource: 'http://127.0.0.1:4020/v1/services/svc_0123456789abcdef/purchase',
  description: 'Übersetzung, bis 1.000 Wörter – 翻訳',
  mimeType: 'application/json',
}

function readHeader(header: string): PaymentRequiredV2 {
  const decoded = decodeObject(header)
  return PaymentRequiredV2.parse(decoded.ok ? decoded.object : undefined)
}

test('both halves of a 402 say the same, in the form that published clients read', () => {
  const { body, header } = paymentRequired(offer)
  const asset = '0x5a11d00d5a11D00d5A11D00d5a11D00D5a11d00d'
  const [v1] = body.accepts
  expect(body).toMatchObject({ x402Version: 1, error: expect.stringContaining('X-PAYMENT header is required') })
  expect(body.accepts).toHaveLength(1)
  expect(v1).toEqual({
    scheme: 'exact',
    network: 'base',
    maxAmountRequired: '525000',
    resource: offer.resource,
    description: offer.description,
    mimeType: 'application/json',
    payTo: expect.stringMatching(/[A-F]/),
    maxTimeoutSeconds: 60,
    asset: expect.stringMatching(new RegExp(`^${asset}$`, 'i')),
    extra: { name: 'USD Coin', version: '2', decimals: 6, primaryType: 'TransferWithAuthorization' },
  })
  const v2 = decodePaymentRequiredHeader(header)
  expect(v2).toMatchObject({
    x402Version: 2,
    resource: { url: offer.resource, description: offer.description, mimeType: 'application/json' },
  })
  expect(v2.accepts).toEqual([
    {
      scheme: 'exact',
      network: 'eip155:8453',
      amount: '525000',
      asset: v1?.asset,
      payTo: v1?.payTo,
      maxTimeoutSeconds: 60,
      extra: { name: 'USD Coin', version: '2', decimals: 6, primaryType: 'TransferWithAuthorization' },
    },
  ])
})

const text = fc.string({ unit: 'grapheme', size: 'max', maxLength: 1_500 })
const anyOffer = fc.record(
  {
    description: text,
    mimeType: fc.constantFrom('', 'application/json', 'text/plain'),
    query: fc.string({ unit: fc.constantFrom(...'amount=5.00&%20'), size: 'max', maxLength: 4_000 }),
    serviceName: fc.string({ unit: 'grapheme', maxLength: 60 }),
    tags: fc.array(fc.string({ unit: 'grapheme', maxLength: 40 }), { maxLength: 9 }),
    extensions: fc.constantFrom({}, { bazaar: { info: { input: 'x'.repeat(4_000) } } }, { bazaar: { info: {} } }),
    micro: fc.bigInt({ min: 1n, max: 10_000_000_000n }),
  },
  { requiredKeys: ['description', 'mimeType', 'query', 'micro'] },
)

test('any offer parses with the published schemas and fits its header', () => {
  fc.assert(
    fc.property(anyOffer, ({ query, micro, ...rest }) => {
      const { body, header } = paymentRequired({
        ...requirement,
        ...rest,
        price: usdc(micro),
        resource: `https://market.example/v1/deposit?${query}`,
      })
      expect(parsePaymentRequired(body).success).toBe(true)
      expect(PaymentRequired.safeParse(body).success).toBe(true)
      expect(header.length).toBeLessThanOrEqual(REQUIRED_HEADER_MAX_CHARS)
      expect(parsePaymentRequired(decodePaymentRequiredHeader(header)).success).toBe(true)
      expect(JSON.stringify([body, decodePaymentRequiredHeader(header)])).not.toContain('null')
      expect(readHeader(header).accepts[0]?.amount).toBe(micro.toString())
    }),
    { numRuns: 150 },
  )
})

test('a header that would be too long keeps the first of the signed offers, and the other extensions', () => {
  const offers = [{ format: 'eip712' }, { format: 'jws', signature: 'x'.repeat(3_000) }]
  const headerExtensions = { bazaar: { info: {} }, 'offer-receipt': { info: { offers }, schema: {} } }
  expect(readHeader(paymentRequired({ ...offer, headerExtensions }).header).extensions).toEqual({
    bazaar: { info: {} },
    'offer-receipt': { info: { offers: offers.slice(0, 1) }, schema: {} },
  })
})

const long = (length: number) => '長'.repeat(length)
const query = `?q=${'x'.repeat(3_000)}`

test.each([
  {
    name: 'extensions go first',
    change: { extensions: { bazaar: long(900) } },
    kept: { description: offer.description },
  },
  { name: 'then the description is cut', change: { description: long(1_000) }, kept: { description: `${long(159)}…` } },
  {
    name: 'then it goes, with the rest',
    change: { resource: `${offer.resource}?${'x'.repeat(2_300)}`, description: long(300) },
    kept: {},
  },
  { name: 'then the query', change: { resource: `${offer.resource}${query}` }, kept: { url: offer.resource } },
] as const)('a header that would be too long: $name', ({ change, kept }) => {
  const { body, header } = paymentRequired({ ...offer, ...change })
  const required = readHeader(header)
  expect(header.length).toBeLessThanOrEqual(REQUIRED_HEADER_MAX_CHARS)
  expect(required.extensions).toBeUndefined()
  expect(required.resource).toMatchObject(kept)
  expect('description' in kept).toBe('description' in required.resource)
  expect(body.accepts[0]).toMatchObject({ ...offerTexts(offer), ...offerTexts(change) })
})

function offerTexts(part: Partial<PaymentOffer>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(part).filter(([name]) => name === 'description' || name === 'resource'))
}

test.each([
  { price: 100_000n, limits: undefined },
  { price: 100_001n, limits: 'x402-fetch at 0.10' },
  { price: 1_000_000n, limits: 'x402-fetch at 0.10' },
  { price: 1_000_001n, limits: '@x402/fetch at 1.00; x402-fetch at 0.10' },
])('a price of $price names the limits that clients have by default', ({ price, limits }) => {
  const { body, header } = paymentRequired({ ...offer, price: usdc(price) })
  const notes = limits
    ? `. The price is ${formatAmount(usdc(price))} USDC, above the default limits of clients: ${limits} USDC.`
    : ''
  expect(body.error).toBe(`X-PAYMENT header is required${notes}`)
  expect(readHeader(header).error).toBe(`Payment required${notes}`)
})

test('a refused payment is told in the words of each generation', () => {
  const { body, header } = paymentRequired({ ...offer, fault: 'recipient_mismatch', payer: buyerWallet })
  expect(body).toMatchObject({ error: 'invalid_exact_evm_payload_recipient_mismatch', payer: buyer.address })
  expect(readHeader(header).error).toBe('invalid_exact_evm_recipient_mismatch')
})

test('a deposit without an amount is quoted at its minimum', () => {
  const { body, header } = paymentRequired({ ...offer, price: { min: usdc(10_000n), max: usdc(10_000_000_000n) } })
  expect(body.accepts[0]?.maxAmountRequired).toBe('10000')
  expect(readHeader(header).accepts[0]?.amount).toBe('10000')
})

test('a relative resource is a mistake of the caller', () => {
  expect(() => paymentRequired({ ...offer, resource: '/v1/deposit' })).toThrow(TypeError)
})

const transaction = `0x${'ab'.repeat(32)}` as const
test.each([
  {
    version: 1,
    outcome: { success: true, transaction, network: 'base', payer: buyerWallet },
    name: 'X-PAYMENT-RESPONSE',
    object: { success: true, transaction, network: 'base', payer: buyer.address },
  },
  {
    version: 2,
    outcome: { success: true, transaction, network: 'base', payer: buyerWallet },
    name: 'PAYMENT-RESPONSE',
    object: { success: true, transaction, network: 'eip155:8453', payer: buyer.address },
  },
  {
    version: 1,
    outcome: { success: false, fault: 'insufficient_funds', network: 'base' },
    name: 'X-PAYMENT-RESPONSE',
    object: { success: false, errorReason: 'insufficient_funds', transaction: '', network: 'base' },
  },
  {
    version: 2,
    outcome: { success: false, fault: 'settlement_failed', network: 'base', payer: buyerWallet },
    name: 'PAYMENT-RESPONSE',
    object: {
      success: false,
      errorReason: 'invalid_exact_evm_transaction_failed',
      errorMessage: expect.stringContaining('nothing was delivered'),
      transaction: '',
      network: 'eip155:8453',
      payer: buyer.address,
    },
  },
] as const)('settlement header of v$version: $outcome.success', ({ version, outcome, name, object }) => {
  const header = paymentResponse(version, outcome)
  expect(header.name).toBe(name)
  expect(decodePaymentResponseHeader(header.value)).toEqual(object)
})
