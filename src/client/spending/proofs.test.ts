import { beforeAll, describe, expect, test } from 'vitest'
import { openKey, type Signer } from '../../../daemon/ports/chain/key.ts'
import { buyer, requirement } from '../../../fixtures/payments/vectors.ts'
import { paymentRequired } from '../../api/endpoint/x402.ts'
import { checksumAddress, toWallet } from '../../core/hex.ts'
import { usdc } from '../../core/money.ts'
import { didKeyOf, offerReceipt, SignedOffer, signedOfferOf, signJws } from '../../core/offer-receipt.ts'
import { chooseOffer } from '../pay.ts'
import { offered, receipted, resourceUrl } from './proofs.testkit.ts'
import { proofOf, saleProof } from './proofs.ts'

let seller: Signer & { readonly publicKey: Uint8Array }
let stranger: typeof seller
beforeAll(async () => {
  seller = await openKey('11'.repeat(32))
  stranger = await openKey('22'.repeat(32))
})

async function chosen(change: object) {
  const headerExtensions = { [offerReceipt]: { info: { offers: [await offered(seller, change)] } } }
  const { body, header } = paymentRequired({
    ...requirement,
    ...{ resource: resourceUrl, description: '', mimeType: 'application/json', headerExtensions },
  })
  const response = { status: 402, headers: new Headers({ 'PAYMENT-REQUIRED': header }), body }
  const policy = { maxPrice: usdc(10_000_000n), network: 'sandbox', allowedAssets: [requirement.asset] } as const
  return chooseOffer(response, policy)
}

describe('a signed offer', () => {
  test('that says what the 402 says is paid, and kept', async () => {
    const option = await chosen({})
    if (!option.ok) throw new Error(option.message)
    const paid = await option.sign({ account: buyer, nonce: `0x${'0c'.repeat(32)}`, nowSeconds: 1_900_000_000 })
    expect(paid.offer).toEqual(await offered(seller))
  })

  test.each([
    ['amount', { amount: '1' }],
    ['payee', { payTo: checksumAddress(toWallet(buyer.address)) }],
    ['asset', { asset: checksumAddress(toWallet(buyer.address)) }],
    ['network', { network: 'eip155:1' }],
  ])('that names another %s than the 402 is not paid', async (field, change) => {
    expect(await chosen(change)).toMatchObject({
      ok: false,
      reason: 'generations_disagree',
      message: `The 402 contradicts its signed offer in ${field}.`,
    })
  })

  test.each([[undefined], [null], ['offers'], [{}], [{ [offerReceipt]: { info: { offers: [{ format: 'jws' }] } } }]])(
    'is none in %j',
    (extensions) => expect(signedOfferOf(extensions, 0)).toBeUndefined(),
  )
})

describe('a JWS', () => {
  async function inJws(by: typeof seller, payload: object) {
    return signJws({ kid: await didKeyOf(by.publicKey), sign: by.sign }, payload)
  }
  const jwsOffer = async (by: typeof seller) =>
    SignedOffer.parse({ acceptIndex: 0, ...(await inJws(by, (await offered(seller)).payload)) })

  test('is read where there is nothing else, and its receipt proves the purchase', async () => {
    const offer = await jwsOffer(seller)
    expect(signedOfferOf({ [offerReceipt]: { info: { offers: [offer] } } }, 0)).toEqual(offer)
    const { receipt: typed } = (await receipted(seller))[offerReceipt].info
    const receipt = await inJws(seller, typed.payload)
    const proof = await proofOf(offer, buyer.address, { [offerReceipt]: { info: { receipt } } })
    expect(proof).toEqual({ signer: checksumAddress(seller.address), offer, receipt })
  })

  test('that names a key which did not sign it proves nothing', async () => {
    const { payload } = await offered(seller)
    const forged = await signJws({ kid: await didKeyOf(seller.publicKey), sign: stranger.sign }, payload)
    const offer = SignedOffer.parse({ acceptIndex: 0, ...forged })
    await expect(proofOf(offer, buyer.address, {})).rejects.toThrow('not signed by the key that it names')
  })

  test('for another key than that of the offer proves nothing', async () => {
    const { receipt: typed } = (await receipted(seller))[offerReceipt].info
    const receipt = await inJws(stranger, typed.payload)
    const sent = { [offerReceipt]: { info: { receipt } } }
    await expect(proofOf(await jwsOffer(seller), buyer.address, sent)).rejects.toThrow(/not signed by 0x/)
  })
})

describe('a receipt', () => {
  test('of the signer of the offer is a proof', async () => {
    const proof = await proofOf(await offered(seller), buyer.address, await receipted(seller))
    expect(proof).toMatchObject({ signer: checksumAddress(seller.address), receipt: { payload: { resourceUrl } } })
  })

  test('that did not come leaves the offer', async () => {
    expect(await proofOf(await offered(seller), buyer.address, undefined)).toMatchObject({
      offer: await offered(seller),
      receipt: null,
    })
  })

  test.each<[string, () => object | Promise<object>, RegExp]>([
    ['of another signer', () => receipted(stranger), /not signed by 0x/],
    ['of another payer', () => receipted(seller, { payer: seller.address }), /another payer than 0x/],
    ['for another resource', () => receipted(seller, { resourceUrl: 'http://127.0.0.1/v1/x' }), /another resource/],
    ['that is none', () => ({ [offerReceipt]: { info: { receipt: { format: 'jws' } } } }), /unreadable/],
  ])('%s proves nothing', async (_, extensions, why) => {
    await expect(proofOf(await offered(seller), buyer.address, await extensions())).rejects.toThrow(why)
  })
})

describe('the proof of a dispute', () => {
  const sale = async (by = seller) => {
    const { receipt } = (await receipted(by))[offerReceipt].info
    return { offer: await offered(seller), receipt }
  }

  test('says what was paid, to whom, when and in what, and who signed it', async () => {
    const proof = await saleProof(await sale(), buyer.address, checksumAddress(seller.address))
    expect(proof).toMatchObject({ isValid: true })
    expect(proof.text).toMatch(/^\$\S+ to 0x\w{40}, paid 2030-03-17T17:46:40.000Z in 0xabc, signed by 0x\w{40}/)
    expect(proof.text).toContain(`${checksumAddress(seller.address)} (this marketplace)`)
  })

  test('of an earlier key is valid, and says so', async () => {
    const proof = await saleProof(await sale(), buyer.address, stranger.address)
    expect(proof).toMatchObject({ isValid: true, text: expect.stringContaining('another or an earlier key') })
  })

  test.each<[string, () => unknown, RegExp]>([
    ['by another signer', () => sale(stranger), /^invalid: it is not signed by 0x/],
    ['that is none', () => ({ offer: 1 }), /^invalid: /],
  ])('%s is invalid', async (_, given, why) => {
    const proof = await saleProof(await given(), buyer.address, seller.address)
    expect(proof).toEqual({ isValid: false, text: expect.stringMatching(why) })
  })

  test('of another buyer is invalid', async () => {
    const proof = await saleProof(await sale(), seller.address, seller.address)
    expect(proof).toEqual({ isValid: false, text: expect.stringContaining('names another payer') })
  })
})
