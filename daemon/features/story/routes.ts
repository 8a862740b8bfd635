import type { requestsApi } from '../../../src/api/sections/admin-requests.ts'
import { DEFAULT_PAGE } from '../../../src/core/limits.ts'
import { SECOND_MS } from '../../../src/core/time.ts'
import type { FreeHandler, FreeHandlers } from '../../endpoint/handler.ts'
import type { Context } from '../../kernel/context.ts'
import { type LoggedRequest, requestLog } from './request-log.ts'
import { durableRequest, durableRequests, type Filters, matcherOf, recordOf } from './requests.ts'
import { storyOf } from './story.ts'

/** Rows of the store that are looked at to remember what came before the last start. */
const DURABLE_ROWS = 1_000

const listRequests: FreeHandler<typeof requestsApi.listRequests> = async ({ query }, { ctx, signal }) => {
  const { limit = DEFAULT_PAGE, cursor, wait = 0, ...filters } = query
  const log = requestLog.of(ctx)
  const from = cursor === undefined || cursor > log.last() ? 0 : cursor // numbers begin anew with each start
  if (wait > 0 && cursor !== undefined) {
    await log.wait(from, AbortSignal.any([signal(), ctx.stopping, AbortSignal.timeout(wait * SECOND_MS)]))
  }
  const last = log.last()
  const found = cursor === undefined ? await remembered(ctx, filters) : log.after(from)
  const requests = await ctx.store.read(async (t) => {
    const wanted = await matcherOf(t, filters)
    return Promise.all(
      found
        .filter(wanted)
        .slice(-limit)
        .map((request) => recordOf(t, request)),
    )
  })
  return { requests, next_cursor: String(last) }
}

/** All that is known, oldest first: what the store remembers of earlier, then the ring, then what is under way. */
async function remembered(ctx: Context, { request }: Filters): Promise<LoggedRequest[]> {
  const log = requestLog.of(ctx)
  if (request !== undefined) {
    const one = log.find(request) ?? (await ctx.store.read((t) => durableRequest(t, request)))
    return one ? [one] : []
  }
  const known = [...log.after(0), ...log.underWay()]
  const ids = new Set(known.map(({ id }) => id))
  const older = (await ctx.store.read((t) => durableRequests(t, DURABLE_ROWS))).filter(({ id }) => !ids.has(id))
  return [...older, ...known].toSorted((one, two) => one.at - two.at)
}

const getRequestStory: FreeHandler<typeof requestsApi.getRequestStory> = async ({ params }, { ctx }) =>
  ctx.store.read((t) => storyOf({ t, log: requestLog.of(ctx) }, params.id))

export const storyRoutes: FreeHandlers<typeof requestsApi> = { listRequests, getRequestStory }
