import type { Context } from '../kernel/context.ts'
import type { Schedule } from './schedule.ts'

/** Undefined means success, `skip` gives the reason why no work was done, and a throw is a failure. */
export type CronResult = { readonly skip: string } | undefined

export type CronRound = {
  readonly ctx: Context
  /** Business time of the run, epoch milliseconds. */
  readonly now: number
  /** Business time of the previous run, or of the cron's creation. A long gap means that the daemon was down. */
  readonly previousRun: number
  /** Aborted at the deadline and when the daemon stops; check it between two items. */
  readonly signal: AbortSignal
}

/**
 * A scheduled task (decisions §12). It processes each item in its own transaction, so a crash leaves no item half done.
 */
export type Cron = {
  readonly name: string
  readonly schedule: Schedule
  /** Time limit of a run, in machine time. */
  readonly deadlineMs: number
  /** Whether `/health.crons` lists the cron. The specification fixes nine of them. */
  readonly inHealth: boolean
  readonly run: (round: CronRound) => Promise<CronResult>
  /**
   * Business time of the earliest item due at or after `from`; null if none. A clock that is moved forward stops there,
   * so that the cron runs. Without this function, the clock does not stop for this cron.
   */
  readonly nextDue?: (ctx: Context, from: number) => Promise<number | null>
}

export function defineCron(cron: Cron): Cron {
  return cron
}

/** Result of a run without work: skipped while the cutover is on, otherwise a success (decisions §12). */
export function idleUnderCutover(ctx: Context): CronResult {
  return ctx.switches.now().checkoutV2 ? { skip: 'checkout_v2' } : undefined
}
