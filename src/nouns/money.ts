import type { WireAnswer } from '../api/index.ts'
import { SOLD_DAYS } from '../core/limits.ts'
import { ownOf } from '../core/record.ts'
import { heldWords } from '../model/ledger.ts'
import { BLOCKED_WORD, payoutWords } from '../model/state-words.ts'
import { shortAddress } from '../text/text.ts'
import { jobStateOf, movesBy } from './jobs.ts'
import {
  accent,
  bad,
  dim,
  good,
  id,
  type More,
  money,
  type Noun,
  type NounFact,
  name,
  nextColumn,
  state,
  statesOf,
  type Toned,
  textOf,
  time,
  warn,
  word,
} from './noun.ts'
import { partyOf } from './people.ts'
import { dollars } from './postings.ts'

type Hold = WireAnswer<'getHolds'>['holds'][number]

/** Label of each kind of held money. For a job's money, the job's state is shown instead. */
const heldKinds = statesOf(heldWords, {
  esc: dim('○'),
  hold: accent('●'),
  rfd: dim('○'),
  out: accent('●'),
  refp: dim('○'),
  blk: warn('‖'),
})

/** Escrow of a delivered job that the buyer has not verified yet. */
const UNVERIFIED = { status: 'held', held_at: null, next_event: 'verify', next_event_at: null } as const

/** Whether held money is stuck: it has no owner, or it has no next event and its job is not disputed. */
const isNobodys = ({ owner, job, next_event: next }: Hold) =>
  owner === null || (next === null && job?.status !== 'disputed')

function heldState(hold: Hold): Toned {
  const { job } = hold
  const known =
    job === undefined ? (ownOf(heldKinds, hold.kind) ?? hold.kind) : jobStateOf({ ...job, escrow: UNVERIFIED })
  return isNobodys(hold) ? bad(`✗ ${String(textOf(known)).replace(/^\S /, '')}`) : known
}

/** Parties, or owner. */
const heldFor = ({ owner, job }: Hold) =>
  job === undefined ? partyOf('', owner?.id) : `${partyOf(job.about.buyer)} / ${partyOf(job.about.provider)}`

/** What each automatic event does with the money. */
const nextWords: Readonly<Record<string, string>> = {
  ...movesBy,
  'fulfilled or released': 'ends',
  sent: 'goes out',
  'referral-rewards': 'can be taken',
}

/** Room for `goes back in 2h 5m`. The time must not be cut. */
const NEXT_MIN = 18

/** The next event in words, with its time. Disputes without a default outcome wait for the operator. */
function nextOf(hold: Hold): readonly [words: string, at: string | null] {
  const { job, next_event: next } = hold
  if (isNobodys(hold)) return ['nothing moves it', null]
  if (next === null || next === 'remind' || (job?.status === 'disputed' && next !== 'resolve'))
    return ['waits for you', null]
  return [nextWords[next] ?? next, hold.next_event_at]
}

/** Held money: its owner, why it is held, and what happens next. */
export const hold: Noun<Hold> = {
  name: 'hold',
  plural: 'holds',
  list: 'getHolds',
  none: 'nothing is held',
  source: ['money of open jobs and balances is held', 'souk balance deposit AMOUNT'],
  idOf: ({ account }) => account,
  nameOf: ({ reason }) => reason,
  stateOf: heldState,
  columns: [
    id('ACCOUNT', ({ account }) => account),
    name('BUYER / PROVIDER', heldFor, { min: 14, on: ['screen'] }),
    word('WHAT', ({ job, reason }) => job?.about.service || reason, { min: 16, drop: 2, on: ['screen'] }),
    money('AMOUNT', ({ amount }) => `$${amount}`),
    name('WHY', ({ reason }) => reason, { on: ['all'] }),
    word('NEXT', ({ next_event }) => next_event, { on: ['all'] }),
    time('AT', ({ next_event_at }) => next_event_at, { drop: 1, on: ['all'] }),
    nextColumn(nextOf, NEXT_MIN),
  ],
  facts: ({ owner, reason, next_event, next_event_at: at }) => [
    ['whose', owner === null ? 'nobody’s' : `${owner.kind}   ${owner.id}`],
    ['why', reason],
    ['next', next_event === null ? 'nothing moves it' : `${next_event}${at === null ? '' : `   ${at}`}`],
  ],
}

const payoutStates = statesOf(payoutWords, {
  created: dim('○'),
  needs_operator: warn('?'),
  signed: accent('●'),
  sent: accent('●'),
  confirmed: good('✓'),
  failed: bad('✗'),
})

