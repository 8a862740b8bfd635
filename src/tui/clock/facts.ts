import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import type { Link, Outcome } from '../../client/link.ts'
import { shortAddress } from '../../text/text.ts'
import type { CronFacts } from '../shell/cron-facts.ts'
import { ask } from '../shell/queries.ts'
import { text, time } from '../shell/read.ts'

/** Maximum number of holds, and of payouts, that are fetched. Further holds are only counted. */
const LOOKED_AT = 100
const LOOKED_AT_QUERY = { limit: String(LOOKED_AT) } as const

export const fetchClockFacts = (link: Link) => (signal: AbortSignal) =>
  ask(link, { name: 'getClock', asked: { signal } }, readClock)

export type ClockFacts = ReturnType<typeof readClock>

function readClock({ now, wall, offset_ms, state, movable, next_cron }: WireAnswer<Api['getClock']>) {
  return {
    now: Date.parse(now),
    wall: Date.parse(wall),
    aheadMs: offset_ms,
    isFrozen: state === 'frozen',
    /** False with real money: the clock cannot be moved. */
    isMovable: movable,
    nextCron: next_cron === null ? undefined : { name: text(next_cron.name), at: Date.parse(next_cron.at) },
  }
}

export const dueKinds = ['cron', 'hold', 'payout'] as const

/** An automatic event with its time. */
export type DueFacts = {
  readonly id: string
  /** Business time. */
  readonly at: number
  readonly kind: (typeof dueKinds)[number]
  readonly what: string
  readonly whose: string
  /** Like `$0.525`; empty without money. */
  readonly amount: string
}

export type Due = {
  readonly rows: readonly DueFacts[]
  /** Number of held amounts that were not fetched. */
  readonly unseen: number
}

/** Fetches the held money and the payouts that will move at a known time. */
export const fetchDue =
  (link: Link) =>
  async (signal: AbortSignal): Promise<Outcome<Due>> => {
    const asked = { query: LOOKED_AT_QUERY, signal }
    const [holds, payouts] = await Promise.all([
      ask(link, { name: 'getHolds', asked }, (answer) => ({
        rows: answer.holds.flatMap(dueHold),
        unseen: answer.total - answer.holds.length,
      })),
      ask(link, { name: 'getPayouts', asked }, (answer) => ({ rows: answer.payouts.flatMap(duePayout), unseen: 0 })),
    ])
    if (!holds.ok) return holds
    if (!payouts.ok) return payouts
    const rows = [...holds.value.rows, ...payouts.value.rows]
    return { ok: true, value: { rows, unseen: holds.value.unseen } }
  }

function dueHold(hold: WireAnswer<Api['getHolds']>['holds'][number]): DueFacts[] {
  const at = time(hold.next_event_at)
  if (at === undefined) return []
  const { account, next_event, owner, amount } = hold
  const whose = text(owner?.id)
  return [{ id: text(account), at, kind: 'hold', what: text(next_event), whose, amount: `$${amount}` }]
}

function duePayout(payout: WireAnswer<Api['getPayouts']>['payouts'][number]): DueFacts[] {
  const at = time(payout.next_attempt_at)
  if (at === undefined) return []
  const { id, wallet, amount, attempts } = payout
  return [{ id, at, kind: 'payout', what: `try ${attempts + 1}`, whose: shortAddress(wallet), amount: `$${amount}` }]
}

/** Next scheduled run of each cron. */
export function dueCrons(crons: readonly CronFacts[]): readonly DueFacts[] {
  return crons.flatMap(({ name, more }): DueFacts[] => {
    if (more?.nextRun === undefined) return []
    return [{ id: `cron ${name}`, at: more.nextRun, kind: 'cron', what: 'runs', whose: name, amount: '' }]
  })
}
