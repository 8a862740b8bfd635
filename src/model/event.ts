import { z } from 'zod'

/** One entry of the durable event log; `seq` is the cursor, gapless in commit order. */
export const EventRow = z.strictObject({
  /** `seq` as text: the log is read by number, so a cursor needs no other form. */
  key: z.string(),
  id: z.string(),
  version: z.int(),
  seq: z.int(),
  at: z.int(),
  type: z.string(),
  /** Whose event it is; null: the platform's own. */
  participant_id: z.string().nullable(),
  subject_kind: z.string(),
  subject_id: z.string(),
  data: z.record(z.string(), z.json()),
})
export type EventRow = z.infer<typeof EventRow>

/** A named counter or setting of the installation. */
export const CounterRow = z.strictObject({ id: z.string(), version: z.int(), value: z.int() })
export const SettingRow = z.strictObject({ id: z.string(), version: z.int(), value: z.json() })
