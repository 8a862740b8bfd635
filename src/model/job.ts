import { z } from 'zod'
import type { Wallet } from '../core/hex.ts'
import { Micro } from '../core/money.ts'
import { JsonObject } from './service.ts'

/** Job status (decisions §8). */
export const jobStatuses = [
  'created',
  'dispatched',
  'in_progress',
  'completed',
  'verified',
  'released',
  'failed',
  'cancelled',
  'expired',
  'disputed',
  'refunded',
] as const

export const paymentMethods = ['x402', 'balance', 'subscription'] as const

/** Stored form of a job: money in micro-USDC, times in epoch milliseconds of the business clock. */
export const JobRow = z.strictObject({
  id: z.string(),
  version: z.int(),
  service_id: z.string(),
  service_name: z.string(),
  buyer_wallet: z.string() as unknown as z.ZodType<Wallet>, // lower-case by construction
  buyer_id: z.string().nullable(),
  provider_id: z.string(),
  thread_id: z.string(),
  posting_id: z.string().nullable(),
  receipt_id: z.string(),
  payment_id: z.string(),
  payment_method: z.enum(paymentMethods),
  transaction: z.string().nullable(),
  status: z.enum(jobStatuses),
  input: JsonObject,
  deliverables: z.array(z.json()),
  notes: z.string(),
  amount: Micro,
  fee: Micro,
  provider_amount: Micro,
  escrow_status: z.enum(['none', 'held', 'released', 'refunded', 'split']),
  held_at: z.int().nullable(),
  next_event: z.string().nullable(),
  next_event_at: z.int().nullable(),
  /** SHA-256 of an anonymous buyer's access token, hex. */
  access_token_hash: z.string().nullable(),
  timeline: z.array(z.strictObject({ at: z.int(), event: z.string(), detail: z.string() })),
  created_at: z.int(),
  dispatched_at: z.int().nullable(),
  completed_at: z.int().nullable(),
  deadline_at: z.int().nullable(),
})
export type JobRow = z.infer<typeof JobRow>
