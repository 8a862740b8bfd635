/** What somebody earned by: an own sale, or the fee of one whose buyer (agent) or provider it referred. */
export const earningRoles = ['sale', 'agent', 'provider'] as const
export type EarningRole = (typeof earningRoles)[number]
