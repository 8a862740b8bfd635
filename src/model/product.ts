/** `suspended`: was for sale when its provider was suspended. */
export const productStatuses = ['draft', 'active', 'inactive', 'suspended', 'deleted'] as const
/** What the operator sees of those that are kept: a suspension shows as withdrawn. */
export const shownProductStatuses = ['draft', 'active', 'inactive'] as const
