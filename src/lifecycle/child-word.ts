import { z } from 'zod'
import { exits } from '../cli/exit.ts'
import { errnoOf } from '../core/error.ts'
import { keysOf } from '../core/record.ts'
import { startSteps } from '../model/start.ts'

/** Messages that the starting daemon, a child process, sends to the waiting `up`. */
export const ChildWord = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('step'), step: z.enum(keysOf(startSteps)), detail: z.string().optional() }),
  z.object({ kind: z.literal('ready'), notes: z.array(z.string()).default([]) }),
  z.object({
    kind: z.literal('failed'),
    /** Code of the system error that caused the failure, such as `EADDRINUSE`; null if none did. */
    cause: z.string().nullable(),
    exit: z.enum(keysOf(exits)),
    sentence: z.string(),
    facts: z.array(z.string()),
    next: z.array(z.string()),
  }),
])
export type ChildWord = z.output<typeof ChildWord>

/** The system error code of an error or, if it has none, of its nearest cause with a code; null without one. */
export function systemCode(error: unknown): string | null {
  for (let at = error; at instanceof Error; at = at.cause) {
    const code = errnoOf(at)
    if (code !== undefined && /^E[A-Z]+$/.test(code)) return code
  }
  return null
}
