import { z } from 'zod'
import { Micro } from '../core/codecs.ts'

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
