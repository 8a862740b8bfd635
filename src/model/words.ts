import type { Wallet } from '../core/hex.ts'

/**
 * How an engine stands. `missing`: install something; `unconfigured`: give it a key or an address; `failing`: it is there
 * and does not work.
 */
export const engineStatuses = ['ok', 'missing', 'unconfigured', 'failing'] as const
export type EngineStatus = (typeof engineStatuses)[number]

/** Life of a payout (decisions §4): money that leaves through the chain; `needs_operator`: nothing here can sign it. */
export const payoutStates = ['created', 'needs_operator', 'signed', 'sent', 'confirmed', 'failed'] as const

/**
 * Why it is paid: a refund goes on while paid activity is paused, all others wait. A `withdrawal` takes from the
 * payee's own balance; `referral` money is paid out where its owner asked for that, else such a row only says that it
 * is kept from a sanctioned wallet.
 */
export const payoutKinds = ['refund', 'settlement', 'splitter', 'referral', 'withdrawal'] as const
export type PayoutKind = (typeof payoutKinds)[number]

/** Who gets a part of what the marketplace earned, in basis points: a wallet, or the operator in the books. */
export type Payee = { readonly to: Wallet | 'operator'; readonly bps: bigint }

export const attemptStatuses = ['pending_consent', 'vendor_pending', 'approved', 'rejected', 'expired'] as const
export type AttemptStatus = (typeof attemptStatuses)[number]
/** What the vendor may say of who stands behind a participant. */
export const vendorDecisions = ['approved', 'rejected'] as const

/** Subscription status (decisions §9). */
export const subscriptionStatuses = ['active', 'paused', 'past_due', 'canceled', 'expired'] as const
export type SubscriptionStatus = (typeof subscriptionStatuses)[number]

/** What happens to a subscription by itself: it is charged for its next period, or its paid period runs out. */
export const subscriptionDueEvents = ['renew', 'lapse'] as const
export type SubscriptionDueEvent = (typeof subscriptionDueEvents)[number]

/** Screens of the cockpit, in the order of their tabs; those at the end have none, and are gone to by name. */
export const screenIds = [
  'overview',
  'services',
  'jobs',
  'threads',
  'crons',
  'endpoints',
  'money',
  'compliance',
  'logs',
  'requests',
  'people',
  'clock',
] as const
export type ScreenId = (typeof screenIds)[number]

export const dimensions = ['quality', 'reliability', 'speed', 'communication'] as const
export type Dimension = (typeof dimensions)[number]

/** How a dispute ended: `recorded` came after the money had gone, the others were decided. */
export const disputeEnds = ['none', 'recorded', 'released', 'split', 'refunded'] as const

export const standingKinds = ['provider', 'service', 'service_type'] as const

export const documentKinds = ['feedback', 'evidence'] as const

/** `suspended`: was for sale when its provider was suspended. */
export const productStatuses = ['draft', 'active', 'inactive', 'suspended', 'deleted'] as const
/** What the operator sees of those that are kept: a suspension shows as withdrawn. */
export const shownProductStatuses = ['draft', 'active', 'inactive'] as const

/** States of a request for work, and of the bids on it (decisions §9). */
export const postingStatuses = ['open', 'awarded', 'completed', 'cancelled', 'expired'] as const
export type PostingStatus = (typeof postingStatuses)[number]
export const bidStatuses = ['submitted', 'accepted', 'rejected', 'withdrawn'] as const
export type BidStatus = (typeof bidStatuses)[number]

export const participantTypes = ['agent', 'provider', 'both'] as const

/** Verification tiers (decisions §6). */
export const tiers = ['unverified', 'email_verified', 'identity_verified'] as const

/** The two sides of a job or conversation. */
export const partyRoles = ['buyer', 'provider'] as const
export type PartyRole = (typeof partyRoles)[number]

export const authorRoles = [...partyRoles, 'system'] as const
export const messageTypes = ['message', 'proposal', 'status', 'file', 'delivery', 'system'] as const

export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]

/** What somebody earned by: an own sale, or the fee of one whose buyer (agent) or provider it referred. */
export const earningRoles = ['sale', 'agent', 'provider'] as const
export type EarningRole = (typeof earningRoles)[number]

/** What may need a hand, the gravest first. */
export const attentionKinds = [
  'journal',
  'disk',
  'chain',
  'reversed',
  'payout',
  'dispute',
  'overdue',
  'unserved_period',
  'delivery',
  'endpoint',
  'cron',
  'engine',
  'sanctions_list',
  'platform',
  'escrow',
] as const
export type AttentionKind = (typeof attentionKinds)[number]

/** What may wait for a participant, the most urgent first. */
export const ownAttentionKinds = ['dispute', 'work', 'verify', 'proposal', 'past_due', 'delivery', 'endpoint'] as const
export type OwnAttentionKind = (typeof ownAttentionKinds)[number]
