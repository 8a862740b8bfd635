/** Subscription status (decisions §9). */
export const subscriptionStatuses = ['active', 'paused', 'past_due', 'canceled', 'expired'] as const
export type SubscriptionStatus = (typeof subscriptionStatuses)[number]

/** What happens to a subscription by itself: it is charged for its next period, or its paid period runs out. */
export const subscriptionDueEvents = ['renew', 'lapse'] as const
export type SubscriptionDueEvent = (typeof subscriptionDueEvents)[number]
