import type { AccountKind } from '../../../src/model/ledger.ts'
import type { World } from '../../kernel/world.ts'
import { accounts } from './rows.ts'
/** Whether money of one of these kinds of accounts waits for somebody. */
export async function hasMoneyIn(world: World, kinds: readonly AccountKind[]): Promise<boolean> {
  const table = world.store.table(accounts)
  const counts = await Promise.all(kinds.map((kind) => table.count('kind', [kind])))
  return counts.some((count) => count > 0)
}
