import type { Wallet } from '../core/hex.ts'

/** Engine states. `missing`: not installed; `unconfigured`: needs a key or address; `failing`: installed but broken. */
export const engineStatuses = ['ok', 'missing', 'unconfigured', 'failing'] as const
export type EngineStatus = (typeof engineStatuses)[number]

/** Payout states (decisions §4); `needs_operator`: no key to sign. */
export const payoutStates = ['created', 'needs_operator', 'signed', 'sent', 'confirmed', 'failed'] as const

/**
 * Reasons for payouts; during a pause only refunds continue. `withdrawal` pays out a balance. `referral` pays out
 * referral money on request, or marks money that a sanctioned wallet does not get.
 */
export const payoutKinds = ['refund', 'settlement', 'splitter', 'referral', 'withdrawal', 'cold'] as const
export type PayoutKind = (typeof payoutKinds)[number]

/** A revenue share in basis points, for a wallet or the operator. */
export type Payee = { readonly to: Wallet | 'operator'; readonly bps: bigint }

export const attemptStatuses = ['pending_consent', 'vendor_pending', 'approved', 'rejected', 'expired'] as const
export type AttemptStatus = (typeof attemptStatuses)[number]
export const vendorDecisions = ['approved', 'rejected'] as const

/** Subscription status (decisions §9). */
export const subscriptionStatuses = ['active', 'paused', 'past_due', 'canceled', 'expired'] as const
export type SubscriptionStatus = (typeof subscriptionStatuses)[number]

/** Automatic subscription events: charge, or end of the period. */
export const subscriptionDueEvents = ['renew', 'lapse'] as const
export type SubscriptionDueEvent = (typeof subscriptionDueEvents)[number]

export const dimensions = ['quality', 'reliability', 'speed', 'communication'] as const
export type Dimension = (typeof dimensions)[number]

/** Results of a dispute. `recorded`: no money was held any more when the dispute was opened. */
export const disputeEnds = ['none', 'recorded', 'released', 'split', 'refunded'] as const

export const standingKinds = ['provider', 'service', 'service_type'] as const

export const documentKinds = ['feedback', 'evidence'] as const

/** `suspended`: the product was for sale when its provider was suspended. */
export const productStatuses = ['draft', 'active', 'inactive', 'suspended', 'deleted'] as const
/** Product states in the operator's list; a suspended product shows as `inactive`. */
export const shownProductStatuses = ['draft', 'active', 'inactive'] as const

/** States of requests and bids (decisions §9). */
export const postingStatuses = ['open', 'awarded', 'completed', 'cancelled', 'expired'] as const
export type PostingStatus = (typeof postingStatuses)[number]
export const bidStatuses = ['submitted', 'accepted', 'rejected', 'withdrawn'] as const
export type BidStatus = (typeof bidStatuses)[number]

export const participantTypes = ['agent', 'provider', 'both'] as const

/** Verification tiers (decisions §6). */
export const tiers = ['unverified', 'email_verified', 'identity_verified'] as const

/** Sides of a job or conversation. */
export const partyRoles = ['buyer', 'provider'] as const
export type PartyRole = (typeof partyRoles)[number]

export const authorRoles = [...partyRoles, 'system'] as const
export const messageTypes = ['message', 'proposal', 'status', 'file', 'delivery', 'system'] as const

export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]

/** Sources of earnings: an own sale, or the referral of the buyer (`agent`) or of the provider. */
export const earningRoles = ['sale', 'agent', 'provider'] as const
export type EarningRole = (typeof earningRoles)[number]

/** Attention kinds, gravest first. */
export const attentionKinds = [
  'platform',
  'escrow',
  'journal',
  'disk',
  'chain',
  'reversed',
  'hot_balance',
  'payout',
  'dispute',
  'overdue',
  'stuck',
  'unserved_period',
  'past_due',
  'inquiry',
  'delivery',
  'endpoint',
  'cron',
  'engine',
  'sanctions_list',
  'alarm',
  'certificate',
  'backup',
] as const
export type AttentionKind = (typeof attentionKinds)[number]

/** Attention kinds of a participant, most urgent first. */
export const ownAttentionKinds = ['dispute', 'work', 'verify', 'proposal', 'past_due', 'delivery', 'endpoint'] as const
export type OwnAttentionKind = (typeof ownAttentionKinds)[number]

export const threadStatuses = [
  'inquiry',
  'negotiating',
  'accepted',
  'in_progress',
  'completed',
  'verified',
  'disputed',
  'cancelled',
] as const

/** Proposal states. `expired` is computed from the time; `superseded` means replaced. */
export const proposalStatuses = ['open', 'accepted', 'declined', 'expired', 'superseded'] as const
export type ProposalStatus = (typeof proposalStatuses)[number]

/** How far back the figures of a series go. */
export const seriesSpans = ['hour', 'day', 'week'] as const
export type SeriesSpan = (typeof seriesSpans)[number]
