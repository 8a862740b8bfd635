/** The two sides of a job or conversation. */
export const partyRoles = ['buyer', 'provider'] as const
export type PartyRole = (typeof partyRoles)[number]

export const authorRoles = [...partyRoles, 'system'] as const
export const messageTypes = ['message', 'proposal', 'status', 'file', 'delivery', 'system'] as const
