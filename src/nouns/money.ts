import type { WireAnswer } from '../api/endpoint/define.ts'
import type { Api } from '../api/index.ts'
import { SOLD_DAYS } from '../core/limits.ts'
import { id, money, name, state, time, word } from './columns.ts'
import type { Noun } from './noun.ts'

/* What the operator looks at of the money, and of what operators did. */

/** Money that waits: whose it is, why, and what happens next. */
export const hold: Noun<WireAnswer<Api['getHolds']>['holds'][number]> = {
  name: 'hold',
  plural: 'holds',
  list: 'getHolds',
  none: 'nothing is held',
  idOf: ({ account }) => account,
  nameOf: ({ reason }) => reason,
  columns: [
    id('ACCOUNT', ({ account }) => account),
    money('AMOUNT', ({ amount }) => `$${amount}`),
    name('WHY', ({ reason }) => reason),
    word('NEXT', ({ next_event }) => next_event),
    time('AT', ({ next_event_at }) => next_event_at, { drop: 1 }),
  ],
}

/** Money that leaves through the chain. */
export const payout: Noun<WireAnswer<Api['getPayouts']>['payouts'][number]> = {
  name: 'payout',
  plural: 'payouts',
  list: 'getPayouts',
  none: 'no such payout',
  idOf: (one) => one.id,
  nameOf: ({ kind }) => kind,
  columns: [
    id('PAYOUT', (one) => one.id),
    word('FOR', ({ kind }) => kind),
    money('AMOUNT', ({ amount }) => `$${amount}`, { plain: ({ amount }) => amount }),
    state('STATUS', ({ status, blocked }) => (blocked ? 'blocked' : status)),
    time('NEXT', ({ next_attempt_at }) => next_attempt_at, { drop: 1 }),
    name('WHY', ({ last_error }) => last_error, { drop: 2 }),
    word('WALLET', ({ wallet }) => wallet, { drop: 3 }),
  ],
}

type Payee = WireAnswer<Api['listPayees']>['payees'][number]

const sum = (title: string, member: 'sold' | 'earned' | 'paid' | 'due' | 'held', drop?: number) =>
  money<Payee>(title, (payee) => `$${payee[member]}`, {
    plain: (payee) => payee[member],
    ...(drop === undefined ? {} : { drop }),
  })

/** Who sells, and what of it is earned, paid, due and held. */
export const payee: Noun<Payee> = {
  name: 'payee',
  plural: 'payees',
  list: 'listPayees',
  none: 'no sellers yet',
  idOf: ({ participant_id }) => participant_id,
  nameOf: (one) => one.name,
  columns: [
    id('PAYEE', ({ participant_id }) => participant_id),
    name('NAME', (one) => one.name),
    sum(`SOLD ${SOLD_DAYS}D`, 'sold', 3),
    sum('EARNED', 'earned'),
    sum('PAID', 'paid'),
    sum('DUE', 'due'),
    sum('HELD', 'held'),
    time('NEXT', ({ next_settlement_at }) => next_settlement_at, { drop: 1 }),
    word('WALLET', ({ wallet }) => wallet, { drop: 2 }),
  ],
}

/** What an administrator did. */
export const act: Noun<WireAnswer<Api['getAdminLog']>['acts'][number]> = {
  name: 'act',
  plural: 'acts',
  list: 'getAdminLog',
  none: 'nothing was done',
  idOf: ({ seq }) => String(seq),
  nameOf: (one) => one.act,
  columns: [
    time('AT', ({ at }) => at),
    word('ACT', (one) => one.act),
    word('ABOUT', ({ subject }) => subject.id),
    word('CHANGED', ({ changed }) => (changed ? 'yes' : 'no'), { plain: ({ changed }) => changed }),
    name('WHY', ({ reason }) => reason, { drop: 1 }),
    word('REQUEST', ({ request_id }) => request_id, { drop: 2 }),
  ],
}
