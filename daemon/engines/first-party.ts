import type { z } from 'zod'
import type { JsonObject } from '../../src/model/service.ts'
import { defineResource } from '../kernel/context.ts'
import type { WorkOrder } from './compute.ts'

/** A first-party service, limited in time and size; the deliverable is JSON. */
export type FirstParty = {
  /** Runs the service; waiting callers take turns. */
  readonly run: (input: JsonObject, signal: AbortSignal, order: WorkOrder) => Promise<z.core.util.JSONType>
  /** Rejects, before payment, invalid inputs that the listing's schema cannot detect. @throws AppError input_invalid */
  readonly check?: (input: JsonObject) => void
  /** Required engines that are unavailable now. While any is missing, the service is not sold. */
  readonly lacking?: () => readonly string[]
}

export type FirstParties = (slug: string) => FirstParty | undefined

export const firstParty = defineResource<FirstParties>('first-party')
