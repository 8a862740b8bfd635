import { formatAmount } from '../../../src/core/money.ts'
import { emit } from '../../events/event-log.ts'
import { nextMembers, transition } from '../../kernel/machine.ts'
import { participants } from '../../kernel/rows.ts'
import type { Draft, Draw, ReadTx, Tx } from '../../store/port.ts'
import { account, legsOf } from '../ledger/legs.ts'
import { balanceOf, post } from '../ledger/post.ts'
import { referrersOf } from '../referrals/referrals.ts'
import { enqueue } from '../webhooks/queue.ts'
import { bundleNow, followCoverage } from './coverage.ts'
import {
  isOver,
  type SubscriptionEvent,
  type SubscriptionRole,
  type SubscriptionTransition,
  subscriptionMachine,
} from './machine.ts'
import { nextOf } from './plan-view.ts'
import { putSubscription, type SubscriptionRow, subscriptions } from './rows.ts'

/** Names of a subscription's events (decisions §10). */
type Word = 'created' | 'renewed' | 'past_due' | 'expired' | 'canceled' | 'paused' | 'resumed'

export async function notifyParties(
  t: Tx,
  draw: Draw,
  { subscription: row, word, at }: { readonly subscription: SubscriptionRow; readonly word: Word; readonly at: number },
): Promise<void> {
  const type = `subscription.${word}` as const
  const data = {
    subscription_id: row.id,
    plan_id: row.plan_id,
    plan_name: row.plan_name,
    subscriber_id: row.participant_id,
    status: row.status,
    amount: formatAmount(row.amount),
    current_period_start: new Date(row.current_period_start).toISOString(),
    current_period_end: new Date(row.current_period_end).toISOString(),
    cancel_at_period_end: row.cancel_at_period_end,
  }
  for (const participantId of [row.provider_id, row.participant_id]) {
    await emit(t, draw, { type, participantId, subject: { kind: 'subscription', id: row.id }, data, at })
  }
  await enqueue(t, draw, { participantId: row.provider_id, sender: row.participant_id, type, data, now: at })
}

/** Fields that a step changes, besides those that follow from the new status. */
type Change = Partial<
  Pick<
    SubscriptionRow,
    | 'cancel_at_period_end'
    | 'anchor_at'
    | 'period_number'
    | 'current_period_start'
    | 'current_period_end'
    | 'lapsed'
    | 'charges'
    | 'failures'
    | 'past_due_since'
    | 'paused_at'
    | 'canceled_at'
  >
>

export type SubscriptionStep = {
  readonly event: SubscriptionEvent
  readonly by: SubscriptionRole
  readonly at: number
  readonly change?: Change
}

export function lockSubscription(t: Tx, id: string): Promise<SubscriptionRow | undefined> {
  return t.table(subscriptions).getForUpdate(id)
}

/**
 * The only way to change a subscription's state. Writes row, money, coverage, events and messages in the caller's
 * transaction, which has locked the row.
 * @throws AppError 409 invalid_transition with `from`, `to` and `allowed`; nothing is written then.
 */
export async function applyStep(
  t: Tx,
  draw: Draw,
  { subscription, step }: { readonly subscription: SubscriptionRow; readonly step: SubscriptionStep },
): Promise<SubscriptionRow> {
  const { event, by, at } = step
  const arrow: SubscriptionTransition = transition(subscriptionMachine, { event, from: subscription.status, by })
  const effects: readonly string[] = arrow.effects
  const isCharged = effects.includes('charge')
  if (isCharged) await charge(t, draw, { subscription, at })
  const changed = await putSubscription(t, settled(changedBy(subscription, arrow, step), at))
  if (isCharged) await followCoverage(t, changed, await bundleNow(t, changed))
  else if (!changed.live) await followCoverage(t, changed, new Map())
  if (effects.includes('tell')) await notifyParties(t, draw, { subscription: changed, word: wordOf(arrow), at })
  return changed
}

function changedBy(
  subscription: SubscriptionRow,
  { to }: SubscriptionTransition,
  { at, change = {} }: SubscriptionStep,
): SubscriptionRow {
  const isEnd = isOver(to)
  return { ...subscription, ...change, status: to, live: !isEnd, updated_at: at, ended_at: isEnd ? at : null }
}

/** Sets the next automatic event of a subscription that was changed at `at`. */
export function settled<R extends Draft<SubscriptionRow>>(row: R, at: number): R {
  return { ...row, ...nextMembers(nextOf(row, at)) }
}

function wordOf({ event, to }: SubscriptionTransition): Word {
  if (event === 'renew') return 'renewed'
  return to === 'active' ? 'resumed' : to
}

/** Whether the subscriber is active and has enough balance for the price. */
export async function canBeCharged(t: ReadTx, { participant_id, amount }: SubscriptionRow): Promise<boolean> {
  const subscriber = await t.table(participants).get(participant_id)
  if (!subscriber || subscriber.suspended_at !== null) return false
  return (await balanceOf(t, account.balance(participant_id))) >= amount
}

type Charge = { readonly subscription: SubscriptionRow; readonly at: number }

/** Charges the next period to the balance (decisions §5, posting table). */
async function charge(t: Tx, draw: Draw, { subscription, at }: Charge): Promise<void> {
  const { id, participant_id, provider_id: providerId, amount, provider_amount, fee } = subscription
  const legs = legsOf.instantSale({
    source: account.balance(participant_id),
    providerId,
    split: { agent: amount, net: provider_amount, fee },
    referrers: await referrersOf(t, { buyer: { participantId: participant_id }, providerId }),
  })
  await post(t, draw, { kind: 'renewal', ref: { kind: 'subscription', id }, legs, at })
}
