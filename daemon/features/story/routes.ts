import type { requestsApi } from '../../../src/api/sections/admin-requests.ts'
import { DEFAULT_PAGE } from '../../../src/core/limits.ts'
import { SECOND_MS } from '../../../src/core/time.ts'
import type { FreeHandlers } from '../../endpoint/handler.ts'
import type { Context } from '../../kernel/context.ts'
import { payments } from '../payments/rows.ts'
import {
  durableRequest,
  durableRequests,
  type Filters,
  idsIn,
  type LoggedRequest,
  matcherOf,
  recordOf,
  requestLog,
} from './requests.ts'
import { type Telling, tellingOf, tellRequest } from './steps.ts'
import { storyOf } from './story.ts'

/** Maximum payments, and maximum operator actions, that are read to find HTTP requests missing in the log. */
const DURABLE_ROWS = 1_000

export const storyRoutes: FreeHandlers<typeof requestsApi> = {
  listRequests: async ({ query }, { ctx, signal }) => {
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
      const telling = tellingOf(t, log)
      const told = filters.request === undefined ? recordOf : countedOf
      return Promise.all(
        found
          .filter(wanted)
          .slice(-limit)
          .map((request) => told(telling, request)),
      )
    })
    return { requests, next_cursor: String(last) }
  },

  getRequestStory: async ({ params }, { ctx }) =>
    ctx.store.read((t) => storyOf(tellingOf(t, requestLog.of(ctx)), params.id)),

  getOwnStory: async ({ params }, { ctx, caller }) =>
    ctx.store.read((t) => storyOf(tellingOf(t, requestLog.of(ctx), caller), params.id)),
}

/** All known requests, oldest first: from the store, and from the log, including those in progress. */
async function remembered(ctx: Context, { request }: Filters): Promise<LoggedRequest[]> {
  const log = requestLog.of(ctx)
  if (request !== undefined) {
    const ids = idsIn(request)
    const all = await ctx.store.read((t) => Promise.all(ids.map((id) => log.find(id) ?? durableRequest(t, id))))
    return all.filter((one) => one !== undefined).toSorted((one, two) => one.at - two.at)
  }
  const known = [...log.after(0), ...log.underWay()]
  const ids = new Set(known.map(({ id }) => id))
  const older = (await ctx.store.read((t) => durableRequests(t, DURABLE_ROWS))).filter(({ id }) => !ids.has(id))
  return [...older, ...known].toSorted((one, two) => one.at - two.at)
}

/** A request with its number of steps. Counting them reads the whole trace, so call it for few requests only. */
async function countedOf(telling: Telling, request: LoggedRequest) {
  const { t } = telling
  const payment = request.payment === null ? undefined : await t.table(payments).get(request.payment)
  const { steps } = await tellRequest(telling, request, payment)
  return { ...(await recordOf(telling, request)), steps: steps.length }
}
