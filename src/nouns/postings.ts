import type { WireAnswer } from '../api/index.ts'
import * as column from './columns.ts'
import type { Noun } from './noun.ts'
import { accent, dim, good, type Toned } from './tones.ts'

/** A request. Only operator lists have the poster's name. */
export type Posting = WireAnswer<'getPosting'> & { readonly poster_name?: string }

const CENTS = 2
const MICROS = 6

/** Dollars with two to six decimals. */
export function dollars(value: number): string {
  const [whole = '0', cents = ''] = value.toFixed(MICROS).split('.')
  return `$${whole}.${cents.replace(/0+$/, '').padEnd(CENTS, '0')}`
}

/** `$1.50 to $25.00`; `$25.00` without a minimum. */
export function budgetOf({
  budget_min_usd: min,
  budget_max_usd: max,
}: Pick<Posting, 'budget_min_usd' | 'budget_max_usd'>): string {
  return min === 0 ? dollars(max) : `${dollars(min)} to ${dollars(max)}`
}

export const postingStates: Readonly<Record<Posting['status'], Toned>> = {
  open: accent('● open'),
  awarded: good('✓ awarded'),
  completed: good('✓ done'),
  cancelled: dim('× taken back'),
  expired: dim('– ran out'),
}

export const posting: Noun<Posting> = {
  name: 'request',
  plural: 'requests',
  list: 'listAllPostings',
  none: 'no such request',
  source: ['a buyer posts one', 'souk requests create'],
  idOf: ({ posting_id }) => posting_id,
  nameOf: ({ title }) => title,
  stateOf: ({ status }) => postingStates[status],
  columns: [
    column.id('REQUEST', ({ posting_id }) => posting_id),
    column.name('TITLE', ({ title }) => title),
    column.state('STATUS', ({ status }) => status),
    column.word('ASKED BY', ({ poster_name, poster_id }) => poster_name || poster_id, {
      drop: 1,
      on: ['all', 'screen'],
    }),
    column.money('BUDGET', budgetOf, { plain: ({ budget_max_usd }) => budget_max_usd }),
    column.count('BIDS', ({ bid_count }) => bid_count, { drop: 3 }),
    column.word('CATEGORY', ({ category }) => category, { drop: 4 }),
    column.time('CREATED', ({ created_at }) => created_at, { drop: 1, on: ['own'] }),
    column.next(({ status, expires_at }) => (status === 'open' ? ['runs out', expires_at] : undefined)),
    column.age(({ created_at }) => created_at),
  ],
  facts: (one) => [
    [
      'asked by',
      `${[one.poster_name, one.poster_id].filter(Boolean).join('   ')}${one.is_subcontract ? '   subtask of its own job' : ''}`,
    ],
    ['budget', `${budgetOf(one)}   ${one.category}`],
    ['bids', String(one.bid_count)],
    ['until', `${one.expires_at}${one.deadline === null ? '' : `, wanted by ${one.deadline}`}`],
    ['brief', JSON.stringify(one.brief)],
  ],
  nextOf: ({ posting_id, status }) => (status === 'open' ? `souk requests bids ${posting_id}` : undefined),
}
