import { formatAmount } from '../../../src/core/money.ts'
import { emit } from '../../events/event-log.ts'
import type { Draw } from '../../store/draw.ts'
import type { Tx } from '../../store/port.ts'
import { enqueue } from '../webhooks/queue.ts'
import type { SubscriptionRow } from './rows.ts'

/** What has happened to a subscription, as both parties' events and the provider's endpoint name it (decisions §10). */
export type Word = 'created' | 'renewed' | 'past_due' | 'expired' | 'canceled' | 'paused' | 'resumed'

type Told = { readonly subscription: SubscriptionRow; readonly word: Word; readonly at: number }

export async function tell(t: Tx, draw: Draw, { subscription: row, word, at }: Told): Promise<void> {
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
