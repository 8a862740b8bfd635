import { beforeAll, expect, test } from 'vitest'
import { verifyAuthorization } from '../../daemon/features/payments/order.ts'
import { openRecover, type Recover } from '../../daemon/ports/chain/signature.ts'
import { buyer, buyerWallet, domain, encode, requirement, VECTOR_NOW_SECONDS } from '../../fixtures/payments/vectors.ts'
import { type PaymentOffer, paymentRequired, paymentResponse, x402Headers } from '../api/endpoint/x402.ts'
import { readPaymentHeader } from '../api/endpoint/x402-header.ts'
import { authorizationDigest, circleUsdc, domainSeparator } from '../core/authorization.ts'
import { toWallet } from '../core/hex.ts'
import { paymentWindows } from '../core/limits.ts'
import { usdc } from '../core/money.ts'
import { accountFromKey, chooseOffer, type PayPolicy, readPaymentResponse } from './pay.ts'

const nonce = `0x${'0c'.repeat(32)}` as const
const policy: PayPolicy = { maxPrice: usdc(1_000_000n), network: 'sandbox', allowedAssets: [requirement.asset] }
const offer: PaymentOffer = {
  ...requirement,
  resource: 'http://127.0.0.1:4020/v1/discover',
  description: '',
  mimeType: 'application/json',
  extensions: { 'payment-identifier': { info: { required: false } } },
}

let recover: Recover
beforeAll(async () => {
  recover = await openRecover()
})

/** A 402 as the client's transport hands it over; `v1` leaves the v2 header out. */
function answer({ body, header }: { body: unknown; header: string }, versions: 'both' | 'v1' | 'v2' = 'both') {
  const headers = new Headers(versions === 'v1' ? {} : { [x402Headers.requiredV2]: header })
  return { status: 402, headers, body: versions === 'v2' ? {} : JSON.parse(JSON.stringify(body)) }
}

async function signChosen(chosen: ReturnType<typeof chooseOffer>) {
  return chosen.ok ? chosen.sign({ account: buyer, nonce, nowSeconds: VECTOR_NOW_SECONDS }) : chosen
}
const pay = (response: ReturnType<typeof answer>, change: Partial<PayPolicy> = {}) =>
  signChosen(chooseOffer(response, { ...policy, ...change }))

test.each([
  { versions: 'both', version: 2, header: 'PAYMENT-SIGNATURE' },
  { versions: 'v2', version: 2, header: 'PAYMENT-SIGNATURE' },
  { versions: 'v1', version: 1, header: 'X-PAYMENT' },
] as const)('a 402 in $versions is paid as v$version, and the payment verifies', async (row) => {
  const paid = await pay(answer(paymentRequired(offer), row.versions))
  expect(paid).toMatchObject({ ok: true, version: row.version, price: 525_000n, payTo: requirement.payTo, nonce })
  const headers = paid.ok ? paid.headers : {}
  expect(Object.keys(headers)).toEqual([row.header])
  const read = readPaymentHeader(row.version, headers[row.header] as string)
  if (!read.ok) throw new Error(read.detail)
  const { credential } = read
  const digest = authorizationDigest(domainSeparator(domain), credential.authorization)
  const facts = {
    wallNowSeconds: VECTOR_NOW_SECONDS,
    marginSeconds: paymentWindows.first.marginSeconds,
    signer: recover(digest, credential.signature) ?? null,
    funds: 525_000n,
    openReservations: 0n,
  }
  expect(verifyAuthorization({ credential, requirement, facts })).toEqual({ ok: true })
})

test('a v2 payment repeats the entry and the extensions of the server to the letter', async () => {
  const required = paymentRequired(offer)
  const object = JSON.parse(Buffer.from(required.header, 'base64').toString())
  object.accepts[0].unknownMember = { deep: [1, null] }
  const paid = await pay(answer({ ...required, header: encode(object) }))
  const sent = JSON.parse(
    Buffer.from(paid.ok ? (paid.headers['PAYMENT-SIGNATURE'] as string) : '', 'base64').toString(),
  )
  expect(sent.accepted).toEqual(object.accepts[0])
  expect(sent.extensions).toEqual(object.extensions)
})

const real = circleUsdc.base.asset
const otherToken = toWallet('0x60a3e35cc302bfa44cb288bc5a4f316fdb1adb42')

