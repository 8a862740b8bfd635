import { formatPrice, usdc } from '../../core/money.ts'
import {
  offerReceipt,
  proofIn,
  readSignedOffer,
  readSignedReceipt,
  type SignedOffer,
  SignedReceipt,
  SignedSale,
  signerOf,
} from '../../core/offer-receipt.ts'

/** A signed offer and receipt. `signer` is the address that signed the offer. */
export type Proof = {
  readonly signer: string
  readonly offer: SignedOffer
  readonly receipt: SignedReceipt | null
  /** Ids of what was bought, as the response names them. */
  readonly job_id?: unknown
  readonly thread_id?: unknown
}

/**
 * Offer and receipt of a payment.
 * @param extensions - of the settlement
 * @throws Error if the receipt is not for this offer, or is of another signer
 */
export async function proofOf(offer: SignedOffer, payer: string, extensions: unknown): Promise<Proof> {
  const offered = readSignedOffer(offer)
  const signer = await signerOf(offered)
  const sent = proofIn(extensions, 'receipt')
  if (sent === undefined) return { signer, offer, receipt: null }
  const receipt = SignedReceipt.safeParse(sent).data
  if (receipt === undefined) throw new Error('it is unreadable')
  const { resourceUrl, network } = offered.payload
  const received = readSignedReceipt(receipt)
  const { payload } = received
  if (payload.resourceUrl !== resourceUrl || payload.network !== network) throw new Error('it is for another resource')
  if (payload.payer.toLowerCase() !== payer.toLowerCase()) throw new Error(`it names another payer than ${payer}`)
  if ((await signerOf(received)) !== signer) throw new Error(`it is not signed by ${signer}`)
  return { signer, offer, receipt }
}

/**
 * Checks the signed offer and receipt of a dispute anew, and says what they prove.
 * @param sale - as the dispute has them
 * @param own - address with which the marketplace signs now, if known
 */
export async function saleProof(sale: unknown, payer: string, own: string | undefined) {
  try {
    const { offer, receipt } = SignedSale.parse(sale)
    const { signer } = await proofOf(offer, payer, { [offerReceipt]: { info: { receipt } } })
    const { amount, payTo } = readSignedOffer(offer).payload
    const { issuedAt, transaction } = readSignedReceipt(receipt).payload
    const paid = `${formatPrice(usdc(BigInt(amount)))} to ${payTo}, paid ${new Date(issuedAt * 1_000).toISOString()}`
    const whose = signer === own ? 'this marketplace' : 'another or an earlier key'
    return { isValid: true, text: `${paid} in ${transaction}, signed by ${signer} (${whose})` }
  } catch (error) {
    return { isValid: false, text: `invalid: ${(error as Error).message}` }
  }
}
