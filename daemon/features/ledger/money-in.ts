import type { AccountKind } from '../../../src/model/ledger.ts'
import type { Context } from '../../kernel/context.ts'
import { accounts } from './rows.ts'
/** Whether money of one of these kinds of accounts waits for somebody. */
export async function hasMoneyIn(ctx: Context, kinds: readonly AccountKind[]): Promise<boolean> {
  const table = ctx.store.table(accounts)
  const counts = await Promise.all(kinds.map((kind) => table.count('kind', [kind])))
  return counts.some((count) => count > 0)
}
