import { z } from 'zod'
import type { Hex, Wallet } from '../core/hex.ts'

const bytes32 = z.string() as unknown as z.ZodType<Hex> // lower-case by construction

/** Life of something that is written to the chain: made, about to be sent, there. */
export const publicationStates = ['created', 'sent', 'confirmed', 'failed'] as const

/** The calls as they were fixed before they were first sent: every later attempt makes them again. */
export const Publishing = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('feedback'),
    agent_id: z.string(),
    client: z.string() as unknown as z.ZodType<Wallet>, // lower-case by construction
    value: z.int(),
    value_decimals: z.int(),
    tag1: z.string(),
    tag2: z.string(),
    endpoint: z.string(),
    uri: z.string(),
    hash: bytes32,
  }),
  z.strictObject({ kind: z.literal('anchor'), subject: bytes32, root: bytes32, uri: z.string() }),
])
export type Publishing = z.infer<typeof Publishing>

export const PublicationRow = z.strictObject({
  /** `feedback:<job id>:<tag>` or `anchor:<root>`: the idempotency key on the chain, too. */
  id: z.string(),
  version: z.int(),
  /** Provider whom it is about. */
  subject_id: z.string(),
  call: Publishing,
  status: z.enum(publicationStates),
  /** Until confirmed or failed. */
  open: z.boolean(),
  attempts: z.int(),
  last_error: z.string().nullable(),
  /** Business time of the next attempt. */
  next_attempt_at: z.int(),
  transaction: bytes32.nullable(),
  created_at: z.int(),
  updated_at: z.int(),
})
export type PublicationRow = z.infer<typeof PublicationRow>
