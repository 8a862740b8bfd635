import { checksumAddress, type Hex } from '../../core/hex.ts'
import { offerDigest, proofIn, receiptDigest, type SignedOffer, SignedReceipt } from '../../core/offer-receipt.ts'

/** A signed offer and receipt. `signer` is the address that signed the offer. */
export type Proof = { readonly signer: string; readonly offer: SignedOffer; readonly receipt: SignedReceipt | null }

/**
 * Offer and receipt of a payment.
 * @param extensions - of the settlement
 * @throws Error if the receipt is not for this offer, or is of another signer
 */
export async function proofOf(offer: SignedOffer, payer: Hex, extensions: unknown): Promise<Proof> {
  const { recoverAddress } = await import('viem')
  const by = (hash: Uint8Array, signed: Hex) => recoverAddress({ hash, signature: signed })
  const signer = await by(offerDigest(offer.payload), offer.signature)
  const sent = proofIn(extensions, 'receipt')
  if (sent === undefined) return { signer, offer, receipt: null }
  const receipt = SignedReceipt.safeParse(sent).data
  if (receipt === undefined) throw new Error('it is unreadable')
  const { resourceUrl, network } = offer.payload
  const { payload } = receipt
  if (payload.resourceUrl !== resourceUrl || payload.network !== network) throw new Error('it is for another resource')
  if (payload.payer.toLowerCase() !== payer.toLowerCase())
    throw new Error(`it names another payer than ${checksumAddress(payer)}`)
  if ((await by(receiptDigest(payload), receipt.signature)) !== signer) throw new Error(`it is not signed by ${signer}`)
  return { signer, offer, receipt }
}
