import { z } from 'zod'
import { Micro } from '../core/money.ts'

/**
 * Part of a paid period in which its provider was suspended: the subscriber had nothing for it. Offers the operator an
 * adjustment (`oper → bal`); open until it is decided.
 */
export const UnservedPeriodRow = z.strictObject({
  /** `<subscription id>:<start of the period>`. */
  id: z.string(),
  version: z.int(),
  subscription_id: z.string(),
  provider_id: z.string(),
  /** Whose balance the adjustment would go to. */
  participant_id: z.string(),
  /** What the whole period cost. */
  paid: Micro,
  period_start: z.int(),
  period_end: z.int(),
  /** Business time without service, up to the last reinstatement; and since when it goes on, null while it does not. */
  lost_ms: z.int(),
  since: z.int().nullable(),
  open: z.boolean(),
  opened_at: z.int(),
})
export type UnservedPeriodRow = z.infer<typeof UnservedPeriodRow>
