import { acceptsV2, paymentIdentifier } from '../../../src/api/endpoint/x402.ts'
import { networks, type PaymentRequirement } from '../../../src/core/authorization.ts'
import { invalidField } from '../../../src/core/error.ts'
import { checksumAddress, type Hex, type Wallet } from '../../../src/core/hex.ts'
import {
  didKeyOf,
  type OfferPayload,
  offerDigest,
  offerReceipt,
  type ProofFormat,
  readSignedOffer,
  readSignedReceipt,
  receiptDigest,
  type SignedOffer,
  type SignedSale,
  signerOf,
  signJws,
} from '../../../src/core/offer-receipt.ts'
import { dropOldest } from '../../../src/core/record.ts'
import { unixSeconds } from '../../../src/core/time.ts'
import { type Context, defineResource } from '../../kernel/context.ts'
import type { openKey } from '../../ports/chain/key.ts'
import { payments } from './rows.ts'

/* Signed offers in a 402 and signed receipts with an answer (x402 v2, `offer-receipt`). */

type Proofs = {
  /** Signs offers and receipts; holds no money. Derived from the admin key, on first use. */
  readonly key: () => ReturnType<typeof openSigner>
  /** Recently signed offers, in both formats, oldest first, by their digests. */
  readonly offers: Map<string, readonly SignedOffer[]>
}

const proofs = defineResource<Proofs>('offers and receipts')

export function openProofs(ctx: Context, open: () => ReturnType<typeof openKey>): void {
  let opening: ReturnType<typeof openSigner> | undefined
  proofs.open(ctx, { key: () => (opening ??= openSigner(open)), offers: new Map() })
}

async function openSigner(open: () => ReturnType<typeof openKey>) {
  const { address, publicKey, sign } = await open()
  return { signer: checksumAddress(address), kid: await didKeyOf(publicKey), sign }
}

/** The key that signs offers and receipts: its address, and its did:key for a JWS. */
export async function proofSigner(ctx: Context): Promise<{ readonly signer: string; readonly kid: string }> {
  const { signer, kid } = await proofs.of(ctx).key()
  return { signer, kid }
}

const MAX_OFFERS_KEPT = 1_024
/** Equal offers within this time are one, so that many requests without a payment cost one signature. */
const OFFER_STEP_SECONDS = 10

/** Extensions of a 402 that clients may send back. @param resourceUrl - absolute */
export async function offeredProofs(
  ctx: Context,
  requirement: PaymentRequirement,
  resourceUrl: string,
): Promise<Record<string, unknown>> {
  const { scheme, network, asset, payTo, amount } = acceptsV2(requirement)
  const begun = Math.floor(unixSeconds(ctx.clock.wall()) / OFFER_STEP_SECONDS) * OFFER_STEP_SECONDS
  const validUntil = begun + requirement.maxTimeoutSeconds
  const offers = await signOffer(ctx, { version: 1, resourceUrl, scheme, network, asset, payTo, amount, validUntil })
  return {
    [offerReceipt]: { info: { offers }, schema: schemaOf('offers', 'array') },
    [paymentIdentifier]: { info: { required: false }, schema: schemaOf('required', 'boolean') },
  }
}

function schemaOf(member: string, type: string): Record<string, unknown> {
  return { type: 'object', properties: { [member]: { type } }, required: [member] }
}

/** Signs an offer in both formats: EIP-712 first, as clients take the first. */
async function signOffer(ctx: Context, payload: OfferPayload): Promise<readonly SignedOffer[]> {
  const { key, offers } = proofs.of(ctx)
  const digest = offerDigest(payload)
  const name = Buffer.from(digest).toString('latin1')
  const known = offers.get(name)
  if (known) return known
  const by = await key()
  const eip712 = { format: 'eip712', acceptIndex: 0, payload, signature: await by.sign(digest) } as const
  const signed = [eip712, { acceptIndex: 0, ...(await signJws(by, payload)) }]
  if (offers.size >= MAX_OFFERS_KEPT) dropOldest(offers)
  offers.set(name, signed)
  return signed
}

type Paid = {
  readonly payer: Wallet
  /** Absolute. */
  readonly resourceUrl: string
  readonly transaction: Hex
  readonly format: ProofFormat
}

/** Proof that `payer` paid for a resource. */
export async function signReceipt(
  ctx: Context,
  { payer, resourceUrl, transaction, format }: Paid,
): Promise<Record<string, unknown>> {
  const payload = {
    version: 1,
    network: networks[ctx.chain.network].caip2,
    resourceUrl,
    payer: checksumAddress(payer),
    issuedAt: unixSeconds(ctx.clock.wall()),
    transaction,
  }
  const by = await proofs.of(ctx).key()
  const receipt =
    format === 'jws'
      ? await signJws(by, payload)
      : { format, payload, signature: await by.sign(receiptDigest(payload)) }
  return { [offerReceipt]: { info: { receipt }, schema: schemaOf('receipt', 'object') } }
}

/**
 * Refuses an offer and a receipt that this marketplace did not sign for a payment.
 * @throws AppError 400 that names the field
 */
export async function refuseForeignProof(ctx: Context, id: string, proof: SignedSale | undefined): Promise<void> {
  if (proof === undefined) return
  const { signer } = await proofs.of(ctx).key()
  const payment = await ctx.store.table(payments).get(id)
  const [offer, receipt] = [readSignedOffer(proof.offer), readSignedReceipt(proof.receipt)]
  for (const [field, signed] of Object.entries({ offer, receipt })) {
    const by = await signerOf(signed).catch(() => undefined) // by nobody: refused as any other signer
    if (by !== signer)
      throw invalidField(`proof.${field}`, `is not signed by ${signer}, the signer of this marketplace`)
  }
  const wrong = [
    ['receipt.transaction', receipt.payload.transaction !== payment?.transaction],
    ['receipt.payer', receipt.payload.payer.toLowerCase() !== payment?.payer],
    ['offer.amount', offer.payload.amount !== payment?.price.toString()],
    ['offer.resourceUrl', offer.payload.resourceUrl !== receipt.payload.resourceUrl],
  ].find(([, isWrong]) => isWrong)
  if (wrong) throw invalidField(`proof.${wrong[0]}`, 'is of another payment than that of this job')
}
