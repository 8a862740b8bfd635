import { keysOf } from '../core/record.ts'

/** Exit codes; API error codes map to them in `src/core/error.ts`. */
export const exits = {
  ok: 0,
  failure: 1,
  usage: 2,
  not_found: 3,
  auth: 4,
  payment: 5,
  conflict: 6,
  unavailable: 7,
  /** `--wait` or `--timeout` ended before the operation did. */
  pending: 8,
  deferred: 9,
  /** The local daemon does not run, or the remote does not answer. */
  no_daemon: 10,
  /** A failed check with `--exit-status`. */
  check_failed: 11,
  compliance: 12,
  /** The user declined. */
  cancelled: 13,
  interrupted: 130,
  terminated: 143,
} as const

export type ExitName = keyof typeof exits

export const exitMeanings: Readonly<Record<ExitName, string>> = {
  ok: 'done, or nothing to do',
  failure: 'unexpected failure',
  usage: 'bad flag, unknown command, invalid input, or confirmation needed without a terminal',
  not_found: 'the object does not exist',
  auth: 'credential missing, invalid or not allowed; terms not accepted',
  payment: 'nothing paid: not enough funds, price limit, or bad signature',
  conflict: 'wrong state, or idempotency key used for another request',
  unavailable: 'paused, not available yet, or rate limited; try again later',
  pending: '--wait or --timeout ended before the operation did',
  deferred: 'operation disabled on this instance',
  no_daemon: 'the local daemon is not running, or the remote does not answer',
  check_failed: 'check failed (--exit-status)',
  compliance: 'refused by the sanctions or identity check',
  cancelled: 'cancelled by you',
  interrupted: 'interrupted by ctrl-c',
  terminated: 'terminated by SIGTERM',
}

/** The name of an exit code; `failure` for an unknown code. */
export function exitNamed(code: number): ExitName {
  return keysOf(exits).find((name) => exits[name] === code) ?? 'failure'
}

export type CliFacts = {
  /** What is known about the failure, one fact per line. */
  readonly facts?: readonly string[]
  /** Commands that help. */
  readonly next?: readonly string[]
  readonly details?: unknown
  readonly requestId?: string
  readonly cause?: unknown
}

/** A failure of the command line; API failures are AppErrors. */
export class CliError extends Error {
  override readonly name = 'CliError'
  readonly exit: ExitName
  readonly facts: readonly string[]
  readonly next: readonly string[]
  readonly details: unknown
  readonly requestId: string | undefined
  constructor(exit: ExitName, message: string, more: CliFacts = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause })
    this.exit = exit
    this.facts = more.facts ?? []
    this.next = more.next ?? []
    this.details = more.details
    this.requestId = more.requestId
  }
}

export function usage(message: string, more: CliFacts = {}): CliError {
  return new CliError('usage', message, more)
}
