import type { ListOrders } from '../../core/filter.ts'

/* Orders that no single field of a list has, and what they mean. */

/** What an administrator has to look at before the rest. */
export const jobOrders = {
  worst: 'disputed, then late, then by when something happens by itself, then what ended, newest first',
} as const satisfies ListOrders

export const holdOrders = {
  soonest: 'what nothing moves by itself, then by when it moves',
} as const satisfies ListOrders
