import { z } from 'zod'
import { Micro } from '../../../src/core/codecs.ts'
import { type AnyCollection, defineCollection, stored } from '../../store/port.ts'

/** Sums of one hour, or of one day for older times: money by business time, calls by wall time. */
export const rollups = defineCollection('rollups', {
  schema: z.strictObject({
    /** `<step>:<hours or days since the epoch>`. */
    ...stored,
    step: z.enum(['hour', 'day']),
    /** Start of the interval, epoch milliseconds. */
    at: z.int(),
    /** Number of the last ledger transaction in the sums; 0 if none. */
    seq: z.int(),
    sales: z.int(),
    paid_in: Micro,
    providers: Micro,
    fees: Micro,
    refunds: Micro,
    /** Numbers of calls by outcome, then by duration step (`buckets.ts`). */
    calls: z.array(z.int()),
  }),
  indexes: [
    { name: 'step', fields: ['step', 'at'] },
    { name: 'seq', fields: ['seq'], order: 'desc' },
  ],
})
export type RollupRow = z.infer<typeof rollups.schema>

export const figuresCollections: readonly AnyCollection[] = [rollups]
