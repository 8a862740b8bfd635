import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import { bold, cyan } from '../../text/text.ts'
import type { Io } from '../io.ts'
import type { Column } from '../output.ts'

export type Posting = WireAnswer<Api['getPosting']>
export type Bid = WireAnswer<Api['createBid']>

/** Dollars of a JSON number: at least cents. */
export function dollars(amount: number): string {
  return `$${Number.isInteger(amount * 100) ? amount.toFixed(2) : amount}`
}

export function budgetOf({ budget_min_usd: min, budget_max_usd: max }: Posting): string {
  return min === 0 ? dollars(max) : `${dollars(min)} to ${dollars(max)}`
}

export const postingColumns: readonly Column<Posting>[] = [
  { title: 'REQUEST', value: ({ posting_id }) => posting_id },
  { title: 'TITLE', value: ({ title }) => title, flexible: true },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'BUDGET', value: budgetOf, plain: ({ budget_max_usd }) => budget_max_usd, align: 'right' },
  { title: 'BIDS', value: ({ bid_count }) => bid_count, align: 'right', drop: 3 },
  { title: 'CATEGORY', value: ({ category }) => category, drop: 2 },
  { title: 'CREATED', value: ({ created_at }) => created_at, drop: 1 },
]

export const bidColumns: readonly Column<Bid>[] = [
  { title: 'BID', value: ({ bid_id }) => bid_id },
  { title: 'STATUS', value: ({ status }) => status },
  {
    title: 'YOU PAY',
    value: ({ agent_price_usd: price }) => dollars(price),
    plain: (bid) => bid.agent_price_usd,
    align: 'right',
  },
  { title: 'HOURS', value: ({ eta_hours }) => eta_hours, align: 'right' },
  { title: 'SERVICE', value: ({ service_id }) => service_id, drop: 2 },
  { title: 'PITCH', value: ({ pitch }) => pitch, flexible: true, drop: 1 },
]

export function showPosting(posting: Posting, io: Io): void {
  const { posting_id: id, title, status, category, deadline, expires_at, bid_count, brief } = posting
  io.line(`${bold(id)}   ${status}   ${title}`)
  io.line(`  budget    ${budgetOf(posting)}   ${category}`)
  io.line(`  until     ${expires_at}${deadline === null ? '' : `   wanted by ${deadline}`}`)
  io.line(`  bids      ${bid_count}`)
  io.line(JSON.stringify(brief, null, 2))
  if (status === 'open') io.note(`  next: ${cyan(io.hint(`souk requests bids ${id}`))}`)
}

export function showBid(bid: Bid, io: Io): void {
  io.line(`${bold(bid.bid_id)}   ${bid.status}   ${bid.posting_id}`)
  io.line(`  price     ${dollars(bid.price_usd)}, the poster pays ${dollars(bid.agent_price_usd)}   ${bid.eta_hours} h`)
}
