import { z } from 'zod'

/** Counts of one hour of business time: group → name → count. The key is the hour since the epoch, as text. */
export const TallyRow = z.strictObject({
  id: z.string(),
  version: z.int(),
  counts: z.record(z.string(), z.record(z.string(), z.int().positive())),
})
export type TallyRow = z.infer<typeof TallyRow>
