import type { subscriptionsApi } from '../../../src/api/sections/plans.ts'
import { AppError, existing } from '../../../src/core/error.ts'
import type { FreeHandlers } from '../../endpoint/handler.ts'
import type { Context } from '../../kernel/context.ts'
import { notYours, ownRows, sideOf } from '../../kernel/parties.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import { commit } from '../../store/draw.ts'
import type { ReadTx, Tx } from '../../store/port.ts'
import { applyStep, lockSubscription, type SubscriptionStep } from './apply.ts'
import type { SubscriptionEvent } from './machine.ts'
import { subscriptionView } from './plan-view.ts'
import { plans, type SubscriptionRow, subscriptionParties, subscriptions } from './rows.ts'

export const subscriptionRoutes: FreeHandlers<typeof subscriptionsApi> = {
  listSubscriptions: async ({ query }, { ctx, caller, now }) => {
    const own = { ...query, wallet: caller.wallet }
    const of = { parties: subscriptionParties, rows: subscriptions }
    const { rows, ...page } = await ctx.store.read((t) => ownRows(t, of, own))
    return { subscriptions: rows.map((row) => subscriptionView(row, now)), ...page }
  },

  getSubscription: async ({ params }, { ctx, caller, now }) => {
    const row = existing(await ctx.store.table(subscriptions).get(params.id), 'The subscription')
    if (!sideOf(row, caller)) throw notYours('The subscription')
    return subscriptionView(row, now)
  },

  /** Cancels at the end of the paid period; immediately on request, or if no period is paid. */
  cancelSubscription: ({ params, body }, { ctx, caller, now }) =>
    change(ctx, { id: params.id, caller, now }, async (row) => {
      const isOpen = row.status === 'active' || row.status === 'paused'
      const waits = (body.at_period_end ?? true) && isOpen && now < row.current_period_end
      if (!waits) return { event: 'cancel', change: { canceled_at: now } }
      if (row.cancel_at_period_end) return undefined
      return { event: 'cancel_at_period_end', change: { cancel_at_period_end: true, canceled_at: now } }
    }),

  /** The paid period continues. At its end, the next period is not charged. */
  pauseSubscription: ({ params }, { ctx, caller, now }) =>
    change(ctx, { id: params.id, caller, now }, async () => ({ event: 'pause', change: { paused_at: now } })),

  /** If the paid period is over, the next cron run charges a new one. Only `keep: true` undoes a planned cancellation. */
  resumeSubscription: ({ params, body }, { ctx, caller, now }) =>
    change(ctx, { id: params.id, caller, now }, async (row, t) => {
      const isEnding = row.status === 'active' && row.cancel_at_period_end
      if (isEnding && body.keep !== true) throw stillEnding(row)
      const event: SubscriptionEvent = isEnding ? 'keep' : 'resume'
      const kept = body.keep === true ? { cancel_at_period_end: false, canceled_at: null } : {}
      if (row.live) await refuseWithoutPlan(t, row)
      const lapsed = event === 'resume' && now >= row.current_period_end
      return { event, change: { ...kept, paused_at: null, lapsed } }
    }),
}

function stillEnding({ current_period_end: end }: SubscriptionRow): AppError {
  const until = new Date(end).toISOString()
  return new AppError('conflict', `The subscription is cancelled and ends at ${until}: send {"keep": true} to keep it.`)
}

async function refuseWithoutPlan(t: ReadTx, { plan_id }: SubscriptionRow): Promise<void> {
  const plan = await t.table(plans).get(plan_id)
  if (plan?.status === 'active') return
  const why = plan?.status === 'suspended' ? 'The provider of the plan is suspended' : 'The plan was deleted'
  throw new AppError('conflict', `${why}: the subscription cannot be continued.`)
}

type SubscriptionParams = { readonly id: string; readonly caller: ParticipantRow; readonly now: number }
/** Undefined: already so. */
type Act = (row: SubscriptionRow, t: Tx) => Promise<Pick<SubscriptionStep, 'event' | 'change'> | undefined>

/**
 * Changes a subscription for its subscriber.
 * @throws AppError 404 for an unknown subscription, 403 for any other caller, 409 in a wrong state
 */
async function change(ctx: Context, { id, caller, now }: SubscriptionParams, act: Act) {
  const row = await commit(ctx, async (t, draw) => {
    const locked = existing(await lockSubscription(t, id), 'The subscription')
    if (locked.buyer_wallet !== caller.wallet) throw notYours('The subscription')
    const step = await act(locked, t)
    return step ? applyStep(t, draw, { subscription: locked, step: { ...step, by: 'subscriber', at: now } }) : locked
  })
  return subscriptionView(row, now)
}
