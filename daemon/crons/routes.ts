import type { Api } from '../../src/api/index.ts'
import type { cronsApi } from '../../src/api/sections/admin-crons.ts'
import { SECOND_MS } from '../../src/core/time.ts'
import type { FreeHandler, FreeHandlers } from '../endpoint/handler.ts'
import { audit } from '../events/event-log.ts'
import { commit } from '../store/draw.ts'
import { type CronView, scheduler } from './scheduler.ts'

export const cronsRoutes: FreeHandlers<typeof cronsApi> = {
  listCrons: async (_input, { ctx }) => ({
    crons: scheduler.of(ctx).views().map(cronView),
    automatic: ctx.config.crons,
  }),

  runCron: async ({ params }, call) => {
    const { ctx } = call
    const run = await scheduler.of(ctx).run(params.name)
    const subject = { kind: 'cron', id: params.name }
    // The run uses many transactions, so the admin log entry gets a transaction of its own.
    await commit(ctx, (t, draw) =>
      audit(t, draw, { act: 'cron.run', subject, changed: true, detail: { result: run.result }, by: call }),
    )
    return { name: params.name, run }
  },

  pauseCron: pausing(true),
  resumeCron: pausing(false),
}

function pausing(isPaused: boolean): FreeHandler<Api['pauseCron']> {
  return async ({ params }, call) => {
    const subject = { kind: 'cron', id: params.name }
    const act = isPaused ? 'cron.pause' : 'cron.resume'
    let changed = false
    const view = await scheduler.of(call.ctx).setPaused(params.name, isPaused, async (t, draw, isChange) => {
      changed = isChange
      await audit(t, draw, { act, subject, changed, by: call })
    })
    return { ...cronView(view), changed }
  }
}

function cronView({ cron, row, health, isRunning, nextRun }: CronView) {
  return {
    ...health,
    name: cron.name,
    schedule: cron.schedule.pattern,
    interval_seconds: cron.schedule.intervalMs / SECOND_MS,
    paused: row.paused_at !== null,
    paused_at: row.paused_at,
    running: isRunning,
    next_run: nextRun,
    runs: row.runs,
  }
}
