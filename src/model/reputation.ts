export const dimensions = ['quality', 'reliability', 'speed', 'communication'] as const
export type Dimension = (typeof dimensions)[number]

/** How a dispute ended: `recorded` came after the money had gone, the others were decided. */
export const disputeEnds = ['none', 'recorded', 'released', 'split', 'refunded'] as const

export const standingKinds = ['provider', 'service', 'service_type'] as const

export const documentKinds = ['feedback', 'evidence'] as const
