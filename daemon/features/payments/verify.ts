import { balanceHeader } from '../../../src/api/endpoint/credentials.ts'
import {
  type AcceptedEntry,
  type Authorization,
  networks,
  type PaymentCredential,
  type PaymentRequirement,
  priceRange,
  splitSignature,
} from '../../../src/core/authorization.ts'
import { invalidField } from '../../../src/core/error.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import { paymentWindows } from '../../../src/core/limits.ts'
import type { PaymentFault } from '../../../src/core/payment-fault.ts'
import { unixSeconds } from '../../../src/core/time.ts'
import type { Context } from '../../kernel/context.ts'
import { PaymentRefused, requirementOf } from './offer.ts'
import { methodOf, type Order } from './order.ts'
import { isX402Only } from './payer.ts'

/**
 * Whether what was tendered is good for the order, but for its funds. @returns the id of its payment: an authorization's
 * own, whatever endpoint it is sent to, since its nonce is used once; that of the request where a key pays.
 * @throws PaymentRefused, AppError 400 where only a signature proves the wallet.
 */
export function verify(order: Order): string {
  const { ctx, credential, quote } = order
  if (credential.kind !== 'x402') {
    if (isX402Only(order.seller.endpoint)) {
      throw invalidField(balanceHeader, 'this row takes a signed x402 payment only: the signature proves the wallet')
    }
    return `${methodOf(order)}:${order.exchange.requestId}`
  }
  const { payment, signer } = credential
  const verdict = verifyAuthorization({
    credential: payment,
    requirement: requirementOf(ctx, quote),
    facts: {
      wallNowSeconds: unixSeconds(ctx.clock.wall()),
      marginSeconds: paymentWindows[quote.settle].marginSeconds,
      signer,
      // The reservation counts them, together with what the wallet has promised elsewhere.
      funds: payment.authorization.value,
      openReservations: 0n,
    },
  })
  if (!verdict.ok) throw new PaymentRefused({ fault: verdict.fault, payer: payment.authorization.from })
  return authorizationId(ctx, payment)
}

/** Id of the payment of an authorization. */
export function authorizationId(
  { chain }: Pick<Context, 'chain'>,
  { authorization }: { readonly authorization: Pick<Authorization, 'from' | 'nonce'> },
): string {
  return `${chain.network}:${chain.asset.address}:${authorization.from}:${authorization.nonce}`
}

export type VerificationFacts = {
  wallNowSeconds: number
  /** Seconds that must be left before `validBefore`: `paymentWindows[order].marginSeconds`. */
  marginSeconds: number
  /** Who signed, by recovery over the digest under the required asset's domain, or as its contract says. */
  signer: Wallet | null
  /** Balance of the paying wallet on the chain. */
  funds: bigint
  /** Sum of that wallet's reservations that are not settled or released, without this one. */
  openReservations: bigint
}

export type VerifiedPayment = {
  credential: PaymentCredential
  requirement: PaymentRequirement
  facts: VerificationFacts
}

export type PaymentVerdict = { ok: true } | { ok: false; fault: PaymentFault }

/** Everything that must hold before an authorization is reserved (decisions §4, Verification). */
export function verifyAuthorization(verification: VerifiedPayment): PaymentVerdict {
  const fault =
    requirementFault(verification) ??
    authorizationFault(verification) ??
    signatureFault(verification) ??
    fundsFault(verification)
  return fault === undefined ? { ok: true } : { ok: false, fault }
}

/** Whether the payer speaks of the same scheme, network and, in v2, of the very entry that was offered. */
function requirementFault({ credential, requirement }: VerifiedPayment): PaymentFault | undefined {
  if (credential.scheme !== 'exact') return 'scheme_unsupported'
  const network = credential.version === 1 ? requirement.network : networks[requirement.network].caip2
  if (credential.network !== network) return 'network_mismatch'
  if (credential.version === 1) return undefined
  return acceptedFault(credential.accepted, { credential, requirement })
}

function acceptedFault(
  accepted: AcceptedEntry,
  { credential, requirement }: Pick<VerifiedPayment, 'credential' | 'requirement'>,
): PaymentFault | undefined {
  if (accepted.asset !== requirement.asset) return 'asset_mismatch'
  if (accepted.payTo !== requirement.payTo) return 'recipient_mismatch'
  if (!acceptedAmounts(credential, requirement).includes(accepted.amount)) return 'amount_mismatch'
  if (accepted.maxTimeoutSeconds !== requirement.maxTimeoutSeconds) return 'requirement_mismatch'
  const { name, version } = accepted.extra
  if (name === undefined || version === undefined) return 'domain_missing'
  if (name !== requirement.domain.name) return 'domain_name_mismatch'
  if (version !== requirement.domain.version) return 'domain_version_mismatch'
  return undefined
}

/** A deposit is quoted at its minimum; a payer who authorises more may echo either amount. */
function acceptedAmounts(credential: PaymentCredential, requirement: PaymentRequirement): string[] {
  const { min, max } = priceRange(requirement.price)
  return min === max ? [min.toString()] : [min.toString(), credential.authorization.value.toString()]
}

function authorizationFault({ credential, requirement, facts }: VerifiedPayment): PaymentFault | undefined {
  const { to, value, validAfter, validBefore } = credential.authorization
  const { min, max } = priceRange(requirement.price)
  if (to !== requirement.payTo) return 'recipient_mismatch'
  if (value < min || value > max) return 'amount_mismatch'
  if (validAfter > BigInt(facts.wallNowSeconds)) return 'not_yet_valid'
  if (validBefore < BigInt(facts.wallNowSeconds + facts.marginSeconds)) return 'expired'
  return undefined
}

/** A signature in another form than a key's can only be a contract's, which has been asked by then. */
function signatureFault({ credential, facts }: VerifiedPayment): PaymentFault | undefined {
  if (facts.signer === credential.authorization.from) return undefined
  const split = splitSignature(credential.signature)
  return split.ok ? 'signature_invalid' : split.fault
}

function fundsFault({ credential, facts }: VerifiedPayment): PaymentFault | undefined {
  return facts.funds < credential.authorization.value + facts.openReservations ? 'insufficient_funds' : undefined
}
