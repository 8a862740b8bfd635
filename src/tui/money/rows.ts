import type { WireAnswer } from '../../api/endpoint/define.ts'
import { holdFields, payeeFields, payoutFields } from '../../api/endpoint/list-fields.ts'
import type { Api } from '../../api/index.ts'
import type { Link, Outcome } from '../../client/link.ts'
import type { ListFields } from '../../core/filter.ts'
import { shortAddress } from '../../text/text.ts'
import { listAsked, pageOf } from '../shell/finding.ts'
import { ask } from '../shell/queries.ts'
import { text, time } from '../shell/read.ts'
import type { MoneyView } from '../shell/ui.ts'
import type { BooksFacts } from './books.ts'

export const MONEY_PAGE = 50

/** Money that waits: a held amount, a payout, or what is due to somebody. */
export type Waiting = {
  readonly id: string
  /** Whose it is, or where it goes. */
  readonly owner: string
  readonly amount: string
  /** Of who is paid only. */
  readonly paid?: string
  readonly held?: string
  /** Why it waits, or how far it is. */
  readonly state: string
  readonly isBad: boolean
  readonly next: string
  readonly nextAt: number | undefined
  readonly error: string
  readonly raw: unknown
}

export type Money = { readonly rows: readonly Waiting[]; readonly total: number }

/** What each view can be asked about. */
export const moneyFields = {
  holds: holdFields,
  payouts: payoutFields,
  failed: payoutFields,
  payees: payeeFields,
} as const satisfies Record<MoneyView, ListFields>

export type WantedMoney = {
  readonly view: MoneyView
  readonly page: number
  /** As it was typed, and found good for the view. */
  readonly filter: string
  readonly sort: string | undefined
}

/** One page of held amounts, of payouts, of the payouts that failed, or of who is paid. */
export const fetchMoney =
  (link: Link, wanted: WantedMoney) =>
  (signal: AbortSignal): Promise<Outcome<Money>> => {
    const { view, page } = wanted
    const query = pageOf(page, MONEY_PAGE)
    if (view === 'holds') {
      const asked = { query: { ...query, ...listAsked(wanted, holdFields) }, signal }
      return ask(link, { name: 'getHolds', asked }, ({ holds, total }) => ({ rows: holds.map(readHold), total }))
    }
    if (view === 'payees') {
      const asked = { query: { ...query, ...listAsked(wanted, payeeFields) }, signal }
      return ask(link, { name: 'listPayees', asked }, ({ payees, total }) => ({ rows: payees.map(readPayee), total }))
    }
    const status = view === 'failed' ? ({ status: 'failed' } as const) : {}
    const asked = { query: { ...query, ...status, ...listAsked(wanted, payoutFields) }, signal }
    return ask(link, { name: 'getPayouts', asked }, ({ payouts, total }) => ({ rows: payouts.map(readPayout), total }))
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

function readHold(hold: WireAnswer<Api['getHolds']>['holds'][number]): Waiting {
  const { owner } = hold
  return {
    id: text(hold.account),
    owner: owner === null ? '' : `${text(owner.kind)} ${text(owner.id)}`,
    amount: `$${hold.amount}`,
    state: text(hold.reason),
    // Money that nothing will ever move is nobody's plan.
    isBad: owner === null || hold.next_event === null,
    next: text(hold.next_event),
    nextAt: time(hold.next_event_at),
    error: '',
    raw: hold,
  }
}

function readPayout(payout: WireAnswer<Api['getPayouts']>['payouts'][number]): Waiting {
  const { status, blocked } = payout
  return {
    id: payout.id,
    owner: shortAddress(payout.wallet),
    amount: `$${payout.amount}`,
    state: blocked ? `${status}, blocked` : status,
    isBad: blocked || status === 'failed',
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
  return {
    id: payee.participant_id,
    owner: text(payee.name) || shortAddress(payee.wallet),
    amount: `$${payee.due}`,
    paid: `$${payee.paid}`,
    held: `$${payee.held}`,
    state: waiting.map(({ reason }) => reason.replaceAll('_', ' ')).join(', '),
    isBad: stuck !== undefined && stuck.reason !== 'disputed',
    next: payee.next_settlement_at === null ? '' : 'provider-settlement',
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
