import { type DueWork, dueWork } from '../../crons/due-work.ts'
import type { Context } from '../../kernel/context.ts'
import { commit } from '../../store/draw.ts'
import { stepAttempt } from './attempts.ts'
import { isOverdue } from './machine.ts'
import { attempts } from './rows.ts'

/** Number of overdue attempts that are expired per batch. */
const ENDED_AT_ONCE = 100

/** Abandoned verification attempts. */
export const verificationWork: DueWork = dueWork({
  name: 'verification.expire',
  collection: attempts,
  index: 'due',
  isDue: (row, now, { clock }) => isOverdue(row, { now, wall: clock.wall() }),
  dueAt: (row) => row.expires_at,
  async run(ctx, id, now) {
    const wall = ctx.clock.wall()
    await commit(ctx, async (t, draw) => {
      const attempt = await t.table(attempts).getForUpdate(id)
      if (!attempt || !isOverdue(attempt, { now, wall })) return
      await stepAttempt(t, draw, { attempt, event: 'expire', by: 'system', now, wall })
    })
  },
})

/** Expires overdue attempts, so that lists and counts are correct. */
export async function expireOverdue(ctx: Context, now: number): Promise<void> {
  for (;;) {
    const ids = await verificationWork.due(ctx, now, ENDED_AT_ONCE)
    for (const id of ids) await verificationWork.run(ctx, id, now)
    if (ids.length < ENDED_AT_ONCE) return
  }
}
