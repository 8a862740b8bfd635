/** The two sides of a job or conversation. */
export const partyRoles = ['buyer', 'provider'] as const
export type PartyRole = (typeof partyRoles)[number]
