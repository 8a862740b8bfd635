import type { eventsApi } from '../../src/api/sections/events.ts'
import { DEFAULT_PAGE } from '../../src/core/limits.ts'
import type { FreeHandler, FreeHandlers } from '../endpoint/handler.ts'
import { followOwn, pageOfOwn, startOf } from './own.ts'

const readEvents: FreeHandler<typeof eventsApi.readEvents> = async ({ query }, { ctx, caller, signal }) => {
  const { cursor, types, wait = 0, limit = DEFAULT_PAGE } = query
  const from = await ctx.store.read((t) => startOf(t, caller.id, cursor))
  const reading = { participantId: caller.id, from, types: types?.split(','), signal: signal() }
  return {
    page: () => pageOfOwn(ctx, { ...reading, limit, waitSeconds: wait }),
    follow: () => followOwn(ctx, reading),
  }
}

export const eventsRoutes: FreeHandlers<typeof eventsApi> = { readEvents }
