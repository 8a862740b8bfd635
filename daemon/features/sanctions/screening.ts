import { AppError } from '../../../src/core/error.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import type { Context } from '../../kernel/context.ts'
import { compliance } from './sanctions.ts'

/** @throws AppError 403 `sanctioned`; the wallet may neither pay nor be paid (decisions §4). */
export async function refuseSanctioned(ctx: Context, wallet: Wallet): Promise<void> {
  if (!(await compliance.of(ctx).isSanctioned(wallet))) return
  throw new AppError('sanctioned', 'This wallet is on a sanctions list; nothing was charged or paid.')
}
