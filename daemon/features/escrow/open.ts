import type { Context } from '../../kernel/context.ts'
import { contractMirror } from './contract.ts'

/** Where no contract holds the money of jobs, nothing of it is loaded. */
export async function openContract(ctx: Context): Promise<void> {
  const port = ctx.chain.escrow
  const mirror = port && (await (await import('./mirror.ts')).openMirror(ctx, port))
  contractMirror.open(ctx, mirror, mirror?.close)
}
