import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import type { Link, Outcome } from '../../client/link.ts'
import { postingStatuses } from '../../model/words.ts'
import { dollars, type Posting, posting } from '../../nouns/postings.ts'
import { count, safe } from '../../text/text.ts'
import { type ListWish, listScreen, type NounRows } from '../list/screen.ts'
import { accent, dim, good, type Line, type Piece, strong } from '../parts/line.ts'
import { type ScreenColumn, tableLines } from '../parts/table.ts'
import { refuse } from '../shell/ask.ts'
import { pageOf, useSettled, viewWords, wordLines } from '../shell/finding.ts'
import { shellCommand } from '../shell/pause-dialog.ts'
import { ask, SLOW_EVERY_MS } from '../shell/queries.ts'
import { type Fetch, useQuery } from '../shell/query.ts'
import type { Host, Screen, View } from '../shell/screen.ts'
import { chosenIndex, type Ui } from '../shell/ui.ts'

type Bid = WireAnswer<Api['listBids']>['bids'][number]

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

const viewNames = ['all', ...postingStatuses] as const
const PAGE = 50
/** The endpoint cannot filter, so the cockpit searches this many of the newest pages. */
const SEARCHED_PAGES = 10

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
  own: {
    factsOf: (one) => ({
      id: one.id,
      title: one.title,
      category: one.category,
      status: one.status,
      poster: one.poster_id,
      bids: BigInt(one.bid_count),
      age: Date.parse(one.created_at),
    }),
    fetch: fetchWork,
  },
  useMore: useBids,
})

export function useRequests(host: Host, view: View): ReturnType<Screen['use']> {
  const onlyItsOwner = (act: string, command: string) => (rows: readonly Posting[]) => {
    const row = rows[chosenIndex(host.ui.get(), rows.map(posting.idOf))]
    if (row === undefined) refuse(host, 'No request is chosen.')
    // Awarding a request costs money, so the cockpit leaves it to the command line.
    else refuse(host, `Only its poster may ${act}.  → ${shellCommand(host, ['requests', command, row.id])}`)
  }
  return useList(host, view, {
    key: view.ui.requestView,
    within: view.ui.requestView,
    views: () => viewWords(viewNames, view.ui.requestView),
    tabs: [dim('e json')],
    actions: (rows) => ({
      view: () => viewNext(host),
      add: () => onlyItsOwner('award', 'bids')(rows),
      remove: () => onlyItsOwner('cancel', 'cancel')(rows),
    }),
  })
}

function viewNext({ ui }: Host): void {
  const { requestView, pages } = ui.get()
  const next = viewNames[(viewNames.indexOf(requestView) + 1) % viewNames.length]
  if (next !== undefined) ui.set({ ...ui.get(), requestView: next, pages: { ...pages, requests: 0 } })
}

/** Fetches a page of requests in one status. With filter or sort, the cockpit searches the newest pages instead. */
function fetchWork(link: Link, { page, filter, sort }: ListWish, ui: Ui): Fetch<NounRows<Posting>> {
  const status = postingStatuses.find((one) => one === ui.requestView)
  const pageAt = (at: number, signal: AbortSignal) => {
    const query = { ...pageOf(at, PAGE), ...(status === undefined ? {} : { status }) }
    return ask(link, { name: 'listPostings', asked: { query, signal } }, ({ postings: rows, total }) => ({
      rows,
      total,
    }))
  }
  if (filter === '' && sort === undefined) return (signal) => pageAt(page, signal)
  return async (signal) => {
    let rows: readonly Posting[] = []
    for (let at = 0; ; at += 1) {
      const answer = await pageAt(at, signal)
      if (!answer.ok) return answer
      const { total } = answer.value
      rows = [...rows, ...answer.value.rows]
      const isAll = rows.length >= total || answer.value.rows.length === 0
      if (isAll) return { ok: true, value: { rows, total } }
      const among = `the newest ${count(rows.length)} of ${count(total)} searched`
      if (at + 1 === SEARCHED_PAGES) return { ok: true, value: { rows, total, among } }
    }
  }
}
