import type { Signer } from '../../../daemon/ports/chain/key.ts'
import { buyer, requirement } from '../../../fixtures/payments/vectors.ts'
import { acceptsV2 } from '../../api/endpoint/x402.ts'
import { checksumAddress } from '../../core/hex.ts'
import { offerDigest, offerReceipt, receiptDigest } from '../../core/offer-receipt.ts'

export const resourceUrl = 'http://127.0.0.1:4020/v1/discover'

/** A signed offer of the requirement of the test vectors. */
export async function offered(seller: Signer, change: object = {}) {
  const { scheme, network, asset, payTo, amount } = acceptsV2(requirement)
  const payload = {
    ...{ version: 1, resourceUrl, scheme, network, asset, payTo, amount, validUntil: 2_000_000_000 },
    ...change,
  }
  const signature = await seller.sign(offerDigest(payload))
  return { format: 'eip712', acceptIndex: 0, payload, signature } as const
}

/** The extensions of a settlement, with a signed receipt for the buyer of the test vectors. */
export async function receipted(by: Signer, change: object = {}) {
  const { network } = acceptsV2(requirement)
  const said = { network, resourceUrl, payer: checksumAddress(buyer.address), transaction: '0xabc' }
  const payload = { version: 1, issuedAt: 1_900_000_000, ...said, ...change }
  const receipt = { format: 'eip712', payload, signature: await by.sign(receiptDigest(payload)) } as const
  return { [offerReceipt]: { info: { receipt } } }
}
