import { z } from 'zod'
import type { Wallet } from '../core/hex.ts'

/** The ERC-8004 identity that a participant showed to be its own (decisions §6). */
export const IdentityLinkRow = z.strictObject({
  /** Id of the participant. */
  id: z.string(),
  version: z.int(),
  /** Owner of the identity when it was linked. */
  wallet: z.string() as unknown as z.ZodType<Wallet>, // lower-case by construction
  /** Decimal; the first one is 0. */
  agent_id: z.string(),
  /** `eip155:<chain id>:<registry>`, lower case. */
  agent_registry: z.string(),
  /** Wall time. */
  linked_at: z.int(),
})
export type IdentityLinkRow = z.infer<typeof IdentityLinkRow>
