import type { AccountKind } from '../../src/model/ledger.ts'
import type { World } from '../kernel/world.ts'
import { accounts, payments } from '../store/collections.ts'
import type { CronResult } from './cron.ts'

/** Whether money of one of these kinds of accounts waits for somebody. */
export async function hasMoneyIn(world: World, kinds: readonly AccountKind[]): Promise<boolean> {
  const table = world.store.table(accounts)
  const counts = await Promise.all(kinds.map((kind) => table.count('kind', [kind])))
  return counts.some((count) => count > 0)
}

export async function hasOpenPayments(world: World): Promise<boolean> {
  return (await world.store.table(payments).count('open', [])) > 0
}

/** Under the cutover a run that had nothing to do counts as skipped; one that had never does (decisions §12). */
export function idleUnderCutover(world: World): CronResult {
  return world.flags().checkoutV2 ? { skip: 'checkout_v2' } : undefined
}
