import type { LocalToken } from '../../src/api/endpoint/published-clients.ts'
import type { Switches } from '../../src/api/status.ts'
import { AppError } from '../../src/core/error.ts'
import { checksumAddress, type Entropy } from '../../src/core/hex.ts'
import { type ChainPort, isTestMoney } from '../ports/chain/chain.ts'
import type { Recover } from '../ports/chain/signature.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { BlobStore } from '../store/blobs.ts'
import type { Store } from '../store/port.ts'
import type { Config } from './config.ts'
import type { KeyedMutex } from './keyed-mutex.ts'
import { defineResource, type Resources } from './resource.ts'

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

/** Work that answers do not wait for, such as sending payouts; a stop does. */
export const background = defineResource<Set<Promise<void>>>('background')

/** Starts work that no answer waits for. Its failure is logged; what it left is taken up by the next run. */
export function inBackground(ctx: Context, name: string, work: () => Promise<unknown>): void {
  const running = work().then(
    () => undefined,
    (error: unknown) => {
      ctx.log.error({ source: name, err: String(error) }, 'background work failed')
    },
  )
  const under = background.of(ctx)
  under.add(running)
  void running.then(() => under.delete(running))
}

/** The token that published clients have to be told of; undefined where it is the USDC that they know. */
export function localToken({ chain, baseUrl }: Pick<Context, 'chain' | 'baseUrl'>): LocalToken | undefined {
  if (!isTestMoney(chain)) return undefined
  return { asset: checksumAddress(chain.asset.address), network: chain.network, url: baseUrl() }
}

/** Seconds after which a paused endpoint may be tried again. */
const PAUSED_RETRY_SECONDS = 60

type Paused = Pick<Switched, 'pausedAt' | 'pausedReason'>

/** The 503 of what stops while paid activity is paused (decisions §12). */
export function paused({ pausedAt: since, pausedReason: reason }: Paused): AppError {
  const when = since === null ? '' : ` since ${new Date(since).toISOString()}`
  return new AppError('paused', `Paid activity is paused${when}; nothing was charged. Reads go on.`, {
    retryAfter: PAUSED_RETRY_SECONDS,
    extra: { paused_at: since === null ? null : new Date(since).toISOString(), reason },
  })
}
