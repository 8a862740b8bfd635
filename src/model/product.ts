/** `suspended`: was for sale when its provider was suspended. */
export const productStatuses = ['draft', 'active', 'inactive', 'suspended', 'deleted'] as const
