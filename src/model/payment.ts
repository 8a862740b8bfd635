/**
 * Life of a payment (decisions §4): `reserved → settling → settled → fulfilled`, or `released`
 * (nothing was taken), or `refunded`. A row that settles last stores what its run returned in the
 * same write that makes it `settling`: executed and about to be settled are one durable step.
 */
export const paymentStates = ['reserved', 'settling', 'settled', 'fulfilled', 'released', 'refunded'] as const
