import { z } from 'zod'
import { Micro } from '../core/codecs.ts'
import { SaleTerms } from './service.ts'

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

/** Life of a proposal; `expired` follows from its time, `superseded` is one whose place another took. */
export const proposalStatuses = ['open', 'accepted', 'declined', 'expired', 'superseded'] as const
export type ProposalStatus = (typeof proposalStatuses)[number]

/** A price that the provider offers in a conversation, with its shares as they were split then. */
export const Proposal = z.strictObject({
  status: z.enum(proposalStatuses),
  price: Micro,
  agent_price: Micro,
  provider_net_price: Micro,
  message: z.string(),
  /** null: as the listing says. */
  estimated_delivery: z.string().nullable(),
  /** Of the listing when it was made, with its own time of delivery; absent in those of before it was kept. */
  terms: SaleTerms.exactOptional(),
  /** Grows with each proposal of a conversation, so that it names one of them. */
  proposed_at: z.int(),
  expires_at: z.int(),
})
export type Proposal = z.infer<typeof Proposal>
