import { planFields, subscriptionFields } from '../../../src/api/endpoint/list-fields.ts'
import type { marketAdminApi } from '../../../src/api/sections/admin-market.ts'
import type { FreeHandlers } from '../../endpoint/handler.ts'
import { participants, providerOf } from '../../kernel/rows.ts'
import type { ReadTx } from '../../store/port.ts'
import { listedPage } from '../../store/searched-page.ts'
import { planSplit, planView, subscriptionView } from './plan-view.ts'
import { type PlanRow, plans, type SubscriptionRow, subscriptions } from './rows.ts'

const stored = { active: 'active', inactive: 'suspended' } as const

export const planAdminRoutes: FreeHandlers<Pick<typeof marketAdminApi, 'listAllPlans' | 'listAllSubscriptions'>> = {
  listAllPlans: async ({ query }, { ctx, now }) => {
    const { status = 'active' } = query
    const place = { rows: plans, index: 'newest', prefix: [stored[status]] }
    const list = { ...place, fields: planFields, factsOf: planFactsIn(ctx.store) }
    const { rows, ...found } = await listedPage(ctx.store, list, { ...query, now })
    const shown = await ctx.store.read((t) => Promise.all(rows.map((row) => planView(t, row))))
    return { plans: shown, ...found }
  },

  listAllSubscriptions: async ({ query }, { ctx, now }) => {
    const { ended = false } = query
    const place = { rows: subscriptions, index: 'newest', prefix: [!ended] }
    const list = { ...place, fields: subscriptionFields, factsOf: subscriptionFactsIn(ctx.store) }
    const { rows, ...found } = await listedPage(ctx.store, list, { ...query, now })
    const shown = await ctx.store.read((t) =>
      Promise.all(
        rows.map(async (row) => ({
          ...subscriptionView(row, now),
          subscriber_name: await nameOf(t, row.participant_id),
          provider_name: await nameOf(t, row.provider_id),
        })),
      ),
    )
    return { subscriptions: shown, ...found }
  },
}

const planFactsIn = (t: ReadTx) => async (row: PlanRow, uses: (field: keyof typeof planFields) => boolean) => {
  const provider = uses('provider') || uses('price') ? await providerOf(t, row) : undefined
  return {
    id: row.id,
    name: row.name,
    provider: [row.provider_id, ...(provider === undefined ? [] : [provider.name])],
    period: row.billing_period,
    price: provider === undefined ? null : planSplit(row, provider).agent,
    subscribers: uses('subscribers') ? BigInt(await t.table(subscriptions).count('plan', [row.id])) : null,
    age: row.created_at,
  }
}

const subscriptionFactsIn =
  (t: ReadTx) => async (row: SubscriptionRow, uses: (field: keyof typeof subscriptionFields) => boolean) => ({
    id: row.id,
    status: row.status,
    plan: [row.plan_id, row.plan_name],
    buyer: [row.participant_id, row.buyer_wallet, ...(uses('buyer') ? [await nameOf(t, row.participant_id)] : [])],
    provider: [row.provider_id, ...(uses('provider') ? [await nameOf(t, row.provider_id)] : [])],
    period: row.billing_period,
    amount: row.amount,
    ending: row.cancel_at_period_end,
    failed: BigInt(row.failures),
    age: row.created_at,
  })

async function nameOf(t: ReadTx, id: string): Promise<string> {
  return (await t.table(participants).get(id))?.name ?? ''
}
