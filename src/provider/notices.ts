import type { WorkerNotice } from './worker.ts'

type At<F> = F & { readonly at: string }

/** The provider is ready and does jobs for these listings. */
type Providing = {
  readonly event: 'providing'
  readonly services: readonly { readonly service_id: string; readonly name: string }[]
  readonly participant_id: string
  readonly workers: number
}

/** What happened to the file's listing, at the start and after each edit. */
type Listed = {
  readonly event: 'listed'
  readonly service_id: string
  readonly name: string
  readonly change: 'created' | 'changed' | 'unchanged'
  readonly changed: readonly string[]
  /** The price that a buyer pays; null if it is negotiated. */
  readonly price: string | null
  readonly status: string
}

/** A test purchase: the provider's own listing, bought with test money. */
type Practised = {
  readonly event: 'practice'
  readonly state: 'bought' | 'passed' | 'failed' | 'none'
  readonly service_id: string
  readonly job_id: string | null
  readonly price: string | null
  /** Why nothing was bought, or what failed. */
  readonly reason: string | null
}

/** An edit under `--watch` that was not applied, and why. */
type Withheld = {
  readonly event: 'withheld'
  readonly what: 'listing' | 'program'
  readonly reason: string
  /** Milliseconds until the same edit is tried again; null if the next try waits for another edit. */
  readonly again_ms: number | null
}

/** The program was edited, or can run again. The next job uses it. */
type Reloaded = { readonly event: 'reloaded'; readonly what: 'program'; readonly path: string }

/** With `--dry-run`: a step that a real start would take. */
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
