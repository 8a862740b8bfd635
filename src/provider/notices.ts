import type { WorkerNotice } from './worker.ts'

type At<F> = F & { readonly at: string }

/** The provider is ready, with these listings. */
type Providing = {
  readonly event: 'providing'
  readonly services: readonly { readonly service_id: string; readonly name: string }[]
  readonly participant_id: string
  readonly workers: number
}

/** Result for the file's listing, at start and after edits. */
type Listed = {
  readonly event: 'listed'
  readonly service_id: string
  readonly name: string
  readonly change: 'created' | 'changed' | 'unchanged'
  /** Changed fields. */
  readonly changed: readonly string[]
  /** Buyer's price; null if negotiated. */
  readonly price: string | null
  readonly status: string
}

/** A test purchase of the own listing with test money. */
type Practised = {
  readonly event: 'practice'
  readonly state: 'bought' | 'passed' | 'failed' | 'none'
  readonly service_id: string
  /** Job of the purchase. */
  readonly job_id: string | null
  readonly price: string | null
  /** Why there was no purchase, or what failed. */
  readonly reason: string | null
}

/** An edit under `--watch` that was not applied, with the reason. */
type Withheld = {
  readonly event: 'withheld'
  readonly what: 'listing' | 'program'
  readonly reason: string
  /** Milliseconds until the next try; null if it waits for another edit. */
  readonly again_ms: number | null
}

/** The program changed or is back; the next job uses it. */
type Reloaded = { readonly event: 'reloaded'; readonly what: 'program'; readonly path: string }

/** Under --dry-run: the next step. */
type Would = {
  readonly event: 'would'
  readonly dry_run: true
  readonly step: 'program' | 'wallet' | 'account' | 'listing' | 'practice' | 'work'
  readonly does: string
}

export type ShopFacts = Providing | Listed | Practised | Withheld | Reloaded | Would
/** Notices of a provider that are not about a job. */
export type ShopNotice = At<Providing> | At<Listed> | At<Practised> | At<Withheld> | At<Reloaded> | At<Would>

export type ProviderNotice = ShopNotice | WorkerNotice