test.each([
  { name: 'dearer than allowed', offered: { price: usdc(1_000_001n) }, reason: 'price_above_max' },
  { name: 'as dear as allowed', offered: { price: usdc(1_000_000n) }, reason: null },
  { name: 'a token it was not added with', offered: { asset: otherToken }, reason: 'asset_not_allowed' },
  { name: 'real USDC at a sandbox', offered: { asset: real }, reason: 'asset_not_allowed' },
  {
    name: 'real USDC at a sandbox that called it its own',
    offered: { asset: real },
    policy: { allowedAssets: [real] },
    reason: 'asset_not_allowed',
  },
  {
    name: 'the USDC of a testnet at a sandbox that called it its own',
    offered: { asset: circleUsdc['base-sepolia'].asset },
    policy: { allowedAssets: [circleUsdc['base-sepolia'].asset] },
    reason: 'asset_not_allowed',
  },
  {
    name: 'another real token that a sandbox called its own',
    offered: { asset: otherToken, domain: { name: 'EURC', version: '2' } },
    policy: { allowedAssets: [otherToken] },
    reason: 'token_mismatch',
  },
  { name: 'real USDC where base was chosen', offered: { asset: real }, policy: { network: 'base' }, reason: null },
  {
    name: 'a sandbox token where base was chosen',
    offered: {},
    policy: { network: 'base' },
    reason: 'asset_not_allowed',
  },
  {
    name: 'base where base-sepolia was chosen',
    offered: { asset: real },
    policy: { network: 'base-sepolia' },
    reason: 'network_not_allowed',
  },
  { name: 'base-sepolia at a sandbox', offered: { network: 'base-sepolia' }, reason: 'network_not_allowed' },
] as const)('$name: $reason, in both generations', async (row) => {
  const required = paymentRequired({ ...offer, ...row.offered })
  for (const versions of ['v1', 'v2'] as const) {
    const paid = await pay(answer(required, versions), 'policy' in row ? row.policy : {})
    expect(paid.ok ? null : paid.reason).toBe(row.reason)
  }
})

test('another scheme is refused, and an entry that can be paid is found behind it', async () => {
  const required = paymentRequired(offer)
  const entry = required.body.accepts[0]
  const upto = { ...entry, scheme: 'upto' }
  const refused = await pay(answer({ ...required, body: { ...required.body, accepts: [upto] } }, 'v1'))
  expect(refused).toMatchObject({ ok: false, reason: 'scheme_unsupported' })
  const paid = await pay(answer({ ...required, body: { ...required.body, accepts: [upto, entry] } }, 'v1'))
  expect(paid).toMatchObject({ ok: true, price: 525_000n })
})

test.each([
  { name: 'no offer at all', header: null, body: {} },
  { name: 'an HTML page', header: null, body: '<html>' },
  { name: 'no entries', header: null, body: { x402Version: 1, error: '', accepts: [] } },
  { name: 'a header that is not base64', header: '{}', body: undefined },
  { name: 'a header that is too long', header: 'A'.repeat(16_388), body: undefined },
])('$name: nothing is signed', async ({ header, body }) => {
  const headers = new Headers(header === null ? {} : { [x402Headers.requiredV2]: header })
  expect(await pay({ status: 402, headers, body })).toMatchObject({ ok: false, reason: 'malformed_offer' })
})

test('a window of a year is signed for ten minutes', async () => {
  const paid = await pay(answer(paymentRequired({ ...offer, maxTimeoutSeconds: 31_536_000 }), 'v1'))
  const read = readPaymentHeader(1, paid.ok ? (paid.headers['X-PAYMENT'] as string) : '')
  expect(read.ok && read.credential.authorization.validBefore).toBe(BigInt(VECTOR_NOW_SECONDS + 600))
})

test.each([1, 2] as const)('reads the settlement header of v%i', (version) => {
  const transaction = `0x${'ab'.repeat(32)}` as const
  const { name, value } = paymentResponse(version, { success: true, transaction, network: 'base', payer: buyerWallet })
  expect(readPaymentResponse(new Headers({ [name]: value }))).toMatchObject({
    success: true,
    transaction,
    payer: buyer.address,
  })
})

test('no settlement header, or one that cannot be read, is undefined', () => {
  expect(readPaymentResponse(new Headers())).toBeUndefined()
  expect(readPaymentResponse(new Headers({ [x402Headers.responseV2]: '???' }))).toBeUndefined()
})

test('an account is made from a key', async () => {
  const account = await accountFromKey(`0x${'51'.repeat(32)}`)
  expect(account.address).toBe(buyer.address)
})
