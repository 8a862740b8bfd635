import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { soundBooks } from '../../../fixtures/kit/money.ts'
import { type Buyer, type Marketplace, openMarketplace, signPayment } from '../../../fixtures/market/marketplace.ts'
import { load as outside } from '../../../fixtures/outside/load.ts'
import { toBase64 } from '../../../src/api/endpoint/x402.ts'
import {
  offerDigest,
  readSignedOffer,
  readSignedReceipt,
  receiptDigest,
  SignedOffer,
  signerOf,
} from '../../../src/core/offer-receipt.ts'

const published = await outside('@x402/extensions/offer-receipt')
const { appendPaymentIdentifierToExtensions } = await outside('@x402/extensions/payment-identifier')

let market: Marketplace
let buyer: Buyer
let path: string
let signer: string
let kid: string
const body = { data: 'https://souk.example/a-page' }
beforeAll(async () => {
  market = await openMarketplace()
  buyer = await market.buyer('10.00')
  path = `/v1/services/${await market.serviceId('qr_code')}/purchase`
  ;({ signer, kid } = (await market.call('GET', '/.well-known/x402')).body)
})
afterAll(() => market.close())

const decode = (header: string | null) => JSON.parse(Buffer.from(header ?? '', 'base64').toString())
const asked = () => market.call('POST', path, { body })
const required = async () => decode((await asked()).headers.get('PAYMENT-REQUIRED'))
const bought = (version: 1 | 2) =>
  buyer.fetch(version)(`${market.url()}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })

describe('an offer', () => {
  test('is signed by the key that the manifest names, for what accepts says', async () => {
    const { accepts, extensions } = await required()
    const [offer] = published.extractOffersFromPaymentRequired({ accepts, extensions })
    const read = await published.verifyOfferSignatureEIP712(offer)
    expect(read.signer).toBe(signer)
    expect(published.findAcceptsObjectFromSignedOffer(offer, accepts)).toEqual(accepts[0])
    expect(read.payload.resourceUrl).toBe(`${market.url()}${path}`)
    const left = read.payload.validUntil - Date.now() / 1_000
    expect(left).toBeLessThanOrEqual(accepts[0].maxTimeoutSeconds)
  })

  test('with a changed byte is of nobody that sells here', async () => {
    const [offer] = published.extractOffersFromPaymentRequired(await required())
    for (const change of [{ amount: '1' }, { payTo: buyer.wallet }, { validUntil: offer.payload.validUntil + 1 }]) {
      const read = await published.verifyOfferSignatureEIP712({ ...offer, payload: { ...offer.payload, ...change } })
      expect(read.signer).not.toBe(signer)
    }
  })
})

type Extensions = { 'offer-receipt': { info: { offers: { format: string }[] } } }

describe('as a JWS', () => {
  const withByte = (jws: string, at: number) => `${jws.slice(0, at)}${jws[at] === 'A' ? 'B' : 'A'}${jws.slice(at + 1)}`
  const inJws = (extensions: Extensions) => {
    const { info, ...rest } = extensions['offer-receipt']
    const offers = info.offers.filter(({ format }) => format === 'jws')
    return { ...extensions, 'offer-receipt': { ...rest, info: { offers } } }
  }
  /** Buys as a client that sends back only the offer that it verified. */
  async function receipted() {
    const offer = await asked()
    const { extensions } = decode(offer.headers.get('PAYMENT-REQUIRED'))
    const headers = await signPayment(buyer.account, offer, { version: 2 })
    const payment = decode(headers['PAYMENT-SIGNATURE'] ?? '')
    const sent = toBase64({ ...payment, extensions: inJws(extensions) })
    const { headers: answered } = await market.call('POST', path, { body, headers: { 'PAYMENT-SIGNATURE': sent } })
    return { receipt: published.extractReceiptFromResponse({ headers: answered }), answered }
  }

  test('an offer says the same, by the key that the manifest names', async () => {
    const { accepts, extensions } = await required()
    const [typed, jws] = published.extractOffersFromPaymentRequired({ accepts, extensions })
    expect(await published.verifyOfferSignatureJWS(jws)).toEqual(typed.payload)
    expect(published.extractJWSHeader(jws.signature)).toEqual({ alg: 'ES256K', kid })
    expect(published.findAcceptsObjectFromSignedOffer(jws, accepts)).toEqual(accepts[0])
    expect(await signerOf(readSignedOffer(jws))).toBe(signer)
  })

  test('a receipt comes to a client that sends back this offer alone, and matches it', async () => {
    const [offer] = published.decodeSignedOffers([published.extractOffersFromPaymentRequired(await required())[1]])
    const { receipt, answered } = await receipted()
    const payload = await published.verifyReceiptSignatureJWS(receipt)
    expect(payload.transaction).toBe(decode(answered.get('PAYMENT-RESPONSE')).transaction)
    expect(published.extractJWSHeader(receipt.signature).kid).toBe(kid)
    expect(published.verifyReceiptMatchesOffer(receipt, offer, [buyer.wallet])).toBe(true)
    expect(await signerOf(readSignedReceipt(receipt))).toBe(signer)
  })

  test('with a changed byte is refused, by the published client and by ours', async () => {
    const [, { signature, ...rest }] = published.extractOffersFromPaymentRequired(await required())
    const { receipt } = await receipted()
    // Not the last character of a part, whose low bits are unused.
    const [header, payload] = signature.split('.').map(({ length }: string) => length)
    for (const at of [2, header + 10, header + payload + 10]) {
      const forged = withByte(signature, at)
      await expect(published.verifyOfferSignatureJWS({ ...rest, signature: forged })).rejects.toThrow()
      const read = SignedOffer.safeParse({ ...rest, signature: forged }).data
      if (read) await expect(signerOf(readSignedOffer(read))).rejects.toThrow('not signed by the key that it names')
    }
    const forged = { ...receipt, signature: withByte(receipt.signature, receipt.signature.length - 20) }
    await expect(published.verifyReceiptSignatureJWS(forged)).rejects.toThrow()
    await expect(signerOf(readSignedReceipt(forged))).rejects.toThrow('not signed by the key that it names')
  })
})

describe('a receipt', () => {
  test('comes to the published client, names the payment, and matches the offer', async () => {
    const [offer] = published.decodeSignedOffers(published.extractOffersFromPaymentRequired(await required()))
    const response = await bought(2)
    expect(response.status).toBe(200)
    const receipt = published.extractReceiptFromResponse(response)
    const read = await published.verifyReceiptSignatureEIP712(receipt)
    expect(read.signer).toBe(signer)
    expect(read.payload.transaction).toBe(decode(response.headers.get('PAYMENT-RESPONSE')).transaction)
    expect(published.verifyReceiptMatchesOffer(receipt, offer, [buyer.wallet])).toBe(true)
    const changed = { ...receipt, payload: { ...read.payload, payer: signer } }
    expect((await published.verifyReceiptSignatureEIP712(changed)).signer).not.toBe(signer)
  })

  test('comes to nobody who does not know of them', async () => {
    const first = await bought(1)
    expect(first.status).toBe(200)
    expect(decode(first.headers.get('X-PAYMENT-RESPONSE'))).not.toHaveProperty('extensions')
    const headers = await signPayment(buyer.account, await asked(), { version: 2 })
    const plain = await market.call('POST', path, { body, headers })
    expect(plain.status).toBe(200)
    expect(decode(plain.headers.get('PAYMENT-RESPONSE'))).not.toHaveProperty('extensions')
  })
})

describe('a payment identifier', () => {
  async function paidAs(id: string, input: object = body) {
    const offer = await asked()
    const { extensions } = decode(offer.headers.get('PAYMENT-REQUIRED'))
    const headers = await signPayment(buyer.account, offer, { version: 2 })
    const payment = decode(headers['PAYMENT-SIGNATURE'] ?? '')
    extensions['payment-identifier'].info.id = id
    const sent = toBase64({ ...payment, extensions })
    return market.call('POST', path, { body: input, headers: { 'PAYMENT-SIGNATURE': sent } })
  }

  test('means what Idempotency-Key means: a new payment with it gets the first answer, and is not charged', async () => {
    const { id } = appendPaymentIdentifierToExtensions((await required()).extensions)['payment-identifier'].info
    const funds = () => market.daemon.ctx.chain.balanceOf(buyer.wallet)
    const first = await paidAs(id)
    const left = await funds()
    const again = await paidAs(id)
    expect(first.status).toBe(200)
    expect(again.body.job_id).toBe(first.body.job_id)
    expect(again.headers.get('Idempotency-Replayed')).toBe('true')
    expect(await funds()).toBe(left)
    const other = await paidAs(id, { data: 'another' })
    expect(other.status).toBe(409)
    expect(await funds()).toBe(left)
    await soundBooks(market)
  })

  test('that is none is refused by its name, and charges nobody', async () => {
    const left = await market.daemon.ctx.chain.balanceOf(buyer.wallet)
    const answer = await paidAs('too short')
    expect(answer.status).toBe(402)
    expect(answer.body.message).toContain('extensions.payment-identifier.info.id')
    expect(await market.daemon.ctx.chain.balanceOf(buyer.wallet)).toBe(left)
  })
})

test('digests are those of the published package, whatever stands in an offer or a receipt', () => {
  const text = fc.string({ unit: 'binary' })
  const seconds = fc.nat({ max: 2 ** 40 })
  const offer = fc.record({
    ...{ version: fc.nat(), resourceUrl: text, scheme: text, network: text, asset: text, payTo: text },
    ...{ amount: text, validUntil: seconds },
  })
  const receipt = fc.record({
    ...{ version: fc.nat(), network: text, resourceUrl: text, payer: text },
    ...{ issuedAt: seconds, transaction: text },
  })
  const hexOf = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`
  fc.assert(
    fc.property(offer, receipt, (one, other) => {
      expect(hexOf(offerDigest(one))).toBe(published.hashOfferTypedData(one))
      expect(hexOf(receiptDigest(other))).toBe(published.hashReceiptTypedData(other))
    }),
  )
})
