import { partyRoles } from './party.ts'

export const authorRoles = [...partyRoles, 'system'] as const
export const messageTypes = ['message', 'proposal', 'status', 'file', 'delivery', 'system'] as const