export const payout: Noun<WireAnswer<'getPayouts'>['payouts'][number]> = {
  name: 'payout',
  plural: 'payouts',
  list: 'getPayouts',
  none: 'no such payout',
  source: ['this cron pays sellers what they earned', 'souk crons run provider-settlement'],
  idOf: (one) => one.id,
  nameOf: ({ kind }) => kind,
  stateOf: ({ status, blocked }) => (blocked ? warn(`‖ ${BLOCKED_WORD}`) : payoutStates[status]),
  columns: [
    id('PAYOUT', (one) => one.id),
    name('TO', ({ wallet }) => shortAddress(wallet), { on: ['screen'] }),
    word('WHAT', ({ kind, reference }) => `${kind} ${reference.kind}`, { drop: 2, on: ['screen'] }),
    word('FOR', ({ kind }) => kind, { on: ['all'] }),
    money('AMOUNT', ({ amount }) => `$${amount}`, { plain: ({ amount }) => amount }),
    state('STATUS', ({ status, blocked }) => (blocked ? 'blocked' : status)),
    time('NEXT', ({ next_attempt_at }) => next_attempt_at, { drop: 1, on: ['all'] }),
    name('WHY', ({ last_error }) => last_error, { drop: 2, on: ['all'] }),
    word('WALLET', ({ wallet }) => wallet, { drop: 3, on: ['all'] }),
    nextColumn(({ attempts, next_attempt_at: at }) => (at === null ? undefined : [`try ${attempts + 1}`, at])),
  ],
  facts: ({ wallet, reference, last_error: why }) => [
    ['to', wallet],
    ['for', `${reference.kind}   ${reference.id}`],
    ['why', why ?? ''],
  ],
}

type Payee = WireAnswer<'listPayees'>['payees'][number]

const sum = (title: string, member: 'sold' | 'earned' | 'paid' | 'due' | 'held', more: More<Payee> = {}) =>
  money<Payee>(title, (payee) => `$${payee[member]}`, { plain: (payee) => payee[member], ...more })

/** Why a seller's money waits. Red if the wait has no known end, unless a dispute causes it. */
function waitsFor({ waiting }: Payee): Toned {
  const why = waiting.map(({ reason }) => reason.replaceAll('_', ' ')).join(', ')
  const stuck = waiting.find(({ until }) => until === null)
  return stuck !== undefined && stuck.reason !== 'disputed' ? bad(`✗ ${why}`) : why
}

/** A seller's money: earned, paid, due and held. */
export const payee: Noun<Payee> = {
  name: 'payee',
  plural: 'payees',
  list: 'listPayees',
  none: 'no sellers yet',
  source: ['a seller is listed from the first sale', 'souk services create'],
  idOf: ({ participant_id }) => participant_id,
  nameOf: (one) => one.name,
  columns: [
    id('PAYEE', ({ participant_id }) => participant_id),
    name('NAME', (one) => one.name || shortAddress(one.wallet), { plain: (one) => one.name }),
    sum(`SOLD ${SOLD_DAYS}D`, 'sold', { drop: 3 }),
    sum('EARNED', 'earned', { on: ['all'] }),
    sum('PAID', 'paid'),
    sum('DUE', 'due'),
    sum('HELD', 'held'),
    word('WHY', waitsFor, { min: 20, drop: 2, on: ['screen'] }),
    time('NEXT', ({ next_settlement_at }) => next_settlement_at, { drop: 1, on: ['all'] }),
    word('WALLET', ({ wallet }) => wallet, { drop: 2, on: ['all'] }),
    nextColumn(({ next_settlement_at: at }) => (at === null ? undefined : ['is sent', at]), NEXT_MIN),
  ],
  facts: ({ wallet, earned, waiting }) => [
    ['wallet', wallet],
    ['earned', `$${earned} ever`],
    ...waiting.map(
      ({ reason, amount_usd: amount, until }): NounFact => [
        reason.replaceAll('_', ' '),
        `${dollars(amount)}${until === null ? '' : `   until ${until}`}`,
      ],
    ),
  ],
}

/** An administrator's act. */
export const act: Noun<WireAnswer<'getAdminLog'>['acts'][number]> = {
  name: 'act',
  plural: 'acts',
  list: 'getAdminLog',
  none: 'nothing was done',
  source: ['each change by an operator is logged', 'souk help admin'],
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
