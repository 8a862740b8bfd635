/** Life of something that is written to the chain: made, about to be sent, there. */
export const publicationStates = ['created', 'sent', 'confirmed', 'failed'] as const
