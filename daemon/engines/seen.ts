import { z } from 'zod'
import { DAY_MS } from '../../src/core/time.ts'
import type { Context } from '../kernel/context.ts'
import { settings } from '../kernel/rows.ts'
import type { SeenEngine } from '../ports/engine.ts'
import { commit } from '../store/draw.ts'
import { engineBoard } from './engines.ts'

/** Settings key of the engines that this marketplace had, each with the time when it was last available. */
export const ENGINES_SEEN = 'engines_seen'
/** How long an engine is reported as missing after it was last available. */
const MISSED_MS = 30 * DAY_MS
/** Age from which the stored time of an engine's last availability is renewed. */
const RENEWED_MS = DAY_MS

const Seen = z.record(z.string(), z.int())
type Seen = z.output<typeof Seen>

const seenRow = async (ctx: Context): Promise<Seen> => {
  const row = await ctx.store.table(settings).get(ENGINES_SEEN)
  return row ? Seen.parse(row.value) : {}
}

/** Returns a function that tells whether an engine was available recently, even if that was before a restart. */
export async function missable(ctx: Context): Promise<(engine: SeenEngine) => boolean> {
  const seen = await seenRow(ctx)
  const since = ctx.clock.wall() - MISSED_MS
  return ({ name, wasThere }) => wasThere || (seen[name] ?? 0) > since
}

/** Records the engines that have been available since the daemon started. */
export async function noteSeen(ctx: Context): Promise<void> {
  const now = ctx.clock.wall()
  const there = engineBoard
    .of(ctx)
    .standings()
    .filter(({ wasThere }) => wasThere)
  const before = await seenRow(ctx)
  if (there.every(({ name }) => (before[name] ?? 0) > now - RENEWED_MS)) return
  await commit(ctx, async (t) => {
    const row = await t.table(settings).getForUpdate(ENGINES_SEEN)
    const kept = row ? Seen.parse(row.value) : {}
    const value = { ...kept, ...Object.fromEntries(there.map(({ name }) => [name, now])) }
    await t.table(settings).put({ id: ENGINES_SEEN, value })
  })
}
