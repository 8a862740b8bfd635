import { z } from 'zod'
import { Micro } from '../core/money.ts'

export const billingPeriods = ['monthly', 'annual'] as const
export type BillingPeriod = (typeof billingPeriods)[number]

/** `suspended`: with its provider. */
export const planStatuses = ['active', 'suspended', 'deleted'] as const

/** Stored form of a plan (decisions §9): services of one provider for a price a period. */
export const PlanRow = z.strictObject({
  id: z.string(),
  version: z.int(),
  provider_id: z.string(),
  name: z.string(),
  description: z.string(),
  /** What the provider nets, or, of the marketplace's own, what is paid; see `rules/pricing.ts`. */
  price: Micro,
  billing_period: z.enum(billingPeriods),
  service_ids: z.array(z.string()),
  status: z.enum(planStatuses),
  created_at: z.int(),
  updated_at: z.int(),
})
export type PlanRow = z.infer<typeof PlanRow>
