import { useMemo } from 'react'
import type { Facts } from '../../core/filter.ts'
import { type PostingStatus, postingStatuses } from '../../model/posting.ts'
import { count, shortSpan, wrap } from '../../text/text.ts'
import { jsonLines } from '../parts/json-lines.ts'
import { accent, blank, dim, good, type Line, type Piece, rule, strong, warn } from '../parts/line.ts'
import { type ScreenColumn, tableLines } from '../parts/table.ts'
import { refuse } from '../shell/ask.ts'
import { businessNow, useClock } from '../shell/clock.ts'
import {
  findingOf,
  listHead,
  listTable,
  narrowed,
  sortActions,
  titlesOf,
  useSettled,
  viewWords,
} from '../shell/finding.ts'
import { staleness, waitingLines } from '../shell/notice.ts'
import { openLines, pageActions, paneActions, type ShownList, sliceWords } from '../shell/pane.ts'
import { shellCommand } from '../shell/pause-dialog.ts'
import { SLOW_EVERY_MS } from '../shell/queries.ts'
import { type Query, useQuery } from '../shell/query.ts'
import type { Host, Screen, ScreenArea, View } from '../shell/screen.ts'
import { chosenIndex, type Ui } from '../shell/ui.ts'
import {
  type BidFacts,
  type Bids,
  fetchBids,
  fetchWork,
  REQUESTS_PAGE,
  type Requests,
  searchWork,
  type WantedWork,
} from './facts.ts'

const viewNames = ['all', ...postingStatuses] as const
const BRIEF_LINES = 3

/** A hook: work that is wanted, and who offers to do it. */
export function useRequests(host: Host, view: View): ReturnType<Screen['use']> {
  const { ui, area } = view
  const status = statusOf(ui)
  const page = ui.pages.requests ?? 0
  const isSearch = (ui.filters.requests ?? '').trim() !== '' || ui.sorts.requests !== undefined
  const listed = useQuery(isSearch ? searchWork(host.link, { status }) : fetchWork(host.link, { page, status }), {
    name: `postings ${status ?? 'all'} ${isSearch ? 'searched' : page}`,
    every: SLOW_EVERY_MS,
  })
  const now = businessNow(useClock(host), view.now)
  const finding = findingOf(ui, 'requests', workFields)
  const here = { fields: workFields, factsOf, now: now ?? view.now }
  const requests = narrowed(listed.value?.requests ?? [], finding, here)
  const ids = requests.map(({ id }) => id)
  const chosen = chosenIndex(ui, ids)
  const id = useSettled(ids[chosen] ?? '', host.clock)
  const bids = useQuery(fetchBids(host.link, id), { name: `bids ${id}`, every: SLOW_EVERY_MS })
  const shown = ui.pane.open === 'beside' ? undefined : requests[chosen]
  const raw = useMemo(() => (shown === undefined ? undefined : jsonLines(shown.raw)), [shown])
  const { open: _open, ...moving } = paneActions(host, raw, area)
  const { total } = listed.value ?? { total: 0 }
  return {
    ids,
    problem: finding.problem,
    columns: titlesOf(columnsOf(now)),
    draw: (at) => requestLines({ listed, requests, chosen, bids, open: raw, now, view }, at),
    actions: {
      ...(isSearch ? {} : pageActions(host, total, REQUESTS_PAGE)),
      ...moving,
      ...sortActions(host, 'requests', workFields),
      view: () => viewNext(host),
      add: () => onlyItsOwner(host, ids, 'award'),
      remove: () => onlyItsOwner(host, ids, 'cancel'),
    },
  }
}

/** An award pays, and the cockpit has no wallet: the command line shows the price and asks. */
function onlyItsOwner(host: Host, ids: readonly string[], act: 'award' | 'cancel'): void {
  const id = ids[chosenIndex(host.ui.get(), ids)]
  if (id === undefined) refuse(host, 'No request is chosen.')
  else {
    const command = shellCommand(host, ['requests', act === 'award' ? 'bids' : 'cancel', id])
    refuse(host, `Only who asked for it may ${act}.  → ${command}`)
  }
}

function statusOf({ requestView }: Ui): PostingStatus | undefined {
  return postingStatuses.find((one) => one === requestView)
}

function viewNext({ ui }: Host): void {
  const { requestView, pages } = ui.get()
  const next = viewNames[(viewNames.indexOf(requestView) + 1) % viewNames.length]
  if (next !== undefined) ui.set({ ...ui.get(), requestView: next, pages: { ...pages, requests: 0 } })
}

const workFields = {
  id: { kind: 'text' },
  title: { kind: 'text' },
  category: { kind: 'text' },
  status: { kind: 'choice', choices: postingStatuses },
  poster: { kind: 'text' },
  bids: { kind: 'count' },
  age: { kind: 'age' },
} as const

function factsOf({ id, title, category, status, posterId, bids, createdAt }: WantedWork): Facts<typeof workFields> {
  return { id, title, category, status, poster: posterId, bids: BigInt(bids), age: createdAt ?? null }
}

type Model = ShownList & {
  readonly listed: Query<Requests>
  readonly requests: readonly WantedWork[]
  readonly bids: Query<Bids>
}

