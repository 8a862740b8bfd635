import { z } from 'zod'
import { StoredWallet } from '../../../src/core/codecs.ts'
import type { AnyCollection } from '../../store/port.ts'
import { defineCollection } from '../../store/port.ts'
/** A sanctioned wallet: listed, added by hand, or both. */
export const SanctionRow = z.strictObject({
  wallet: StoredWallet,
  version: z.int(),
  listed: z.boolean(),
  manual: z.boolean(),
  /** Reason for adding it by hand. */
  reason: z.string().nullable(),
  /** Business time of the first refusal. */
  since: z.int(),
})
export type SanctionRow = z.infer<typeof SanctionRow>

/** State of the current list, in business time. */
export const SdnState = z.strictObject({
  /** Configured path or URL; null before the first list. */
  source: z.string().nullable(),
  publish_date: z.string().nullable(),
  /** EVM addresses of the list. */
  addresses: z.int(),
  /** Added by the last change. */
  added: z.int(),
  /** Last change, and last check. */
  last_updated: z.int().nullable(),
  last_checked: z.int().nullable(),
  /** `ok`, or why the last refresh kept the current list. */
  last_status: z.string(),
})
export type SdnState = z.infer<typeof SdnState>

/** Sanctioned wallets. */
export const sanctions = defineCollection('sanctions', {
  schema: SanctionRow,
  key: 'wallet',
  indexes: [
    { name: 'wallet', fields: ['wallet'] },
    { name: 'manual', fields: ['since'], order: 'desc', where: { field: 'manual', equals: true } },
  ],
})

export const sanctionCollections: readonly AnyCollection[] = [sanctions]
