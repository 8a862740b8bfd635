import type { WireAnswer } from '../../api/endpoint/define.ts'
import { holdFields, participantFields, payeeFields, payoutFields } from '../../api/endpoint/list-fields.ts'
import type { Api } from '../../api/index.ts'
import type { Link, Outcome } from '../../client/link.ts'
import type { ListFields } from '../../core/filter.ts'
import { shortAddress } from '../../text/text.ts'
import { named } from '../job/facts.ts'
import { movesBy, statusWord } from '../job/lines.ts'
import { accent, bad, dim, good, type Piece, textOf, warn } from '../parts/line.ts'
import { amongWords, listAsked, pageOf } from '../shell/finding.ts'
import { ask } from '../shell/queries.ts'
import { text, time } from '../shell/read.ts'
import type { MoneyView } from '../shell/ui.ts'
import type { BooksFacts } from './books.ts'

export const MONEY_PAGE = 50

/** Money that waits: a held amount, a payout, or what is due to somebody. */
export type Waiting = {
  readonly id: string
  /** How far it is, sign and word. */
  readonly state: Piece
  /** Between whom, whose it is, or where it goes. */
  readonly owner: string
  /** What it is held or paid for. */
  readonly what: string
  readonly amount: string
  /** Of who is paid only. */
  readonly paid?: string
  readonly held?: string
  /** What happens next by itself, as words before the time: `goes back`; empty where nothing does. */
  readonly next: string
  readonly nextAt: number | undefined
  readonly error: string
  readonly raw: unknown
}

export type Money = {
  readonly rows: readonly Waiting[]
  readonly total: number
  /** Rows among which they were looked for, where not all of them were. */
  readonly among?: string
}

/** What each view can be asked about. */
export const moneyFields = {
  holds: holdFields,
  payouts: payoutFields,
  failed: payoutFields,
  payees: payeeFields,
  balances: participantFields,
} as const satisfies Record<MoneyView, ListFields>

export type WantedMoney = {
  readonly view: MoneyView
  readonly page: number
  /** As it was typed, and found good for the view. */
  readonly filter: string
  readonly sort: string | undefined
}

/** One page of held amounts, of payouts, of the payouts that failed, of who is paid, or of balances. */
export const fetchMoney =
  (link: Link, wanted: WantedMoney) =>
  (signal: AbortSignal): Promise<Outcome<Money>> => {
    const { view, page } = wanted
    const query = pageOf(page, MONEY_PAGE)
    if (view === 'holds') {
      const asked = { query: { ...query, sort: 'soonest', ...listAsked(wanted, holdFields) }, signal } as const
      return ask(link, { name: 'getHolds', asked }, ({ holds, total, searched }) => ({
        rows: holds.map(readHold),
        total,
        among: amongWords(searched),
      }))
    }
    if (view === 'balances') return fetchBalances(link, wanted)(signal)
    if (view === 'payees') {
      const asked = { query: { ...query, ...listAsked(wanted, payeeFields) }, signal }
      return ask(link, { name: 'listPayees', asked }, ({ payees, total }) => ({ rows: payees.map(readPayee), total }))
    }
    const status = view === 'failed' ? ({ status: 'failed' } as const) : {}
    const asked = { query: { ...query, ...status, ...listAsked(wanted, payoutFields) }, signal }
    return ask(link, { name: 'getPayouts', asked }, ({ payouts, total }) => ({ rows: payouts.map(readPayout), total }))
  }

/** Whoever has a balance, the largest first unless sorted. */
const fetchBalances = (link: Link, wanted: WantedMoney) => (signal: AbortSignal) => {
  const { filter, sort = '-balance' } = listAsked(wanted, participantFields)
  const some = ['balance:>0', filter].filter(Boolean).join(' ')
  const query = { ...pageOf(wanted.page, MONEY_PAGE), filter: some, sort }
  return ask(link, { name: 'listParticipants', asked: { query, signal } }, ({ participants, total }) => ({
    rows: participants.map(readBalance),
    total,
  }))
}

function readBalance(one: WireAnswer<Api['listParticipants']>['participants'][number]): Waiting {
  return {
    id: one.id,
    owner: text(one.name) || shortAddress(text(one.wallet)),
    amount: `$${one.balance.available}`,
    held: `$${one.balance.held}`,
    state: one.suspended_at === null ? '' : warn('‖ suspended'),
    what: 'spendable by its owner',
    next: '',
    nextAt: undefined,
    error: '',
    raw: one,
  }
}

/** What all accounts hold, by kind. */
export const fetchBooks = (link: Link) => (signal: AbortSignal) =>
  ask(
    link,
    { name: 'getRiver', asked: { signal } },
    ({ books, agrees, disputed, overdue, held_jobs, checked_at }): BooksFacts => ({
      books,
      agrees,
      disputed,
      overdue,
      held_jobs,
      checkedAt: time(checked_at),
    }),
  )

/** What is told of a chain that is connected; a ledger in the store has nothing to tell. */
export type ChainHead = {
  readonly health: 'ok' | 'degraded' | 'down'
  readonly words: string
  readonly fault: string
}

