import type { Context } from '../../kernel/context.ts'
import { contractMirror } from './contract.ts'

/** Loads the contract code only if a contract is configured. */
export async function openContract(ctx: Context): Promise<void> {
  const port = ctx.chain.escrow
  const mirror = port && (await (await import('./mirror.ts')).openMirror(ctx, port))
  contractMirror.open(ctx, mirror, mirror?.close)
}
