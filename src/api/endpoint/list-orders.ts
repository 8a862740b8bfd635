import type { ListOrders } from '../../core/filter.ts'

/* Sort orders that are not a field. */

/** What needs attention first. */
export const jobOrders = {
  worst: 'disputed, then late, then by when something happens by itself, then what ended, newest first',
} as const satisfies ListOrders

export const holdOrders = {
  soonest: 'what nothing moves by itself, then by when it moves',
} as const satisfies ListOrders
