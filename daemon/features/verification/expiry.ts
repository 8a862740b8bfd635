import type { Context } from '../../kernel/context.ts'
import { commit } from '../../store/draw.ts'
import { stepAttempt } from './attempts.ts'
import { isOverdue } from './machine.ts'
import { attempts } from './rows.ts'

/** Attempts looked at for the next one that is not overdue. */
const LOOKED_AT = 1_000
/** Attempts ended before a list is shown. */
const ENDED_AT_ONCE = 100

/** Ids of attempts whose time has run out, and that still stand as open. */
export async function overdueAttempts(ctx: Context, now: number, limit: number): Promise<readonly string[]> {
  const { rows } = await ctx.store.table(attempts).page('due', [], { limit })
  return rows.filter((row) => isOverdue(row, { now, wall: ctx.clock.wall() })).map(({ id }) => id)
}

/** Business time at which the earliest attempt ends at `from` or later, null when none will. */
export async function nextExpiry(ctx: Context, from: number): Promise<number | null> {
  const { rows } = await ctx.store.table(attempts).page('due', [], { limit: LOOKED_AT })
  return rows.find(({ expires_at }) => expires_at >= from)?.expires_at ?? null
}

/** Ends one attempt, or finds that there is nothing left to end. */
export async function expireAttempt(ctx: Context, id: string, now: number): Promise<void> {
  const wall = ctx.clock.wall()
  await commit(ctx, async (t, draw) => {
    const attempt = await t.table(attempts).getForUpdate(id)
    if (!attempt || !isOverdue(attempt, { now, wall })) return
    await stepAttempt(t, draw, { attempt, event: 'expire', by: 'system', now, wall })
  })
}

/** Ends what is overdue, so that lists and counts by state are true. */
export async function expireOverdue(ctx: Context, now: number): Promise<void> {
  for (;;) {
    const ids = await overdueAttempts(ctx, now, ENDED_AT_ONCE)
    for (const id of ids) await expireAttempt(ctx, id, now)
    if (ids.length < ENDED_AT_ONCE) return
  }
}