/** The head of the chain and what is under way to it. */
export const fetchChain = (link: Link) => (signal: AbortSignal) =>
  ask(link, { name: 'getChain', asked: { query: { limit: '1' }, signal } }, (told): ChainHead | null => {
    const { mode, head, queue, health, faults, gas_key: gas } = told
    if (mode === 'sandbox') return null
    const at = head === null ? 'no block yet' : `block ${head.block}, ${head.age_seconds} s`
    const waits = `${queue.waiting} wait, ${queue.in_flight} in no block`
    const left = gas === null ? '' : `   gas for ${gas.payments}`
    return { health, words: `${text(mode)}   ${at}   ${waits}${left}`, fault: text(faults[0]?.sentence) }
  })

type Hold = WireAnswer<Api['getHolds']>['holds'][number]

/** What each kind of held money is, where it is not held for a job. */
const kinds: Readonly<Partial<Record<Hold['kind'], Piece>>> = {
  esc: dim('○ in escrow'),
  hold: accent('● being paid'),
  rfd: dim('○ refund'),
  out: accent('● payout'),
  refp: dim('○ reward'),
  blk: warn('‖ kept back'),
}

/** What happens by itself, by the name that the instance has for it. */
const nextWords: Readonly<Record<string, string>> = {
  ...movesBy,
  remind: '',
  'fulfilled or released': 'ends',
  sent: 'goes out',
  'referral-rewards': 'can be taken',
}

function readHold(hold: Hold): Waiting {
  const { owner, job } = hold
  const reason = text(hold.reason)
  const word = job === undefined ? (kinds[hold.kind] ?? text(hold.kind)) : jobWord(job)
  const isLost = isNobodys(hold)
  return {
    id: text(hold.account),
    state: isLost ? bad(`✗ ${textOf([word]).replace(SIGN, '')}`) : word,
    owner: job === undefined ? named('', text(owner?.id)) : bothOf(job),
    what: text(job?.about.service) || reason,
    amount: `$${hold.amount}`,
    ...nextOf(hold),
    error: isLost ? reason : '',
    raw: hold,
  }
}

/** Money that nothing will ever move is nobody's plan. */
function isNobodys({ owner, job, next_event: next }: Hold): boolean {
  return owner === null || (next === null && job?.status !== 'disputed')
}

function nextOf(hold: Hold): Pick<Waiting, 'next' | 'nextAt'> {
  if (isNobodys(hold)) return { next: 'nothing moves it', nextAt: undefined }
  if (waitsForOperator(hold)) return waitsForYou
  const event = text(hold.next_event)
  const words = nextWords[event] ?? event
  return words === '' ? waitsForYou : { next: words, nextAt: time(hold.next_event_at) }
}

const waitsForYou = { next: 'waits for you', nextAt: undefined }

function bothOf({ about }: NonNullable<Hold['job']>): string {
  return `${named(text(about.buyer), '')} / ${named(text(about.provider), '')}`
}

const SIGN = /^\S /

function jobWord({ status, late }: NonNullable<Hold['job']>): Piece {
  return statusWord({ status, late, nextEvent: 'verify', deadlineAt: undefined }, undefined)
}

/** A dispute that does not end by itself. */
function waitsForOperator({ job, next_event: next }: Hold): boolean {
  return job?.status === 'disputed' && next !== 'resolve'
}

type Payout = WireAnswer<Api['getPayouts']>['payouts'][number]

const payoutWords: Readonly<Record<Payout['status'], Piece>> = {
  created: dim('○ waits'),
  needs_operator: warn('? needs a key'),
  signed: accent('● signed'),
  sent: accent('● sent'),
  confirmed: good('✓ arrived'),
  failed: bad('✗ failed'),
}

function readPayout(payout: Payout): Waiting {
  const { status, blocked, reference } = payout
  return {
    id: payout.id,
    state: blocked ? warn('‖ kept back') : payoutWords[status],
    owner: shortAddress(payout.wallet),
    what: `${payout.kind} ${text(reference.kind)}`,
    amount: `$${payout.amount}`,
    next: payout.next_attempt_at === null ? '' : `try ${payout.attempts + 1}`,
    nextAt: time(payout.next_attempt_at),
    error: text(payout.last_error),
    raw: payout,
  }
}

/** Who is paid: what arrived at the wallet, what is on its way there, and what waits for a buyer. */
function readPayee(payee: WireAnswer<Api['listPayees']>['payees'][number]): Waiting {
  const { waiting } = payee
  const stuck = waiting.find(({ until }) => until === null)
  const why = waiting.map(({ reason }) => reason.replaceAll('_', ' ')).join(', ')
  return {
    id: payee.participant_id,
    owner: text(payee.name) || shortAddress(payee.wallet),
    amount: `$${payee.due}`,
    paid: `$${payee.paid}`,
    held: `$${payee.held}`,
    state: stuck !== undefined && stuck.reason !== 'disputed' ? bad(`✗ ${why}`) : why,
    what: '',
    next: payee.next_settlement_at === null ? '' : 'is sent',
    nextAt: time(payee.next_settlement_at),
    error: '',
    raw: payee,
  }
}

export type Audit = { readonly ok: boolean; readonly words: string }

/** Recomputes the books: too much work to be asked for by itself. */
export function audit(link: Link): Promise<Outcome<Audit>> {
  return ask(link, { name: 'getAudit', asked: {} }, (report) => ({ ok: report.ok, words: auditWords(report) }))
}

function auditWords({ checks, transactions }: WireAnswer<Api['getAudit']>): string {
  const broken = checks.find(({ ok }) => !ok)
  if (broken !== undefined) return `${text(broken.name)}: ${text(broken.detail)}`
  return `${checks.length} checks over ${transactions} transactions`
}
