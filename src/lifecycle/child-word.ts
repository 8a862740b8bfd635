import { z } from 'zod'
import { errnoOf } from '../core/error.ts'

/** What the child tells the `up` that waits for it. */
export const ChildWord = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready'), url: z.string(), notes: z.array(z.string()).default([]) }),
  z.object({
    kind: z.literal('failed'),
    /** `EADDRINUSE` and the like; null where the system did not say no. */
    cause: z.string().nullable(),
    sentence: z.string(),
    facts: z.array(z.string()),
    next: z.array(z.string()),
  }),
])
export type ChildWord = z.output<typeof ChildWord>

/** Stands for a data folder that another daemon has. */
export const LOCKED = 'ELOCKED'

/** The system's own error code, however deep it lies. */
export function systemCode(error: unknown): string | null {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at.name === 'StoreLocked') return LOCKED
    const code = errnoOf(at)
    if (code !== undefined && /^E[A-Z]+$/.test(code)) return code
  }
  return null
}
