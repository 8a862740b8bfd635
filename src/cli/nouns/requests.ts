import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import { dollars } from '../../nouns/postings.ts'
import { bold } from '../../text/text.ts'
import type { Io } from '../io.ts'
import type { Column } from '../output.ts'

export type Bid = WireAnswer<Api['createBid']>

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

export function showBid(bid: Bid, io: Io): void {
  io.line(`${bold(bid.bid_id)}   ${bid.status}   ${bid.posting_id}`)
  io.line(`  price     ${dollars(bid.price_usd)}, the poster pays ${dollars(bid.agent_price_usd)}   ${bid.eta_hours} h`)
}
