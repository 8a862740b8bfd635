import type { Api } from '../../api/index.ts'
import type { Link, Outcome } from '../../client/link.ts'
import { shortAddress } from '../../text/cells.ts'
import { get } from '../shell/queries.ts'
import { type Fields, fields, list, number, text, time } from '../shell/read.ts'
import type { MoneyView } from '../shell/ui.ts'

export const MONEY_PAGE = 50

const paths = {
  getHolds: '/dashboard/api/admin/holds',
  getPayouts: '/dashboard/api/admin/payouts',
  getAudit: '/dashboard/api/admin/audit',
} as const satisfies Partial<{ [K in keyof Api]: Api[K]['path'] }>

/** Money that waits: a held amount, or a payout. */
export type Waiting = {
  readonly id: string
  /** Whose it is, or where it goes. */
  readonly owner: string
  readonly amount: string
  /** Why it waits, or how far it is. */
  readonly state: string
  readonly isBad: boolean
  readonly next: string
  readonly nextAt: number | undefined
  readonly error: string
  readonly raw: unknown
}

export type Money = { readonly rows: readonly Waiting[]; readonly total: number }

/** One page of held amounts, of payouts, or of the payouts that failed. */
export const fetchMoney =
  (link: Link, { view, page }: { view: MoneyView; page: number }) =>
  (signal: AbortSignal): Promise<Outcome<Money>> => {
    const query = { limit: MONEY_PAGE, offset: page * MONEY_PAGE, status: view === 'failed' ? 'failed' : undefined }
    const path = view === 'holds' ? paths.getHolds : paths.getPayouts
    return get(link, { path, query, signal }, (body) => ({
      rows: view === 'holds' ? list(body.holds).map(readHold) : list(body.payouts).map(readPayout),
      total: number(body.total) ?? 0,
    }))
  }

function readHold(value: unknown): Waiting {
  const hold = fields(value)
  const owner = fields(hold.owner)
  return {
    id: text(hold.account),
    owner: `${text(owner.kind)} ${text(owner.id)}`.trim(),
    amount: `$${text(hold.amount)}`,
    state: text(hold.reason),
    // Money that nothing will ever move is nobody's plan.
    isBad: hold.owner === null || hold.next_event === null,
    next: text(hold.next_event),
    nextAt: time(hold.next_event_at),
    error: '',
    raw: value,
  }
}

function readPayout(value: unknown): Waiting {
  const payout = fields(value)
  const [status, blocked] = [text(payout.status), payout.blocked === true]
  return {
    id: text(payout.id),
    owner: shortAddress(text(payout.wallet)),
    amount: `$${text(payout.amount)}`,
    state: blocked ? `${status}, blocked` : status,
    isBad: blocked || status === 'failed',
    next: payout.next_attempt_at === null ? '' : `try ${(number(payout.attempts) ?? 0) + 1}`,
    nextAt: time(payout.next_attempt_at),
    error: text(payout.last_error),
    raw: value,
  }
}

export type Audit = { readonly ok: boolean; readonly words: string }

/** Recomputes the books: too much work to be asked for by itself. */
export function audit(link: Link): Promise<Outcome<Audit>> {
  return get(link, { path: paths.getAudit }, (body) => ({ ok: body.ok === true, words: auditWords(body) }))
}

function auditWords(body: Fields): string {
  const checks = list(body.checks).map(fields)
  const broken = checks.find(({ ok }) => ok !== true)
  if (broken !== undefined) return `${text(broken.name)}: ${text(broken.detail)}`
  return `${checks.length} checks over ${number(body.transactions) ?? 0} transactions`
}
