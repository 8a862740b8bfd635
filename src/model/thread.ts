import { z } from 'zod'
import { Micro } from '../core/codecs.ts'
import { SaleTerms } from './service.ts'
import { proposalStatuses } from './words.ts'

/** An offered price with its shares. */
export const Proposal = z.strictObject({
  status: z.enum(proposalStatuses),
  price: Micro,
  agent_price: Micro,
  provider_net_price: Micro,
  message: z.string(),
  /** null: as in the listing. */
  estimated_delivery: z.string().nullable(),
  /** Listing terms when the price was offered; absent in old rows. */
  terms: SaleTerms.exactOptional(),
  /** Time of the proposal. It increases within a conversation, so it identifies the proposal. */
  proposed_at: z.int(),
  expires_at: z.int(),
})
export type Proposal = z.infer<typeof Proposal>
