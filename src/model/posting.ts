/** States of a request for work, and of the bids on it (decisions §9). */
export const postingStatuses = ['open', 'awarded', 'completed', 'cancelled', 'expired'] as const
export type PostingStatus = (typeof postingStatuses)[number]
export const bidStatuses = ['submitted', 'accepted', 'rejected', 'withdrawn'] as const
export type BidStatus = (typeof bidStatuses)[number]
