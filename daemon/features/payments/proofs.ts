import { acceptsV2, paymentIdentifier } from '../../../src/api/endpoint/x402.ts'
import { networks, type PaymentRequirement } from '../../../src/core/authorization.ts'
import { checksumAddress, type Hex, type Wallet } from '../../../src/core/hex.ts'
import { offerDigest, offerReceipt, receiptDigest, type SignedOffer } from '../../../src/core/offer-receipt.ts'
import { dropOldest } from '../../../src/core/record.ts'
import { unixSeconds } from '../../../src/core/time.ts'
import { type Context, defineResource } from '../../kernel/context.ts'
import type { Signer } from '../../ports/chain/key.ts'

/* Signed offers in a 402 and signed receipts with an answer (x402 v2, `offer-receipt`). */

type Proofs = {
  /** Signs offers and receipts; holds no money. Derived from the admin key, on first use. */
  readonly key: () => Promise<Signer>
  /** Recently signed offers, oldest first, by their digests. */
  readonly offers: Map<string, SignedOffer>
}

const proofs = defineResource<Proofs>('offers and receipts')

export function openProofs(ctx: Context, open: () => Promise<Signer>): void {
  let opening: Promise<Signer> | undefined
  proofs.open(ctx, { key: () => (opening ??= open()), offers: new Map() })
}

/** The address whose key signs offers and receipts. */
export async function proofSigner(ctx: Context): Promise<string> {
  return checksumAddress((await proofs.of(ctx).key()).address)
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
  const signed = await signOffer(ctx, { version: 1, resourceUrl, scheme, network, asset, payTo, amount, validUntil })
  return {
    [offerReceipt]: { info: { offers: [signed] }, schema: schemaOf('offers', 'array') },
    [paymentIdentifier]: { info: { required: false }, schema: schemaOf('required', 'boolean') },
  }
}

function schemaOf(member: string, type: string): Record<string, unknown> {
  return { type: 'object', properties: { [member]: { type } }, required: [member] }
}

async function signOffer(ctx: Context, payload: SignedOffer['payload']): Promise<SignedOffer> {
  const { key, offers } = proofs.of(ctx)
  const digest = offerDigest(payload)
  const name = Buffer.from(digest).toString('latin1')
  const known = offers.get(name)
  if (known) return known
  const signed = { format: 'eip712', acceptIndex: 0, payload, signature: await (await key()).sign(digest) } as const
  if (offers.size >= MAX_OFFERS_KEPT) dropOldest(offers)
  offers.set(name, signed)
  return signed
}

/** Proof that `payer` paid for a resource. @param paid.resourceUrl - absolute */
export async function signReceipt(
  ctx: Context,
  {
    payer,
    resourceUrl,
    transaction,
  }: { readonly payer: Wallet; readonly resourceUrl: string; readonly transaction: Hex },
): Promise<Record<string, unknown>> {
  const payload = {
    version: 1,
    network: networks[ctx.chain.network].caip2,
    resourceUrl,
    payer: checksumAddress(payer),
    issuedAt: unixSeconds(ctx.clock.wall()),
    transaction,
  }
  const signer = await proofs.of(ctx).key()
  const receipt = { format: 'eip712', payload, signature: await signer.sign(receiptDigest(payload)) }
  return { [offerReceipt]: { info: { receipt }, schema: schemaOf('receipt', 'object') } }
}
