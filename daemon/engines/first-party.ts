import type { z } from 'zod'
import type { JsonObject } from '../../src/model/service.ts'
import { defineResource } from '../kernel/resource.ts'
import type { WorkOrder } from './compute.ts'

/** A first-party service: bounded in time and size; the deliverable is JSON. */
export type FirstParty = {
  /** Everyone's work takes turns with everyone else's. */
  readonly run: (input: JsonObject, signal: AbortSignal, order: WorkOrder) => Promise<z.core.util.JSONType>
  /** Refuses before payment what the listing's schema cannot tell is wrong. @throws AppError input_invalid */
  readonly check?: (input: JsonObject) => void
  /** What it works with and is not there now; nobody can buy it meanwhile. */
  readonly lacking?: () => readonly string[]
}

export type FirstParties = (slug: string) => FirstParty | undefined

/** First-party services by slug; undefined where there is none. */
export const firstParty = defineResource<FirstParties>('first-party')
