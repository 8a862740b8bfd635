import { z } from 'zod'
import { Micro, StoredWallet } from '../../../src/core/codecs.ts'
import { dealActs, dealStates, escrowStates } from '../../../src/model/job.ts'
import type { Context } from '../../kernel/context.ts'
import { type AnyCollection, defineCollection, stored } from '../../store/port.ts'

export type DealAct = (typeof dealActs)[number]

/** How the books ended a job's hold. The contract must end the deal in the same way. */
const dealEnds = ['release', 'refund', 'resolve'] as const

/**
 * A job's money in the contract: its known and its wanted state. The row is written with the job, so it is never
 * outdated.
 */
export const deals = defineCollection('escrow_deals', {
  schema: z.strictObject({
    /** `id` is the id of the job. */
    ...stored,
    buyer: StoredWallet,
    /** The marketplace's wallet, to which the contract refunds. The ledger then pays the buyer. */
    refund_to: StoredWallet,
    net: Micro,
    fee: Micro,
    /** State at the last check. `none`: not deposited yet; `unused`: ended without a deposit. */
    state: z.enum(dealStates),
    /** State and transaction of an external call that is not final yet. Until it is, nothing is sent to the contract. */
    taken: z.strictObject({ state: z.enum(escrowStates), transaction: z.string().nullable() }).exactOptional(),
    /** Unix seconds from which the buyer may claim a refund; null until first set. */
    deadline: z.int().nullable(),
    /** The job's deadline (business time) on which `deadline` is based. */
    covers: z.int().nullable(),
    /** Whether a deposit may be in flight. */
    sent: z.boolean(),
    /** Whether the contract, as last seen, no longer lets the buyer claim a refund. */
    closed: z.boolean(),
    /** State that the job wants: deadline (business time), call that ends the buyer's right to a refund, and payout. */
    wants_deadline: z.int().nullable(),
    wants_closed: z.enum(['markDelivered', 'markDisputed']).nullable(),
    wants_end: z.enum(dealEnds).nullable(),
    to_buyer: Micro.nullable(),
    /** True until the contract has released the money. */
    open: z.boolean(),
    /** Whether an action is due, or an external call must be checked until it is final. */
    due: z.boolean(),
    /** Whether a refund is in flight; the buyer is paid after it arrives. */
    returning: z.boolean(),
    /** Time of the next attempt, machine milliseconds. */
    next_attempt_at: z.int(),
    attempts: z.int(),
    last_error: z.string().nullable(),
    transactions: z.array(z.strictObject({ act: z.enum(dealActs), hash: z.string() })),
    /** Business time. */
    created_at: z.int(),
  }),
  indexes: [
    { name: 'open', fields: ['created_at'], where: { field: 'open', equals: true } },
    { name: 'due', fields: ['next_attempt_at'], where: { field: 'due', equals: true } },
    { name: 'returning', fields: ['buyer'], where: { field: 'returning', equals: true } },
  ],
})
export type DealRow = z.infer<typeof deals.schema>

export const escrowCollections: readonly AnyCollection[] = [deals]

/** Number of consecutive failed attempts after which a problem is reported. They take some minutes. */
const MANY_ATTEMPTS = 10
/** Maximum deals read. */
const MAX_LOOKED_AT = 200

/**
 * Deals with an external call that is not final, and deals whose actions keep failing. Empty while the contract is
 * paused, because all deals wait then.
 */
export async function waitingDeals({ store, switches }: Context): Promise<readonly DealRow[]> {
  if (switches.now().escrowPaused) return []
  const { rows } = await store.table(deals).page('due', [], { limit: MAX_LOOKED_AT })
  return rows.filter(({ attempts, taken }) => taken !== undefined || attempts >= MANY_ATTEMPTS)
}
