import type { statsApi } from '../../../src/api/sections/stats.ts'
import { AppError } from '../../../src/core/error.ts'
import { SECOND_MS } from '../../../src/core/time.ts'
import type { FreeHandler, FreeHandlers } from '../../endpoint/handler.ts'
import { readWatching, snapshotSchedule, viewCounts } from './view-counts.ts'

const recordEvent: FreeHandler<typeof statsApi.recordEvent> = async (_input, { ctx, visitor }) => {
  viewCounts.of(ctx).count('explorer_interactions', visitor())
  return undefined
}

const getWatching: FreeHandler<typeof statsApi.getWatching> = async (_input, { ctx, now }) => {
  const watching = await readWatching(ctx.store)
  if (!watching) {
    const retryAfter = Math.ceil((snapshotSchedule.after(now) - now) / SECOND_MS)
    throw new AppError('not_built_yet', 'The first nightly snapshot is taken at 02:00 UTC.', { retryAfter })
  }
  const days = watching.days.map(({ id, trust_queries, explorer_interactions, distinct_callers }) => ({
    date: id,
    trust_queries,
    explorer_interactions,
    distinct_callers,
  }))
  return { as_of: watching.as_of, days }
}

export const statsRoutes: FreeHandlers<typeof statsApi> = { recordEvent, getWatching }
