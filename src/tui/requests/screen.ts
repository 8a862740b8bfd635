import type { WireAnswer } from '../../api/index.ts'
import type { Link, Outcome } from '../../client/link.ts'
import { postingStatuses } from '../../model/words.ts'
import { dollars, type Posting, posting } from '../../nouns/postings.ts'
import { count, safe } from '../../text/text.ts'
import { listScreen } from '../list/nouns.ts'
import { accent, dim, good, type Line, type Piece, type ScreenColumn, strong, tableLines } from '../parts/line.ts'
import { refuse, shellCommand } from '../shell/ask.ts'
import { useSettled, wordLines } from '../shell/finding.ts'
import { ask, SLOW_EVERY_MS } from '../shell/queries.ts'
import { useQuery } from '../shell/query.ts'
import type { Host, Screen, View } from '../shell/screen.ts'
import { chosenIndex } from '../shell/ui.ts'

type Bid = WireAnswer<'listBids'>['bids'][number]

/** The bids of a request. Only its poster may read them; for anyone else, `isDenied` is set. */
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

/** A React hook that fetches the bids of the chosen request. Returns a function that draws them. */
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
  if (known.isDenied) return wordLines(`${words}, which only the poster can read: souk requests bids ${id}`, width)
  if (known.bids.length === 0) return wordLines(`no bids yet: a seller bids with souk requests bid ${id}`, width)
  const table = tableLines({ columns, rows: known.bids, chosen: -1, width, height: known.bids.length })
  return [table.head, ...table.body]
}

const useList = listScreen<Posting>({
  id: 'requests',
  noun: posting,
  title: 'Requests and bids',
  fields: {
    id: { kind: 'text' },
    title: { kind: 'text' },
    category: { kind: 'text' },
    status: { kind: 'choice', choices: postingStatuses },
    poster: { kind: 'text' },
    bids: { kind: 'count' },
    age: { kind: 'age' },
  },
  views: { all: ['all', ...postingStatuses], at: 'requestView' },
  own: {
    always: true,
    factsOf: (one) => ({
      id: one.id,
      title: one.title,
      category: one.category,
      status: one.status,
      poster: one.poster_id,
      bids: BigInt(one.bid_count),
      age: Date.parse(one.created_at),
    }),
    list: 'listPostings',
    asked: (_, { requestView }) => (requestView === 'all' ? {} : { status: requestView }),
  },
  useMore: useBids,
})

export const screen: Screen = { title: 'Requests and bids', use: useRequests }

function useRequests(host: Host, view: View): ReturnType<Screen['use']> {
  const onlyItsOwner = (act: string, command: string) => (rows: readonly Posting[]) => {
    const row = rows[chosenIndex(host.ui.get(), rows.map(posting.idOf))]
    if (row === undefined) refuse(host, 'No request is chosen.')
    // Awarding a request costs money, so the cockpit leaves it to the command line.
    else refuse(host, `Only its poster may ${act}.  → ${shellCommand(host, ['requests', command, row.id])}`)
  }
  return useList(host, view, {
    tabs: [dim('e json')],
    actions: (rows) => ({
      add: () => onlyItsOwner('award', 'bids')(rows),
      remove: () => onlyItsOwner('cancel', 'cancel')(rows),
    }),
  })
}
