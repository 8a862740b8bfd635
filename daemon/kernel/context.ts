import type { Switches } from '../../src/api/status.ts'
import type { Entropy } from '../../src/core/entropy.ts'
import type { ChainPort } from '../ports/chain/chain.ts'
import type { Recover } from '../ports/chain/signature.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { BlobStore } from '../store/blobs.ts'
import type { Store } from '../store/port.ts'
import type { Config } from './config.ts'
import type { KeyedMutex } from './keyed-mutex.ts'
import type { Resources } from './resource.ts'

/** What the operator switched, as last committed. */
export type Switched = Switches & {
  readonly pausedAt: number | null
  /** As whoever paused it said. */
  readonly pausedReason: string | null
  /** Whether writes of listings ask for terms accepted by name. */
  readonly termsRequired: boolean
  /** Whether nothing enters or leaves escrow but refunds (decisions §8). */
  readonly escrowPaused: boolean
  /** Listings behind the advertised paths, by slug. */
  readonly namedServices: Readonly<Record<string, string>>
  readonly escrowPausedAt: number | null
}

/**
 * What everything in the daemon stands on; built once in `daemon/index.ts`. What one feature keeps open is no member
 * but a resource of that feature: `catalog.of(ctx)`.
 */
export type Context = {
  readonly config: Config
  readonly store: Store
  /** Files that somebody uploaded, by their content. */
  readonly blobs: BlobStore
  readonly chain: ChainPort
  readonly recover: Recover
  readonly clock: Clock
  readonly entropy: Entropy
  readonly log: Log
  /** Absolute base of every URL in an answer, without a trailing slash; known once bound. */
  readonly baseUrl: () => string
  /** Aborted when a stop begins: streams end, so that nothing waits for their readers. */
  readonly stopping: AbortSignal
  /** What moves money for a thing, and what ends the thing, one after the other. */
  readonly mutex: KeyedMutex
  readonly switches: {
    readonly now: () => Switched
    /** Resolves when `now()` shows everything that was durable at the call. */
    readonly follow: () => Promise<void>
  }
  readonly resources: Resources
}
