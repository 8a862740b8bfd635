import type { DealAct, DealRow } from './rows.ts'

type Facts = Pick<
  DealRow,
  'open' | 'state' | 'taken' | 'sent' | 'closed' | 'covers' | 'wants_deadline' | 'wants_closed' | 'wants_end'
>

/**
 * The next action for the contract, or null if none is due. A deposit that may be in flight is completed before any
 * other action, because resent transactions arrive in no fixed order.
 */
export function actOf(deal: Facts): DealAct | null {
  if (!deal.open || deal.taken) return null
  if (deal.state === 'none') return deal.wants_end !== null && !deal.sent ? 'drop' : 'deposit'
  if (deal.state !== 'held') return null
  if (deal.wants_end !== null) return deal.wants_end
  if (deal.closed) return null
  if (deal.wants_closed !== null) return deal.wants_closed
  return isLater(deal.wants_deadline, deal.covers) ? 'extend' : null
}

function isLater(wanted: number | null, covered: number | null): boolean {
  return wanted !== null && (covered === null || wanted > covered)
}

/** The deal with `due` and `returning` derived from its other members. */
export function followed<D extends Facts & Pick<DealRow, 'next_attempt_at'>>(
  deal: D,
): D & Pick<DealRow, 'due' | 'returning'> {
  const returning = deal.open && (deal.wants_end === 'refund' || deal.wants_end === 'resolve')
  const isAwaited = deal.open && deal.taken !== undefined
  return { ...deal, due: isAwaited || actOf(deal) !== null, returning }
}
