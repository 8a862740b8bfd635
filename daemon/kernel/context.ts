import type { LocalToken } from '../../src/api/endpoint/x402.ts'
import type { Switches } from '../../src/api/status.ts'
import { AppError } from '../../src/core/error.ts'
import { checksumAddress, type Entropy } from '../../src/core/hex.ts'
import type { Config } from '../../src/model/start.ts'
import { type ChainPort, isTestMoney } from '../ports/chain/chain.ts'
import type { Recover } from '../ports/chain/signature.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { BlobStore } from '../store/blobs.ts'
import { StoreMisuse } from '../store/errors.ts'
import type { Store } from '../store/port.ts'
import type { KeyedMutex } from './keyed-mutex.ts'

/** State of the switches after the last commit. */
export type Switched = Switches & {
  readonly pausedAt: number | null
  readonly pausedReason: string | null
  /** Whether creating or editing a listing requires accepted terms. */
  readonly termsRequired: boolean
  /** Whether escrow allows refunds only (decisions §8). */
  readonly escrowPaused: boolean
  /** Listings of named services, by slug. */
  readonly namedServices: Readonly<Record<string, string>>
  readonly escrowPausedAt: number | null
}

/**
 * Shared services of the daemon, built once in `daemon/index.ts`. State of one feature is a resource of that feature,
 * such as `catalog.of(ctx)`.
 */
export type Context = {
  readonly config: Config
  readonly store: Store
  /** Uploaded files, by content hash. */
  readonly blobs: BlobStore
  readonly chain: ChainPort
  readonly recover: Recover
  readonly clock: Clock
  readonly entropy: Entropy
  readonly log: Log
  /** Absolute base of every URL in a response, without a trailing slash. Known once the port is bound. */
  readonly baseUrl: () => string
  /** Aborted when a stop begins, so that streams end. */
  readonly stopping: AbortSignal
  /** Serialises the actions that move an object's money or end the object. */
  readonly mutex: KeyedMutex
  readonly switches: {
    readonly now: () => Switched
    /** Resolves when `now()` reflects every change that was durable at the call. */
    readonly follow: () => Promise<void>
  }
  readonly resources: Resources
}

/** Work that no response waits for, such as sending payouts. Before the daemon stops, it waits for this work. */
export const background = defineResource<Set<Promise<void>>>('background')

/** Starts work that no response waits for. A failure is logged; the next run of the same work does the rest. */
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

/** The token that x402 client packages must be configured for; undefined for real USDC. */
export function localToken({ chain, baseUrl }: Pick<Context, 'chain' | 'baseUrl'>): LocalToken | undefined {
  if (!isTestMoney(chain)) return undefined
  return { asset: checksumAddress(chain.asset.address), network: chain.network, url: baseUrl() }
}

/** Retry-After of a paused endpoint, in seconds. */
const PAUSED_RETRY_SECONDS = 60

type Paused = Pick<Switched, 'pausedAt' | 'pausedReason'>

/** The 503 of endpoints that stop while paid activity is paused (decisions §12). */
export function paused({ pausedAt: since, pausedReason: reason }: Paused): AppError {
  const when = since === null ? '' : ` since ${new Date(since).toISOString()}`
  return new AppError('paused', `Paid activity is paused${when}; nothing was charged. Reads still work.`, {
    retryAfter: PAUSED_RETRY_SECONDS,
    extra: { paused_at: since === null ? null : new Date(since).toISOString(), reason },
  })
}

type Close = () => Promise<void> | void

/** Resources of one context, in opening order. */
export type Resources = { readonly closing: { readonly name: string; readonly close: Close }[] }

type Held = { readonly resources: Resources }

/**
 * State of a feature that lives as long as the daemon, such as a search, a queue or counters. Code imports it instead
 * of passing it around.
 */
type Resource<T> = {
  readonly name: string
  /** @throws StoreMisuse if not opened. `daemon/app.ts` opens all resources, in order. */
  readonly of: (ctx: Held) => T
  /** Opens the resource for a context. When the daemon stops, resources close in reverse order of opening. */
  readonly open: (ctx: Held, value: T, close?: Close) => T
}

export function defineResource<T>(name: string): Resource<T> {
  const opened = new WeakMap<Resources, { readonly value: T }>()
  return {
    name,
    of({ resources }) {
      const found = opened.get(resources)
      if (!found) throw new StoreMisuse(`${name} is not open here: open it in daemon/app.ts`)
      return found.value
    },
    open({ resources }, value, close) {
      if (opened.has(resources)) throw new StoreMisuse(`${name} is open already`)
      opened.set(resources, { value })
      if (close) resources.closing.push({ name, close })
      return value
    },
  }
}

/** Closes all resources, last first. If one fails, this is logged and the others still close. */
export async function closeResources({ resources, log }: Held & { readonly log: Log }): Promise<void> {
  for (let last = resources.closing.pop(); last; last = resources.closing.pop()) {
    try {
      await last.close()
    } catch (error) {
      log.error({ source: last.name, err: String(error) }, 'closing failed')
    }
  }
}
