import type { WireAnswer } from '../api/index.ts'
import { ENDING_WORD, subscriptionWords } from '../model/state-words.ts'
import { shortAddress } from '../text/text.ts'
import * as column from './columns.ts'
import type { Noun } from './noun.ts'
import { rate } from './plans.ts'
import { dim, good, statesOf, warn } from './tones.ts'

/** A subscription. Only operator lists have the names of subscriber and provider. */
export type Subscription = WireAnswer<'getSubscription'> & {
  readonly subscriber_name?: string
  readonly provider_name?: string
}

const states = statesOf(subscriptionWords, {
  active: good('●'),
  past_due: warn('!'),
  paused: warn('‖'),
  canceled: dim('×'),
  expired: dim('–'),
})

function isEnding({ cancel_at_period_end, ended_at }: Subscription): boolean {
  return cancel_at_period_end && ended_at === null
}

const subscriberOf = ({ subscriber, subscriber_name: name }: Subscription) => name || shortAddress(subscriber.wallet)
const providerOf = ({ provider_id, provider_name: name }: Subscription) => name || provider_id

export const subscription: Noun<Subscription> = {
  name: 'subscription',
  plural: 'subscriptions',
  list: 'listAllSubscriptions',
  none: 'no such subscription',
  source: ['a buyer subscribes to a plan', 'souk plans subscribe PLAN'],
  idOf: ({ subscription_id }) => subscription_id,
  nameOf: ({ plan_name }) => plan_name,
  stateOf: (row) => (isEnding(row) ? warn(`● ${ENDING_WORD}`) : states[row.status]),
  columns: [
    column.id('SUBSCRIPTION', ({ subscription_id }) => subscription_id),
    column.name('PLAN', ({ plan_name }) => plan_name),
    column.state(
      'STATUS',
      (row) => (isEnding(row) && row.status !== 'past_due' ? `${row.status}, ending` : row.status),
      { plain: ({ status }) => status },
    ),
    column.word('SUBSCRIBER', subscriberOf, { drop: 3, on: ['all', 'screen'] }),
    column.word('PROVIDER', providerOf, { drop: 4, on: ['all', 'screen'] }),
    column.money('PRICE', ({ amount, billing_period }) => rate(amount, billing_period), {
      plain: ({ amount }) => amount,
      drop: 2,
    }),
    column.count('PAID', ({ periods_paid }) => periods_paid, { drop: 2, on: ['screen'] }),
    column.time('UNTIL', ({ current_period_end }) => current_period_end, { on: ['own', 'all'] }),
    column.time('NEXT CHARGE', ({ next_charge_at }) => next_charge_at, { drop: 1, on: ['own'] }),
    column.next((row) => {
      if (isEnding(row)) return ['ends', row.current_period_end]
      return row.next_charge_at === null ? undefined : ['is charged', row.next_charge_at]
    }),
    column.age(({ created_at }) => created_at),
  ],
  facts: (row) => [
    ['plan', `${row.plan_id}   ${row.plan_name}`],
    ['subscriber', `${subscriberOf(row)}   ${row.subscriber.participant_id}`],
    ['wallet', row.subscriber.wallet],
    ['provider', row.provider_name === undefined ? row.provider_id : `${providerOf(row)}   ${row.provider_id}`],
    [
      'price',
      `${rate(row.amount, row.billing_period)}: the provider gets $${row.provider_amount}, the platform $${row.fee}`,
    ],
    ['paid', `${row.periods_paid} times, first by ${row.payment.method}   ${row.receipt_id}`],
    ['period', `${row.current_period_start} to ${row.current_period_end}`],
    ['access', row.has_access ? 'purchases are free of charge' : 'none: purchases are charged at the listed price'],
    ['charge', row.next_charge_at === null ? '' : `${row.next_charge_at}, from the balance`],
    ['failed', row.failed_charges === 0 ? '' : `${row.failed_charges} failed charges; retried for 3 days`],
    ['ended', row.ended_at ?? ''],
  ],
}
