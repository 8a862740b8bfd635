import { SECOND_MS } from '../../../src/core/time.ts'
import type { Context } from '../../kernel/context.ts'
import { compareChain } from './audit.ts'
import type { Check } from './checks.ts'

/** Comparing asks the chain about every open payment: whoever looks often gets what was found last. */
const KEEP_MS = 30 * SECOND_MS

type Found = { readonly at: number; readonly check: Promise<Check | null> }
const found = new WeakMap<Context, Found>()

/** Whether the chain holds what the books say, as last compared; null while that cannot be said. */
export function driftOf(ctx: Context): Promise<Check | null> {
  const now = ctx.clock.wall()
  const last = found.get(ctx)
  if (last && now - last.at < KEEP_MS) return last.check
  const check = compared(ctx).catch((error: unknown) => {
    ctx.log.warn({ source: 'chain', err: String(error) }, 'the books could not be compared with the chain')
    return null
  })
  found.set(ctx, { at: now, check })
  return check
}

/** What differs, or that nothing does. */
async function compared(ctx: Context): Promise<Check | null> {
  const checks = await compareChain(ctx)
  const wrong = checks.filter(({ ok }) => !ok)
  const [first] = checks
  if (wrong.length === 0) return first ?? null
  return { name: 'chain', ok: false, detail: wrong.map(({ detail }) => detail).join('; ') }
}
