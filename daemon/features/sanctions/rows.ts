import { z } from 'zod'
import { StoredWallet } from '../../../src/core/codecs.ts'
import { type AnyCollection, defineCollection } from '../../store/port.ts'

/** State of the current sanctions list. Times are business time. */
export const SdnState = z.strictObject({
  /** Path or URL that the list came from; null before the first list. */
  source: z.string().nullable(),
  publish_date: z.string().nullable(),
  /** Number of EVM addresses in the list. */
  addresses: z.int(),
  /** Number of addresses that the last change added. */
  added: z.int(),
  /** Time of the last change; `last_checked` is the time of the last check. */
  last_updated: z.int().nullable(),
  last_checked: z.int().nullable(),
  /** `ok`, or why the last refresh kept the current list. */
  last_status: z.string(),
})
export type SdnState = z.infer<typeof SdnState>

/** A sanctioned wallet: from the list, added by an operator, or both. */
export const sanctions = defineCollection('sanctions', {
  schema: z.strictObject({
    wallet: StoredWallet,
    version: z.int(),
    listed: z.boolean(),
    manual: z.boolean(),
    /** The operator's reason for adding the wallet; null if only the list names it. */
    reason: z.string().nullable(),
    /** Business time at which the refusal of this wallet began. */
    since: z.int(),
  }),
  key: 'wallet',
  indexes: [
    { name: 'wallet', fields: ['wallet'] },
    { name: 'manual', fields: ['since'], order: 'desc', where: { field: 'manual', equals: true } },
  ],
})
export type SanctionRow = z.infer<typeof sanctions.schema>

export const sanctionCollections: readonly AnyCollection[] = [sanctions]
