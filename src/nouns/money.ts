import type { WireAnswer } from '../api/index.ts'
import { SOLD_DAYS } from '../core/limits.ts'
import { ownOf } from '../core/record.ts'
import { heldWords } from '../model/ledger.ts'
import { BLOCKED_WORD, payoutWords } from '../model/state-words.ts'
import { shortAddress } from '../text/text.ts'
import * as column from './columns.ts'
import { jobStateOf, movesBy } from './jobs.ts'
import type { Noun, NounFact } from './noun.ts'
import { partyOf } from './people.ts'
import { dollars } from './postings.ts'
import { accent, bad, dim, good, statesOf, type Toned, warn } from './tones.ts'

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
  return isNobodys(hold) ? bad(`✗ ${String(column.textOf(known)).replace(/^\S /, '')}`) : known
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
    column.id('ACCOUNT', ({ account }) => account),
    column.name('BUYER / PROVIDER', heldFor, { min: 14, on: ['screen'] }),
    column.word('WHAT', ({ job, reason }) => job?.about.service || reason, { min: 16, drop: 2, on: ['screen'] }),
    column.money('AMOUNT', ({ amount }) => `$${amount}`),
    column.name('WHY', ({ reason }) => reason, { on: ['all'] }),
    column.word('NEXT', ({ next_event }) => next_event, { on: ['all'] }),
    column.time('AT', ({ next_event_at }) => next_event_at, { drop: 1, on: ['all'] }),
    column.next(nextOf, NEXT_MIN),
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
    column.id('PAYOUT', (one) => one.id),
    column.name('TO', ({ wallet }) => shortAddress(wallet), { on: ['screen'] }),
    column.word('WHAT', ({ kind, reference }) => `${kind} ${reference.kind}`, { drop: 2, on: ['screen'] }),
    column.word('FOR', ({ kind }) => kind, { on: ['all'] }),
    column.money('AMOUNT', ({ amount }) => `$${amount}`, { plain: ({ amount }) => amount }),
    column.state('STATUS', ({ status, blocked }) => (blocked ? 'blocked' : status)),
    column.time('NEXT', ({ next_attempt_at }) => next_attempt_at, { drop: 1, on: ['all'] }),
    column.name('WHY', ({ last_error }) => last_error, { drop: 2, on: ['all'] }),
    column.word('WALLET', ({ wallet }) => wallet, { drop: 3, on: ['all'] }),
    column.next(({ attempts, next_attempt_at: at }) => (at === null ? undefined : [`try ${attempts + 1}`, at])),
  ],
  facts: ({ wallet, reference, last_error: why }) => [
    ['to', wallet],
    ['for', `${reference.kind}   ${reference.id}`],
    ['why', why ?? ''],
  ],
}

type Payee = WireAnswer<'listPayees'>['payees'][number]

const sum = (title: string, member: 'sold' | 'earned' | 'paid' | 'due' | 'held', more: column.More<Payee> = {}) =>
  column.money<Payee>(title, (payee) => `$${payee[member]}`, { plain: (payee) => payee[member], ...more })

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
    column.id('PAYEE', ({ participant_id }) => participant_id),
    column.name('NAME', (one) => one.name || shortAddress(one.wallet), { plain: (one) => one.name }),
    sum(`SOLD ${SOLD_DAYS}D`, 'sold', { drop: 3 }),
    sum('EARNED', 'earned', { on: ['all'] }),
    sum('PAID', 'paid'),
    sum('DUE', 'due'),
    sum('HELD', 'held'),
    column.word('WHY', waitsFor, { min: 20, drop: 2, on: ['screen'] }),
    column.time('NEXT', ({ next_settlement_at }) => next_settlement_at, { drop: 1, on: ['all'] }),
    column.word('WALLET', ({ wallet }) => wallet, { drop: 2, on: ['all'] }),
    column.next(({ next_settlement_at: at }) => (at === null ? undefined : ['is sent', at]), NEXT_MIN),
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
  screen: { title: 'Acts', command: 'admin log', fields: 'actFields' },
  idOf: ({ seq }) => String(seq),
  nameOf: (one) => one.act,
  columns: [
    column.time('AT', ({ at }) => at),
    column.word('ACT', (one) => one.act),
    column.id('ABOUT', ({ subject }) => subject.id),
    column.word('CHANGED', ({ changed }) => (changed ? 'yes' : 'no'), { plain: ({ changed }) => changed }),
    column.name('WHY', ({ reason }) => reason, { drop: 1 }),
    column.id('REQUEST', ({ request_id }) => request_id, { drop: 10 }),
  ],
  facts: ({ actor, subject, reason }) => [
    ['by', actor],
    ['about', subject.id],
    ['kind', subject.kind],
    ['why', reason ?? ''],
  ],
}
