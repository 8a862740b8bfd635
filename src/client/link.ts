import type { WireAnswer } from '../api/endpoint/define.ts'
import type { Api } from '../api/index.ts'
import type { Asked, Callable } from './call.ts'

/** Why nothing, or nothing useful, was answered: told with what is known and the ways out. */
export type Problem = {
  /**
   * `gone`: the instance cannot be reached; `starting`: it does not serve yet; `denied`: a credential is missing or refused;
   * `absent`: the instance has no such endpoint; `failed`: anything else.
   */
  readonly kind: 'gone' | 'starting' | 'denied' | 'absent' | 'failed'
  readonly sentence: string
  readonly facts: readonly string[]
  /** Commands, as typed. */
  readonly next: readonly string[]
}

export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: Problem }

/** The instance that is looked at. */
export type Place = {
  /** `local`, the name of a remote, or an address. */
  readonly name: string
  /** Changes ask for the name to be typed: anything but the daemon of this machine. */
  readonly guarded: boolean
  /** The option that names it on a command line: `-r prod-eu`; empty for the local daemon. */
  readonly option: string
}

/** What is known about it at the moment. */
export type Whereabouts = {
  readonly url: string
  /** Whether an admin credential is at hand. */
  readonly admin: boolean
  /** Start of the daemon, epoch milliseconds, where it runs on this machine. */
  readonly startedAt: number | undefined
}

/** A wallet of this machine, and the participant that it is. */
export type Held = { readonly wallet: string; readonly id: string }

/** The way to the instance: the endpoints of its HTTP interface, and nothing beside them. Never rejects. */
export type Link = {
  readonly place: Place
  readonly whereabouts: () => Promise<Outcome<Whereabouts>>
  /** Id of the participant whose API key is in use; `denied` where there is none. */
  readonly self: () => Promise<Outcome<string>>
  /** Somebody whose wallet this machine holds, by the wallet's name; nobody is made. */
  readonly heldBy: (wallet: string) => Promise<Outcome<Held>>
  /** Calls an endpoint; what may be paid for is asked for by key, and nothing is paid. */
  readonly call: <K extends Callable>(name: K, asked: Asked<K>) => Promise<Outcome<WireAnswer<Api[K]>>>
  /** Text of the event stream behind a cursor, as it comes; ends with the connection. */
  readonly events: (cursor: number | undefined, signal: AbortSignal) => Promise<Outcome<AsyncIterable<string>>>
}

/** Time, as the cockpit needs it. */
export type LinkClock = {
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Runs something later, once. @returns the function that takes it back. */
  readonly later: (ms: number, run: () => void) => () => void
}
