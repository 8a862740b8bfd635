import type { PaymentFault } from '../../../src/core/payment-fault.ts'
import { defineResource } from '../../kernel/resource.ts'

export type FacilitatorPath = 'verify' | 'settle' | 'supported' | 'discovery'
/** `ok`, why not, or `refused`: an error of ours instead of an answer. */
export type FacilitatorResult = 'ok' | 'refused' | PaymentFault

/** Requests by path and result since the start: few of either, whatever strangers send. */
export type FacilitatorCounts = {
  readonly add: (path: FacilitatorPath, result: FacilitatorResult) => void
  readonly all: () => readonly { readonly path: string; readonly result: string; readonly count: number }[]
}

export const facilitatorCounts = defineResource<FacilitatorCounts>('facilitator-counts')

export function countingRequests(): FacilitatorCounts {
  const counts = new Map<string, { path: string; result: string; count: number }>()
  return {
    add(path, result) {
      const key = `${path} ${result}`
      const known = counts.get(key)
      if (known) known.count += 1
      else counts.set(key, { path, result, count: 1 })
    },
    all: () => [...counts.values()],
  }
}
