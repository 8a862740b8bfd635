import type { Context } from '../kernel/context.ts'
import type { Schedule } from './schedule.ts'

/** Nothing: success. Skipped: it did not do its work, and says why. A throw is a failure. */
export type CronResult = { readonly skip: string } | undefined

export type CronRound = {
  readonly ctx: Context
  /** Business time of the run, epoch milliseconds. */
  readonly now: number
  /**
   * Business time of the run before this one, or since when there is this cron. A long gap means that
   * the daemon was down.
   */
  readonly previousRun: number
  /** Aborted at the deadline and when the daemon stops: work ends between two items. */
  readonly signal: AbortSignal
}

/**
 * A job of the marketplace that runs by the clock, one file each (decisions §12). It works item by
 * item in a transaction each, so that a crash leaves every item done or untouched.
 */
export type Cron = {
  readonly name: string
  readonly schedule: Schedule
  /** Real time after which a run has failed. */
  readonly deadlineMs: number
  /** Whether `/health.crons` has it: the nine of the specification. */
  readonly inHealth: boolean
  readonly run: (round: CronRound) => Promise<CronResult>
  /**
   * Business time of the earliest item that falls due at `from` or later, null when there is none: a moved
   * clock stops there. Without it, all that fell due on the way is done in one run per jump.
   */
  readonly nextDue?: (ctx: Context, from: number) => Promise<number | null>
}

export function defineCron(cron: Cron): Cron {
  return cron
}

/** Under the cutover a run that had nothing to do counts as skipped; one that had never does (decisions §12). */
export function idleUnderCutover(ctx: Context): CronResult {
  return ctx.switches.now().checkoutV2 ? { skip: 'checkout_v2' } : undefined
}
