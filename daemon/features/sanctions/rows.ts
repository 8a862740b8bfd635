import { z } from 'zod'
import { StoredWallet } from '../../../src/core/codecs.ts'
import type { AnyCollection } from '../../store/port.ts'
import { defineCollection } from '../../store/port.ts'
/** A wallet that may neither pay nor be paid: on the list, added by hand, or both. */
export const SanctionRow = z.strictObject({
  wallet: StoredWallet,
  version: z.int(),
  listed: z.boolean(),
  manual: z.boolean(),
  /** Why it was added by hand. */
  reason: z.string().nullable(),
  /** Business time since when it is refused. */
  since: z.int(),
})
export type SanctionRow = z.infer<typeof SanctionRow>

/** What is known of the list that is held; times are business time. */
export const SdnState = z.strictObject({
  /** Where it was read: a path or URL as configured; null before the first one was held. */
  source: z.string().nullable(),
  publish_date: z.string().nullable(),
  /** EVM addresses of the list. */
  addresses: z.int(),
  /** New in the refresh that last changed it. */
  added: z.int(),
  /** When the list last changed, and when it was last looked at. */
  last_updated: z.int().nullable(),
  last_checked: z.int().nullable(),
  /** `ok`, or why the last refresh kept the list that was held. */
  last_status: z.string(),
})
export type SdnState = z.infer<typeof SdnState>

/** Wallets that may neither pay nor be paid. */
export const sanctions = defineCollection('sanctions', {
  schema: SanctionRow,
  key: 'wallet',
  indexes: [
    { name: 'wallet', fields: ['wallet'] },
    { name: 'manual', fields: ['since'], order: 'desc', where: { field: 'manual', equals: true } },
  ],
})

export const sanctionCollections: readonly AnyCollection[] = [sanctions]
