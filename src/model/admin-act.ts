import { z } from 'zod'
import { JsonObject } from './service.ts'

/** What an administrator did: one entry of the audit log, written in the transaction of the act itself. */
export const AdminActRow = z.strictObject({
  /** `seq` as text. */
  id: z.string(),
  version: z.int(),
  /** Number of the act, without gaps, in commit order. */
  seq: z.int(),
  /** Business time. */
  at: z.int(),
  /** Wall time: acts can move the other one. */
  wall_at: z.int(),
  /** Who; there is one administrator so far. */
  actor: z.string(),
  request_id: z.string(),
  /** `platform.pause`, `cron.run`, … */
  act: z.string(),
  subject_kind: z.string(),
  subject_id: z.string(),
  reason: z.string().nullable(),
  /** Whether anything is different after it: an act that was done before is logged, too. */
  changed: z.boolean(),
  detail: JsonObject,
})
export type AdminActRow = z.infer<typeof AdminActRow>
