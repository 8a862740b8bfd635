import type { WireAnswer } from '../api/endpoint/define.ts'
import type { Api } from '../api/index.ts'
import type { Asked, Callable } from './asked.ts'

/** A failure with facts and ways out. */
export type Problem = {
  /**
   * `gone`: unreachable; `starting`: not serving yet; `denied`: credential missing or refused; `absent`: no such
   * endpoint; `failed`: anything else.
   */
  readonly kind: 'gone' | 'starting' | 'denied' | 'absent' | 'failed'
  readonly sentence: string
  readonly facts: readonly string[]
  /** Commands as typed. */
  readonly next: readonly string[]
}

export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: Problem }

/** The displayed instance. */
export type Place = {
  /** `local`, a remote's name, or an address. */
  readonly name: string
  /** Changes must be confirmed by typing its name; true for remotes. */
  readonly guarded: boolean
  /** Option that selects it: `-r prod-eu`; empty for local. */
  readonly option: string
}

/** Current state of the instance. */
export type Whereabouts = {
  readonly url: string
  /** Whether an admin key is available. */
  readonly admin: boolean
  /** Start of a local daemon, epoch milliseconds. */
  readonly startedAt: number | undefined
}

/** A local wallet with its participant. */
export type Held = { readonly wallet: string; readonly id: string }

/** The cockpit's connection; uses HTTP endpoints only. Its promises never reject. */
export type Link = {
  readonly place: Place
  readonly whereabouts: () => Promise<Outcome<Whereabouts>>
  /** Own participant id; `denied` without a key. */
  readonly self: () => Promise<Outcome<string>>
  /** Participant of a local wallet; never creates one. */
  readonly heldBy: (wallet: string) => Promise<Outcome<Held>>
  /** Calls an endpoint with the key; never pays. */
  readonly call: <K extends Callable>(name: K, asked: Asked<K>) => Promise<Outcome<WireAnswer<Api[K]>>>
  /** Event stream text after a cursor; ends with the connection. */
  readonly events: (cursor: number | undefined, signal: AbortSignal) => Promise<Outcome<AsyncIterable<string>>>
}

/** Clock for the cockpit. */
export type LinkClock = {
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Schedules a call. @returns a function that cancels it */
  readonly later: (ms: number, run: () => void) => () => void
}
