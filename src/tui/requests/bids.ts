import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import type { Link, Outcome } from '../../client/link.ts'
import { dollars, type Posting } from '../../nouns/postings.ts'
import { count, safe } from '../../text/text.ts'
import { accent, dim, good, type Line, type Piece, strong } from '../parts/line.ts'
import { type ScreenColumn, tableLines } from '../parts/table.ts'
import { useSettled } from '../shell/finding.ts'
import { ask, SLOW_EVERY_MS } from '../shell/queries.ts'
import { useQuery } from '../shell/query.ts'
import type { Host } from '../shell/screen.ts'

type Bid = WireAnswer<Api['listBids']>['bids'][number]

/** Bids are their request's owner's to read: without its key there are none, and that is said. */
type Bids = { readonly of: string; readonly bids: readonly Bid[]; readonly isDenied: boolean }

const fetchBids =
  (link: Link, id: string) =>
  async (signal: AbortSignal): Promise<Outcome<Bids>> => {
    if (id === '') return { ok: true, value: { of: '', bids: [], isDenied: false } }
    const answer = await ask(link, { name: 'listBids', asked: { params: { id }, signal } }, ({ bids }) => bids)
    if (answer.ok) return { ok: true, value: { of: id, bids: answer.value, isDenied: false } }
    if (answer.problem.kind !== 'denied') return answer
    return { ok: true, value: { of: id, bids: [], isDenied: true } }
  }

/** A hook: who offers to do the chosen work. */
export function useBids({ link, clock }: Host, row: Posting | undefined): (width: number) => readonly Line[] {
  const id = useSettled(row?.id ?? '', clock)
  const { value } = useQuery(fetchBids(link, id), { name: `bids ${id}`, every: SLOW_EVERY_MS })
  return (width) => (row === undefined ? [] : bidLines(row, value?.of === row.id ? value : undefined, width))
}

const states: Readonly<Record<Bid['status'], Piece>> = {
  submitted: accent('● offered'),
  accepted: good('✓ taken'),
  rejected: dim('× not taken'),
  withdrawn: dim('– withdrawn'),
}

const columns: readonly ScreenColumn<Bid>[] = [
  { title: 'STATE', value: ({ status }) => states[status] },
  { title: 'PRICE', value: ({ agent_price_usd }) => strong(dollars(agent_price_usd)), align: 'right', exact: true },
  { title: 'HOURS', value: ({ eta_hours }) => String(eta_hours), align: 'right' },
  { title: 'PITCH', value: ({ pitch }) => safe(pitch), min: 10 },
  { title: 'PROVIDER', value: ({ provider_id }) => provider_id, exact: true, drop: 2 },
  { title: 'BID', value: ({ id }) => id, exact: true, drop: 1 },
]

function bidLines({ bid_count: many, id }: Posting, known: Bids | undefined, width: number): readonly Line[] {
  if (known === undefined) return [[dim(' asking…')]]
  const words = many === 1 ? '1 bid' : `${count(many)} bids`
  if (known.isDenied) return [[dim(` ${words}, which only who asked may read: souk requests bids ${id}`)]]
  if (known.bids.length === 0) return [[dim(' nobody has offered yet')]]
  const table = tableLines({ columns, rows: known.bids, chosen: -1, width, height: known.bids.length })
  return [table.head, ...table.body]
}
