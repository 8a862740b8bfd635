import type { z } from 'zod'
import type { Flags } from '../../src/api/status.ts'
import type { Entropy } from '../../src/core/entropy.ts'
import type { Wallet } from '../../src/core/hex.ts'
import type { JsonObject } from '../../src/model/service.ts'
import type { Scheduler } from '../crons/scheduler.ts'
import type { Timeline } from '../crons/timeline.ts'
import type { PageCache } from '../endpoint/page-cache.ts'
import type { EventBell } from '../events/signal.ts'
import type { Backups } from '../features/backup/archive.ts'
import type { Storage } from '../features/backup/storage.ts'
import type { Catalog } from '../features/catalog/search/catalog.ts'
import type { Compute } from '../features/compute/compute.ts'
import type { Schemas } from '../features/compute/schemas.ts'
import type { Metrics } from '../features/operator/metrics.ts'
import type { PostingSearch } from '../features/postings/search.ts'
import type { Sanctions } from '../features/sanctions/sanctions.ts'
import type { Watch } from '../features/stats/view-counts.ts'
import type { DeliveryWorker } from '../features/webhooks/worker.ts'
import type { ChainPort } from '../ports/chain/chain.ts'
import type { Recover } from '../ports/chain/signature.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { SdnSource } from '../ports/sdn/source.ts'
import type { VerificationVendor } from '../ports/vendor.ts'
import type { Web } from '../ports/web/web.ts'
import type { BlobStore } from '../store/blobs.ts'
import type { Store } from '../store/port.ts'
import type { Config } from './config.ts'
import type { Turns } from './keyed-mutex.ts'
import type { ShortLived } from './short-lived.ts'
import type { Tally } from './tally.ts'

/** A first-party service: bounded in time and size; the deliverable is JSON. */
export type FirstParty = {
  /** `who` it is for: everyone's work takes turns with everyone else's. */
  readonly run: (input: JsonObject, signal: AbortSignal, who?: string) => Promise<z.core.util.JSONType>
}

/** The full answer of a paid call: what its first caller gets, secrets included. */
export type PaidAnswer = { readonly status: number; readonly body: string; readonly transaction: string | null }
/** A payment that is being worked on. */
export type InFlight = {
  readonly fingerprint: string
  /** The first caller's; when it left, whoever waits starts over under its own. Absent in recovery. */
  readonly signal?: () => AbortSignal
  /** Undefined: it ended without a charge. */
  readonly answer: Promise<PaidAnswer | undefined>
}

/** What everything in the daemon stands on; built once in `daemon/index.ts`. */
export type Context = {
  readonly config: Config
  readonly version: string
  /** Public name of the installation, no credential. */
  readonly instanceId: string
  /** SHA-256 of the admin key, hex. */
  readonly adminKeyHash: string
  /** Absolute base of every URL in an answer, without a trailing slash; known once bound. */
  readonly baseUrl: () => string
  /** Port that the edge is bound to. */
  readonly port: () => number
  readonly store: Store
  /** What opening the store found cut off, and whether its disk takes anything more. */
  readonly storage: Storage
  /** Files that somebody uploaded, by their content. */
  readonly blobs: BlobStore
  readonly catalog: Catalog
  /** Lists and searches of requests. */
  readonly postingSearch: PostingSearch
  /** Finished catalog pages. */
  readonly pages: PageCache
  /** First-party services by slug; undefined where nothing fulfils it. */
  readonly firstParty: (slug: string) => FirstParty | undefined
  /** Threads for work that a stranger can make costly. */
  readonly compute: Compute
  /** Listings' schemas, applied without holding anybody up. */
  readonly schemas: Schemas
  readonly chain: ChainPort
  readonly recover: Recover
  readonly clock: Clock
  /** Requests to places that others name: pages to read, endpoints of participants. */
  readonly web: Web
  /** Verifies who stands behind participants. */
  readonly vendor: VerificationVendor
  /** Sends what `enqueue` left in the store. */
  readonly deliveries: DeliveryWorker
  readonly entropy: Entropy
  /** Secret under which challenges to sign in are made; of this run alone, since none lives longer than minutes. */
  readonly signInKey: Buffer
  readonly log: Log
  /** Aborted when a stop begins: streams end, so that nothing waits for their readers. */
  readonly stopping: AbortSignal
  /** Payments under way by id; see `gates/flight.ts`. */
  readonly inflight: ShortLived<InFlight>
  /** Wakes those who wait for events. */
  readonly eventBell: EventBell
  /** What moves money for a thing, and what ends the thing, one after the other. */
  readonly turns: Turns
  /** Work that answers do not wait for, such as sending payouts; a stop does. */
  readonly background: Set<Promise<void>>
  /** The wallets that may neither pay nor be paid, and where their list is read. */
  readonly sanctions: Sanctions
  readonly sdnSource: SdnSource
  /**
   * Whether a wallet may neither pay nor be paid (decisions §4). @throws AppError unavailable where money is real and
   * no list was ever loaded.
   */
  readonly isSanctioned: (wallet: Wallet) => Promise<boolean>
  /** Counts of the last day for the health report. */
  readonly tally: Tally
  readonly watch: Watch
  readonly metrics: Metrics
  readonly backups: Backups
  readonly flags: () => Flags & {
    readonly pausedAt: number | null
    /** Whether writes of listings ask for terms accepted by name. */
    readonly termsRequired: boolean
    /** Whether nothing enters or leaves escrow but refunds (decisions §8). */
    readonly escrowPaused: boolean
    /** Listings behind the advertised paths, by slug. */
    readonly namedServices: Readonly<Record<string, string>>
    readonly escrowPausedAt: number | null
  }
  /** Resolves when `flags()` show everything that was durable at the call. */
  readonly followFlags: () => Promise<void>
  readonly crons: Scheduler
  /** Moves `clock.now()`, where money is not real. */
  readonly timeline: Timeline
}
