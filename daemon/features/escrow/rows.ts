import { z } from 'zod'
import { Micro, StoredWallet } from '../../../src/core/codecs.ts'
import { dealActs, dealStates, escrowStates } from '../../../src/model/job.ts'
import type { Context } from '../../kernel/context.ts'
import { type AnyCollection, defineCollection } from '../../store/port.ts'

export type DealAct = (typeof dealActs)[number]

/** How the books ended a job's hold, as the contract is to follow. */
const dealEnds = ['release', 'refund', 'resolve'] as const

/**
 * A job's money in the contract: what is known to stand there, and what the job wants to stand there. It is written
 * with the job, so that from the first moment the row says what is due.
 */
export const DealRow = z.strictObject({
  /** Id of the job. */
  id: z.string(),
  version: z.int(),
  buyer: StoredWallet,
  /** Where an ordinary refund comes back to, and from there to the buyer by the books. */
  refund_to: StoredWallet,
  net: Micro,
  fee: Micro,
  /** As last seen; `none` before the deposit, `unused` where there never was one. */
  state: z.enum(dealStates),
  /** How somebody else let the money go, in a block that may yet be undone: until it is final nothing is asked for. */
  taken: z.strictObject({ state: z.enum(escrowStates), transaction: z.string().nullable() }).exactOptional(),
  /** Unix seconds from which on the buyer may take the money back by itself; null until it was first asked for. */
  deadline: z.int().nullable(),
  /** Business time of the job's deadline that `deadline` was reckoned by. */
  covers: z.int().nullable(),
  /** Whether a deposit may be on its way. */
  sent: z.boolean(),
  /** Whether waiting wins the money no more, as last seen. */
  closed: z.boolean(),
  /** What the job wants: its deadline (business time), that waiting be over, how the money leaves. */
  wants_deadline: z.int().nullable(),
  wants_closed: z.enum(['markDelivered', 'markDisputed']).nullable(),
  wants_end: z.enum(dealEnds).nullable(),
  /** Of a `resolve`. */
  to_buyer: Micro.nullable(),
  /** Until the contract let the money go. */
  open: z.boolean(),
  /** Whether an act is due. */
  due: z.boolean(),
  /** Whether money is on its way back from which the books owe the buyer: it is not paid before it is there. */
  returning: z.boolean(),
  /** Epoch milliseconds of the machine of the next attempt. */
  next_attempt_at: z.int(),
  attempts: z.int(),
  last_error: z.string().nullable(),
  transactions: z.array(z.strictObject({ act: z.enum(dealActs), hash: z.string() })),
  /** Business time. */
  created_at: z.int(),
})
export type DealRow = z.infer<typeof DealRow>

export const deals = defineCollection('escrow_deals', {
  schema: DealRow,
  key: 'id',
  indexes: [
    { name: 'open', fields: ['created_at'], where: { field: 'open', equals: true } },
    { name: 'due', fields: ['next_attempt_at'], where: { field: 'due', equals: true } },
    { name: 'returning', fields: ['buyer'], where: { field: 'returning', equals: true } },
  ],
})

export const escrowCollections: readonly AnyCollection[] = [deals]

/** Attempts that one after the other came to nothing, some minutes in all: waiting will not help any more. */
const MANY_ATTEMPTS = 10
/** Deals that a look reads at most. */
const MAX_LOOKED_AT = 200

/** Deals whose money somebody else let go, not final yet, and those that the contract does not let go on, again and again; while it is paused all of them wait, and that is told. */
export async function waitingDeals({ store, switches }: Context): Promise<readonly DealRow[]> {
  if (switches.now().escrowPaused) return []
  const { rows } = await store.table(deals).page('due', [], { limit: MAX_LOOKED_AT })
  return rows.filter(({ attempts, taken }) => taken !== undefined || attempts >= MANY_ATTEMPTS)
}
