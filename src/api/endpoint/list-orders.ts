import type { ListOrders } from '../../core/filter.ts'

/** Sort orders of jobs: what needs attention first. */
export const jobOrders = {
  worst: 'disputed jobs, then late ones, then other open ones by next event, then ended ones, newest first',
} as const satisfies ListOrders

export const holdOrders = {
  soonest: 'money without a next event first, then by time of the next event',
} as const satisfies ListOrders
