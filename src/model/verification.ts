export const attemptStatuses = ['pending_consent', 'vendor_pending', 'approved', 'rejected', 'expired'] as const
export type AttemptStatus = (typeof attemptStatuses)[number]
/** What the vendor may say of who stands behind a participant. */
export const vendorDecisions = ['approved', 'rejected'] as const
