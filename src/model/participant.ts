export const participantTypes = ['agent', 'provider', 'both'] as const

/** Verification tiers (decisions §6). */
export const tiers = ['unverified', 'email_verified', 'identity_verified'] as const
