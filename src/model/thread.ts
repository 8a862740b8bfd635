import { z } from 'zod'
import type { Wallet } from '../core/hex.ts'

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

/** Stored form of a conversation; every job has one (decisions §9). */
export const ThreadRow = z.strictObject({
  id: z.string(),
  version: z.int(),
  service_id: z.string(),
  buyer_wallet: z.string() as unknown as z.ZodType<Wallet>, // lower-case by construction
  agent_id: z.string().nullable(),
  provider_id: z.string(),
  job_id: z.string().nullable(),
  status: z.enum(threadStatuses),
  created_at: z.int(),
  updated_at: z.int(),
})
export type ThreadRow = z.infer<typeof ThreadRow>
