import {
  type AcceptedEntry,
  networks,
  type PaymentCredential,
  type PaymentRequirement,
  priceRange,
  splitSignature,
} from '../../../src/core/authorization.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import type { PaymentFault } from '../../../src/core/payment-fault.ts'

export type VerificationFacts = {
  wallNowSeconds: number
  /** Seconds that must be left before `validBefore`: `paymentWindows[order].marginSeconds`. */
  marginSeconds: number
  /** Who signed, by recovery over the digest under the required asset's domain. */
  signer: Wallet | null
  /** Balance of the paying wallet on the chain. */
  funds: bigint
  /** Sum of that wallet's reservations that are not settled or released, without this one. */
  openReservations: bigint
}

export type Verification = {
  credential: PaymentCredential
  requirement: PaymentRequirement
  facts: VerificationFacts
}

export type Verdict = { ok: true } | { ok: false; fault: PaymentFault }

/** Everything that must hold before an authorization is reserved (decisions §4, Verification). */
export function verifyAuthorization(verification: Verification): Verdict {
  const fault =
    requirementFault(verification) ??
    authorizationFault(verification) ??
    signatureFault(verification) ??
    fundsFault(verification)
  return fault === undefined ? { ok: true } : { ok: false, fault }
}

/** Whether the payer speaks of the same scheme, network and, in v2, of the very entry that was offered. */
function requirementFault({ credential, requirement }: Verification): PaymentFault | undefined {
  if (credential.scheme !== 'exact') return 'scheme_unsupported'
  const network = credential.version === 1 ? requirement.network : networks[requirement.network].caip2
  if (credential.network !== network) return 'network_mismatch'
  if (credential.version === 1) return undefined
  return acceptedFault(credential.accepted, { credential, requirement })
}

function acceptedFault(
  accepted: AcceptedEntry,
  { credential, requirement }: Pick<Verification, 'credential' | 'requirement'>,
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

function authorizationFault({ credential, requirement, facts }: Verification): PaymentFault | undefined {
  const { to, value, validAfter, validBefore } = credential.authorization
  const { min, max } = priceRange(requirement.price)
  if (to !== requirement.payTo) return 'recipient_mismatch'
  if (value < min || value > max) return 'amount_mismatch'
  if (validAfter > BigInt(facts.wallNowSeconds)) return 'not_yet_valid'
  if (validBefore < BigInt(facts.wallNowSeconds + facts.marginSeconds)) return 'expired'
  return undefined
}

function signatureFault({ credential, facts }: Verification): PaymentFault | undefined {
  const split = splitSignature(credential.signature)
  if (!split.ok) return split.fault
  return facts.signer === credential.authorization.from ? undefined : 'signature_invalid'
}

function fundsFault({ credential, facts }: Verification): PaymentFault | undefined {
  return facts.funds < credential.authorization.value + facts.openReservations ? 'insufficient_funds' : undefined
}
