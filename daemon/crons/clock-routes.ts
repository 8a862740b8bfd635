import type { clockApi } from '../../src/api/sections/admin-crons.ts'
import { AppError } from '../../src/core/error.ts'
import type { FreeHandlers } from '../endpoint/handler.ts'
import { audit } from '../events/event-log.ts'
import type { Context } from '../kernel/context.ts'
import { isTestMoney } from '../ports/chain/chain.ts'
import { scheduler } from './scheduler.ts'
import { timeline } from './timeline.ts'

const iso = (at: number) => new Date(at).toISOString()

export const clockRoutes: FreeHandlers<typeof clockApi> = {
  getClock: async (_input, { ctx }) => clockView(ctx),

  moveClock: async ({ body }, call) => {
    const { ctx, signal } = call
    if (!isTestMoney(ctx.chain)) {
      throw new AppError('unavailable', `The ${ctx.chain.mode} chain uses real money: its clock cannot be moved.`)
    }
    const now = ctx.clock.now()
    const to = body.advance_ms === undefined ? body.set : now + body.advance_ms
    if (to !== undefined && to < now) {
      throw new AppError('conflict', `The clock cannot go back: it is ${iso(now)} now.`, { extra: { now: iso(now) } })
    }
    const state = body.state ?? timeline.of(ctx).state().state
    const subject = { kind: 'clock', id: 'clock' }
    const detail = { from: iso(now), to: iso(to ?? now), state }
    const { latest, runs, jumps, changed } = await timeline.of(ctx).move({
      to,
      state,
      signal: signal(),
      also: (t, draw, isChange) => audit(t, draw, { act: 'clock.move', subject, changed: isChange, detail, by: call }),
    })
    return { ...clockView(ctx), changed, jumps, runs_total: runs, runs: [...latest] }
  },
}

function clockView(ctx: Context) {
  const { state, offsetMs } = timeline.of(ctx).state()
  return {
    now: ctx.clock.now(),
    wall: ctx.clock.wall(),
    offset_ms: offsetMs,
    state,
    movable: isTestMoney(ctx.chain),
    next_cron: nextCron(ctx),
  }
}

/** The cron that runs next; null if none is scheduled. */
function nextCron(ctx: Context): { name: string; at: number } | null {
  if (!ctx.config.crons) return null
  const times = scheduler
    .of(ctx)
    .views()
    .flatMap(({ cron, nextRun }) => (nextRun === null ? [] : [{ name: cron.name, at: nextRun }]))
  return times.reduce<{ name: string; at: number } | null>(
    (least, one) => (least && least.at <= one.at ? least : one),
    null,
  )
}
