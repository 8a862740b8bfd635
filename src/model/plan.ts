import { z } from 'zod'
import { Micro } from '../core/money.ts'

export const billingPeriods = ['monthly', 'annual'] as const
export type BillingPeriod = (typeof billingPeriods)[number]

/** `suspended`: with its provider. */
export const planStatuses = ['active', 'suspended', 'deleted'] as const

/** All of a plan that an edit keeps good for those who were quoted it. */
export const PlanVersion = z.strictObject({
  /** What the provider nets, or, of the marketplace's own, what is paid; see `rules/pricing.ts`. */
  price: Micro,
  billing_period: z.enum(billingPeriods),
  service_ids: z.array(z.string()),
})
export type PlanVersion = z.infer<typeof PlanVersion>

/** Stored form of a plan (decisions §9): services of one provider for a price a period. */
export const PlanRow = z.strictObject({
  id: z.string(),
  version: z.int(),
  provider_id: z.string(),
  name: z.string(),
  description: z.string(),
  ...PlanVersion.shape,
  /** The one before, and until when (wall time) it can still be subscribed to; absent where nothing was edited. */
  previous: z.strictObject({ version: PlanVersion, until: z.int() }).exactOptional(),
  status: z.enum(planStatuses),
  created_at: z.int(),
  updated_at: z.int(),
})
export type PlanRow = z.infer<typeof PlanRow>
