import { z } from 'zod'
import type { Wallet } from '../core/hex.ts'

export const participantTypes = ['agent', 'provider', 'both'] as const

/** Verification tiers (decisions §6). */
export const tiers = ['unverified', 'email_verified', 'identity_verified'] as const

/** Stored form of an agent or provider. Times are epoch milliseconds of the business clock. */
export const ParticipantRow = z.strictObject({
  id: z.string(),
  version: z.int(),
  wallet: z.string() as unknown as z.ZodType<Wallet>, // lower-case by construction: written from a decoded Address
  name: z.string(),
  description: z.string(),
  type: z.enum(participantTypes),
  webhook_url: z.string().nullable(),
  capabilities: z.array(z.string()),
  links: z.record(z.string(), z.string()),
  /** null: not set, derived from having an active listing. */
  listable: z.boolean().nullable(),
  /** What `listable` comes to: kept with every change of it and of the listings, for the directory's index. */
  in_directory: z.boolean(),
  verification_tier: z.enum(tiers),
  referred_by: z.string().nullable(),
  /** Since when its key reads only and its wallet pays for nothing; null: in good standing. */
  suspended_at: z.int().nullable(),
  /** Last version of the terms that was accepted by name. */
  terms_version: z.string().nullable(),
  terms_accepted_at: z.int().nullable(),
  first_party: z.boolean(),
  /** SHA-256 of the API key, hex. */
  key_hash: z.string(),
  webhook_secret: z.string(),
  /** The secret before the last rotation; deliveries are signed with it too until this wall time. */
  previous_webhook_secret: z.strictObject({ secret: z.string(), until: z.int() }).nullable(),
  created_at: z.int(),
  updated_at: z.int(),
})
export type ParticipantRow = z.infer<typeof ParticipantRow>
