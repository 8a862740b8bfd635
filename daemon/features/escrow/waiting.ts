import type { Context } from '../../kernel/context.ts'
import { type DealRow, deals } from './rows.ts'

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
