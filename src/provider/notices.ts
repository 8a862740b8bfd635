import type { WorkerNotice } from './worker.ts'

type At<F> = F & { readonly at: string }

/** That it works now, and for which listings. */
type Providing = {
  readonly event: 'providing'
  readonly services: readonly { readonly service_id: string; readonly name: string }[]
  readonly participant_id: string
  readonly workers: number
}

/** What has become of the listing of the file, at the start and with each edit. */
type Listed = {
  readonly event: 'listed'
  readonly service_id: string
  readonly name: string
  readonly change: 'created' | 'changed' | 'unchanged'
  /** Fields that are others now. */
  readonly changed: readonly string[]
  /** What a buyer pays; null where that is agreed on. */
  readonly price: string | null
  readonly status: string
}

/** The purchase that a provider makes of its own listing, with test money. */
type Practised = {
  readonly event: 'practice'
  readonly state: 'bought' | 'passed' | 'failed' | 'none'
  readonly service_id: string
  /** The job of the purchase. */
  readonly job_id: string | null
  readonly price: string | null
  /** Why there is none, or what went wrong. */
  readonly reason: string | null
}

/** An edit under --watch that is not in force: why, and what holds instead. */
type Withheld = {
  readonly event: 'withheld'
  readonly what: 'listing' | 'program'
  readonly reason: string
  /** It is tried again by then, in milliseconds; null where another edit has to come. */
  readonly again_ms: number | null
}

/** The program was edited, or is there again: the next job runs it. */
type Reloaded = { readonly event: 'reloaded'; readonly what: 'program'; readonly path: string }

/** Under --dry-run: what would be done next. */
type Would = {
  readonly event: 'would'
  readonly dry_run: true
  readonly step: 'program' | 'wallet' | 'account' | 'listing' | 'practice' | 'work'
  readonly does: string
}

export type ShopFacts = Providing | Listed | Practised | Withheld | Reloaded | Would
/** What a provider at the command line says of its shop; the rest is about its jobs. */
export type ShopNotice = At<Providing> | At<Listed> | At<Practised> | At<Withheld> | At<Reloaded> | At<Would>

export type ProviderNotice = ShopNotice | WorkerNotice