function requestLines(model: Model, area: ScreenArea): Line[] {
  const { listed, requests, chosen, open, now, view } = model
  const { width, height } = area
  const request = requests[chosen]
  if (open !== undefined && request) {
    return openLines(open, { title: `Requests › ${request.id}`, scroll: view.ui.pane.scroll }, area)
  }
  const head = headLines(model, width)
  if (listed.value === undefined) return [...head, ...waitingLines(listed, width)]
  if (request === undefined) return [...head, blank, [dim(emptyWords(view.ui))]]
  const drawer = drawerLines(request, model, width)
  const rows = Math.max(1, Math.min(requests.length, Math.ceil(height / 2)))
  const list = { columns: columnsOf(now), rows: requests, idOf: ({ id }: WantedWork) => id, chosen }
  const table = listTable(view.ui, { ...list, width, height: rows })
  return [...head, table.head, ...table.body, ...drawer]
}

function emptyWords({ filters, requestView }: Ui): string {
  if (filters.requests) return ' no request matches: esc clears it'
  return requestView === 'all' ? ' nobody asks for work yet' : ` no request is ${requestView}: v shows the others`
}

function headLines({ listed, requests, view: { ui, now, keys } }: Model, width: number): Line[] {
  const isSearch = (ui.filters.requests ?? '') !== ''
  const slice = {
    offset: isSearch ? 0 : (ui.pages.requests ?? 0) * REQUESTS_PAGE,
    rows: requests.length,
    total: isSearch ? requests.length : (listed.value?.total ?? 0),
  }
  return listHead(width, {
    title: 'Requests and bids',
    place: sliceWords(slice),
    stale: staleness(listed, now),
    views: viewWords(viewNames, ui.requestView),
    ui,
    screen: 'requests',
    keys,
    order: 'newest first',
    note: listed.value?.among ? [warn(`! ${listed.value.among}   `)] : [],
  })
}

const states: Readonly<Record<PostingStatus, Piece>> = {
  open: accent('● open'),
  awarded: good('✓ awarded'),
  completed: good('✓ done'),
  cancelled: dim('× taken back'),
  expired: dim('– ran out'),
}

function columnsOf(now: number | undefined): readonly ScreenColumn<WantedWork>[] {
  const ageOf = (at: number | undefined) =>
    at === undefined || now === undefined ? '—' : shortSpan(Math.max(0, now - at))
  const leftOf = ({ status, expiresAt }: WantedWork) =>
    status !== 'open' || expiresAt === undefined || now === undefined ? '—' : shortSpan(Math.max(0, expiresAt - now))
  return [
    { title: 'STATE', value: ({ status }) => states[status] },
    { title: 'TITLE', value: ({ title }) => title, min: 14 },
    { title: 'CATEGORY', value: ({ category }) => dim(category), min: 8, drop: 3 },
    { title: 'BUDGET', value: ({ budget }) => strong(budget), align: 'right', exact: true },
    { title: 'BIDS', value: ({ bids }) => count(bids), align: 'right' },
    { title: 'AGE', value: ({ createdAt }) => ageOf(createdAt), align: 'right', drop: 2 },
    { title: 'LEFT', value: leftOf, align: 'right' },
    { title: 'REQUEST', value: ({ id }) => id, exact: true, drop: 1 },
  ]
}

const bidStates: Readonly<Record<BidFacts['status'], Piece>> = {
  submitted: accent('● offered'),
  accepted: good('✓ taken'),
  rejected: dim('× not taken'),
  withdrawn: dim('– withdrawn'),
}

const bidColumns: readonly ScreenColumn<BidFacts>[] = [
  { title: 'STATE', value: ({ status }) => bidStates[status] },
  { title: 'PRICE', value: ({ price }) => strong(price), align: 'right', exact: true },
  { title: 'HOURS', value: ({ hours }) => String(hours), align: 'right' },
  { title: 'PITCH', value: ({ pitch }) => pitch, min: 10 },
  { title: 'PROVIDER', value: ({ providerId }) => providerId, exact: true, drop: 2 },
  { title: 'BID', value: ({ id }) => id, exact: true, drop: 1 },
]

function drawerLines(request: WantedWork, { bids }: Model, width: number): Line[] {
  const brief = wrap(JSON.stringify(request.brief), width - 2).slice(0, BRIEF_LINES)
  const known = bids.value?.of === request.id ? bids.value : undefined
  return [
    rule(width, request.id, [dim('e json')]),
    [dim(' asked by   '), request.posterId, dim(request.isSubcontract ? '  as a part of a job of its own' : '')],
    ...brief.map((words): Line => [' ', words]),
    ...bidLines(request, known, width),
  ]
}

function bidLines({ bids: count_, id }: WantedWork, known: Bids | undefined, width: number): Line[] {
  if (known === undefined) return [[dim(' asking…')]]
  const bids = count_ === 1 ? '1 bid' : `${count(count_)} bids`
  if (known.isDenied) return [[dim(` ${bids}, which only who asked may read: souk requests bids ${id}`)]]
  if (known.bids.length === 0) return [[dim(' nobody has offered yet')]]
  const table = tableLines({ columns: bidColumns, rows: known.bids, chosen: -1, width, height: known.bids.length })
  return [table.head, ...table.body]
}
