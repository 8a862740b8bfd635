import { serviceFields } from '../../../src/api/endpoint/list-fields.ts'
import type { marketAdminApi } from '../../../src/api/sections/admin-market.ts'
import type { catalogAdminApi } from '../../../src/api/sections/admin-services.ts'
import type { FreeHandlers } from '../../endpoint/handler.ts'
import { participants } from '../../kernel/rows.ts'
import type { ReadTx } from '../../store/port.ts'
import { listedPage } from '../../store/searched-page.ts'
import { type ServiceRow, services } from '../listings/rows.ts'
import { splitOf } from '../listings/versions.ts'
import { webhookStatusOf } from '../listings/write.ts'
import { postingAdminRoutes } from '../postings/routes.ts'
import { productAdminRoutes } from '../products/routes.ts'
import { standings } from '../reputation/rows.ts'
import { NO_JOBS, standingOf } from '../reputation/score.ts'
import { ofProvider } from '../reputation/standings.ts'
import { type SoldFigures, type SoldOf, soldFigures } from '../sales/payees.ts'
import { planAdminRoutes } from '../subscriptions/admin-routes.ts'
import { deliveries } from '../webhooks/rows.ts'
import { viewOf } from './routes.ts'

export const catalogAdminRoutes: FreeHandlers<typeof catalogAdminApi & typeof marketAdminApi> = {
  listAllServices: async ({ query }, call) => {
    const { store } = call.ctx
    const { status = 'active' } = query
    const sold = soldFigures.of(call.ctx)
    const list = {
      rows: services,
      index: 'status',
      prefix: [status],
      fields: serviceFields,
      factsOf: factsIn(store, sold),
    }
    const { rows, ...found } = await listedPage(store, list, { ...query, now: call.now })
    const week = await sold.week()
    const shown = await Promise.all(
      rows.map(async (row) => ({
        ...(await viewOf(call, row, { detail: false })),
        selling: await sellingOf(store, row, week.of(row.id)),
      })),
    )
    return { services: shown, ...found }
  },

  ...planAdminRoutes,

  ...postingAdminRoutes,

  ...productAdminRoutes,
}

const factsIn =
  (t: ReadTx, sold: SoldFigures) => async (row: ServiceRow, uses: (field: keyof typeof serviceFields) => boolean) => {
    const ofOwner = uses('provider') || uses('verified') || uses('hook')
    const owner = ofOwner ? await t.table(participants).get(row.provider_id) : undefined
    return {
      id: row.id,
      name: row.name,
      provider: owner === undefined ? row.provider_id : [owner.name, owner.id],
      category: row.category,
      tag: row.tags,
      kind: row.fulfillment_type,
      type: row.service_type,
      price: splitOf(row)?.agent ?? null,
      reputation: uses('reputation') ? await scoreOf(t, row.provider_id) : null,
      sold: uses('sold') ? BigInt((await sold.week()).of(row.id).sold) : null,
      verified: owner?.verification_tier === 'identity_verified',
      hook: owner === undefined ? null : webhookStatusOf(row, owner),
      age: row.listed_at,
    }
  }

/** Number of an endpoint's newest messages whose attempts are read. The last success is searched among them. */
const TRIED_ROWS = 5

/** A listing's sales, and the result of the latest call to its endpoint. */
async function sellingOf(t: ReadTx, { id }: ServiceRow, { sold, byDay, refunded }: SoldOf) {
  const { rows } = await t.table(deliveries).page('tried', [id], { limit: TRIED_ROWS })
  const tries = rows.flatMap(({ attempts }) => attempts.toReversed())
  const [last] = tries
  const taken = tries.findIndex(({ error }) => error === null)
  const failures = taken < 0 ? tries.length : taken
  const call = last && { at: last.at, status: last.status, ms: last.latency_ms, failures }
  return { sold, by_day: [...byDay], refunded, last_call: call ?? null }
}

/** Rounded for lists. */
async function scoreOf(t: ReadTx, providerId: string): Promise<bigint> {
  const standing = await t.table(standings).get(ofProvider(providerId).id)
  return BigInt(Math.round(standingOf(standing?.sums ?? NO_JOBS).score))
}
