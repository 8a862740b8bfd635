import type { SubscriptionDueEvent } from '../../../src/model/words.ts'
import { type DueWork, dueWork } from '../../crons/due-work.ts'
import { countRefusal } from '../../kernel/refusals.ts'
import { providerOf } from '../../kernel/rows.ts'
import { type Platform, readPlatform } from '../../kernel/switches.ts'
import { commit } from '../../store/draw.ts'
import type { Tx } from '../../store/port.ts'
import { compliance } from '../sanctions/sanctions.ts'
import { applyStep, canBeCharged, lockSubscription, type SubscriptionStep } from './apply.ts'
import { agreedBundle } from './coverage.ts'
import { renewedPeriod } from './periods.ts'
import { isLastTry } from './plan-view.ts'
import { type SubscriptionRow, subscriptions } from './rows.ts'

type Item = { readonly subscription: SubscriptionRow; readonly at: number; readonly isSanctioned: boolean }

type Kind = {
  readonly event: SubscriptionDueEvent
  /** Whether this work waits because of a platform switch, such as the platform pause. */
  readonly rests: (platform: Platform) => boolean
  readonly stepOf: (t: Tx, item: Item) => Promise<Omit<SubscriptionStep, 'by' | 'at'>>
}

const kinds: readonly Kind[] = [
  { event: 'lapse', rests: ({ paused_at }) => paused_at !== null, stepOf: lapse },
  { event: 'renew', rests: ({ paused_at, checkout_v2 }) => paused_at !== null || checkout_v2, stepOf: renew },
]

/** Ends a paid period; the next period is not charged. */
async function lapse(t: Tx, { subscription, at }: Item): ReturnType<Kind['stepOf']> {
  const isEnd = subscription.cancel_at_period_end || (await agreedBundle(t, subscription)) === undefined
  return isEnd ? ending(subscription, at) : { event: 'lapse' }
}

/**
 * Charges one period (decisions §9) for the agreed bundle and price. If that bundle is gone, the subscription ends. If
 * the provider is suspended, the subscription is paused until the subscriber resumes it. If a charge fails, or a
 * service is unavailable, the charge is retried on later days; the last failure ends the subscription.
 */
async function renew(t: Tx, { subscription, at, isSanctioned }: Item): ReturnType<Kind['stepOf']> {
  const bundle = await agreedBundle(t, subscription)
  if (!bundle) return ending(subscription, at)
  if ((await providerOf(t, subscription)).suspended_at !== null) {
    return { event: 'hold', change: { paused_at: at, failures: 0, past_due_since: null } }
  }
  const isServed = bundle.every(({ status }) => status === 'active')
  if (isSanctioned || !isServed || !(await canBeCharged(t, subscription))) return failing(subscription, at)
  const { charges } = subscription
  const paid = { charges: charges + 1, failures: 0, past_due_since: null, lapsed: false }
  return { event: 'renew', change: { ...paid, ...renewedPeriod(subscription, at) } }
}

function ending({ canceled_at }: SubscriptionRow, at: number): Omit<SubscriptionStep, 'by' | 'at'> {
  return { event: 'end', change: { canceled_at: canceled_at ?? at } }
}

function failing(
  { failures: before, past_due_since: since }: SubscriptionRow,
  at: number,
): Omit<SubscriptionStep, 'by' | 'at'> {
  const failures = before + 1
  return { event: isLastTry(failures) ? 'expire' : 'fail', change: { failures, past_due_since: since ?? at } }
}

export const subscriptionWork: readonly DueWork[] = kinds.map(({ event, rests, stepOf }) =>
  dueWork({
    name: `subscription.${event}`,
    collection: subscriptions,
    index: 'due',
    prefix: [event],
    dueAt: (row) => row.next_event_at,
    rests,
    async run(ctx, id, now) {
      const seen = await ctx.store.table(subscriptions).get(id)
      const isSanctioned =
        event === 'renew' && seen !== undefined && (await compliance.of(ctx).isSanctioned(seen.buyer_wallet))
      if (isSanctioned) countRefusal(ctx, 'sanctioned')
      await commit(ctx, async (t, draw) => {
        const subscription = await lockSubscription(t, id)
        if (subscription?.next_event !== event || !isDue(subscription, now) || rests(await readPlatform(t))) return
        const step = { ...(await stepOf(t, { subscription, at: now, isSanctioned })), by: 'system', at: now } as const
        await applyStep(t, draw, { subscription, step })
      })
    },
  }),
)

function isDue({ next_event_at: at }: SubscriptionRow, now: number): boolean {
  return at !== null && at <= now
}
