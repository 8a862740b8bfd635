import type { WireAnswer } from '../api/index.ts'
import type { Asked, Callable, SentBody } from './asked.ts'

/** A failure, with facts and with commands that help. */
export type Problem = {
  /**
   * `gone`: the instance is unreachable; `starting`: it does not serve yet; `denied`: a credential is missing or was
   * refused; `absent`: there is no such endpoint; `failed`: anything else.
   */
  readonly kind: 'gone' | 'starting' | 'denied' | 'absent' | 'failed'
  readonly sentence: string
  readonly facts: readonly string[]
  /** Commands as typed. */
  readonly next: readonly string[]
}

export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: Problem }

export type ListingChanges = {
  readonly body: SentBody<'updateService'>
  /** Arguments of the command that makes the same change, such as `price=0.75`. */
  readonly settings: readonly string[]
  readonly differences: readonly (readonly [field: string, words: string])[]
}

/** The displayed instance. */
export type Place = {
  /** `local`, a remote's name, or an address. */
  readonly name: string
  /** The instance's name must be typed to confirm a change; true for remotes. */
  readonly guarded: boolean
  /** Option that selects the instance: `-r prod-eu`; empty for the local one. */
  readonly option: string
}

export type Whereabouts = {
  readonly url: string
  readonly admin: boolean
  /** Time at which the local daemon started, in epoch milliseconds; undefined for a remote. */
  readonly startedAt: number | undefined
}

/** A local wallet and the id of its participant. */
export type Held = { readonly wallet: string; readonly id: string }

/** The cockpit's connection; uses HTTP endpoints only. Its promises never reject. */
export type Link = {
  readonly place: Place
  readonly whereabouts: (signal?: AbortSignal) => Promise<Outcome<Whereabouts>>
  /** The caller's participant id; `denied` without an API key. */
  readonly self: () => Promise<Outcome<string>>
  /** The participant that a local wallet belongs to. Never creates a participant. */
  readonly heldBy: (wallet: string) => Promise<Outcome<Held>>
  /** Calls an endpoint with the caller's key. Never pays. */
  readonly call: <K extends string>(name: K & Callable, asked: Asked<K>) => Promise<Outcome<WireAnswer<K>>>
  /** Text of the event stream after a cursor. It ends when the connection ends. */
  readonly events: (cursor: number | undefined, signal: AbortSignal) => Promise<Outcome<AsyncIterable<string>>>
}

export type LinkClock = {
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Schedules a call. @returns a function that cancels it */
  readonly later: (ms: number, run: () => void) => () => void
}
