import { z } from 'zod'

/** The two sides of a job or conversation. */
export const partyRoles = ['buyer', 'provider'] as const
export type PartyRole = (typeof partyRoles)[number]

/**
 * One side of a job or thread: what "mine" is read from. Held by wallet, so that a buyer who
 * registers later has its earlier records (decisions §3).
 */
export const PartyRow = z.strictObject({
  /** `<subject id>:<role>`. */
  id: z.string(),
  version: z.int(),
  wallet: z.string(),
  role: z.enum(partyRoles),
  /** Id of the job or thread. */
  subject_id: z.string(),
  /** Copy of the subject's status, for filters. */
  status: z.string(),
  /** The subject's place in its list, epoch milliseconds. */
  at: z.int(),
})
export type PartyRow = z.infer<typeof PartyRow>
