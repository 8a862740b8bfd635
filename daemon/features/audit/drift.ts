import { SECOND_MS } from '../../../src/core/time.ts'
import type { Context } from '../../kernel/context.ts'
import { compareChain } from './audit.ts'
import type { Check } from './checks.ts'

/** A comparison queries the chain for every open payment, so its result is cached for this time. */
const KEEP_MS = 30 * SECOND_MS

type Found = { readonly at: number; readonly check: Promise<Check | null> }
const found = new WeakMap<Context, Found>()

/** The last comparison of the books with the chain, at most `KEEP_MS` old; null if it failed. */
export function driftOf(ctx: Context): Promise<Check | null> {
  const now = ctx.clock.wall()
  const last = found.get(ctx)
  if (last && now - last.at < KEEP_MS) return last.check
  const check = compared(ctx).catch((error: unknown) => {
    ctx.log.warn({ source: 'chain', err: String(error) }, 'the ledger could not be compared with the chain')
    return null
  })
  found.set(ctx, { at: now, check })
  return check
}

/** Result of comparing the books with the chain: all differences, or success. */
async function compared(ctx: Context): Promise<Check | null> {
  const checks = await compareChain(ctx)
  const wrong = checks.filter(({ ok }) => !ok)
  const [first] = checks
  if (wrong.length === 0) return first ?? null
  return { name: 'chain', ok: false, detail: wrong.map(({ detail }) => detail).join('; ') }
}
