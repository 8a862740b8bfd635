import { useMemo } from 'react'
import { businessNow, useClock } from '../crons/screen.ts'
import { jsonLines } from '../parts/json-lines.ts'
import { blank, dim, type Line, rule, spread, warn } from '../parts/line.ts'
import { type ScreenColumn, tableLines } from '../parts/table.ts'
import { askAnyway, refuse } from '../shell/ask.ts'
import { staleness, waitingLines } from '../shell/notice.ts'
import { openLines, pageActions, paneActions, sliceWords } from '../shell/pane.ts'
import { SLOW_EVERY_MS } from '../shell/queries.ts'
import type { Query } from '../shell/query.ts'
import type { Host, Screen, ScreenArea, View } from '../shell/screen.ts'
import { chosenIndex, type Pane, passes, serviceSorts, type Ui } from '../shell/ui.ts'
import { useQuery } from '../shell/use-query.ts'
import { useSettled } from '../shell/use-settled.ts'
import type { DeliveryFacts, ServiceFacts } from './facts.ts'
import { besideLines, hookSign, type ServicesShown, wholeLines } from './lines.ts'
import { fetchDeliveries, fetchService, fetchServices, SERVICES_PAGE, type Services } from './rows.ts'
import { hookDialog } from './webhook-dialog.ts'

/** A hook: the listings, and what is known of the chosen one. */
export function useServices(host: Host, view: View): ReturnType<Screen['use']> {
  const { ui, area } = view
  const { listed, services } = useListed(host, ui)
  const ids = services.map(({ id }) => id)
  const chosen = chosenIndex(ui, ids)
  const { service, deliveries, me } = useDetail(host, view, services[chosen])
  const now = businessNow(useClock(host), view.now) ?? view.now
  const shown: ServicesShown | undefined = service && { service, deliveries, now, width: area.width }
  const open = useOpen(ui.pane.open, shown)
  const slice = sliceOf(listed, services.length)
  const model: Model = { listed, services, chosen, shown, open, words: sliceWords(slice), view }
  return {
    ids,
    draw: (at) => serviceLines(model, at),
    actions: {
      ...pageActions(host, slice.total, SERVICES_PAGE),
      ...paneActions(host, open, area),
      sort: () => sortNext(host),
      testHook: () => testChosen(host, services, me),
    },
  }
}

/** A hook: lines of what is open in place of the list. */
function useOpen(pane: Pane['open'], shown: ServicesShown | undefined): readonly Line[] | undefined {
  const value = pane === 'raw' ? shown?.service.raw : undefined
  const raw = useMemo(() => jsonLines(value), [value])
  if (shown === undefined || pane === 'beside') return undefined
  return pane === 'raw' ? raw : wholeLines(shown)
}

/** One page of the catalog, searched by the instance; words with `!` are taken out here. */
function useListed(host: Host, ui: Ui): { listed: Query<Services>; services: readonly ServiceFacts[] } {
  const typed = (ui.filters.services ?? '').split(' ').filter(Boolean)
  const [without, words] = [
    typed.filter((word) => word.startsWith('!')).join(' '),
    typed.filter((word) => !word.startsWith('!')).join(' '),
  ]
  const search = { words: useSettled(words, host.clock), sort: ui.serviceSort, page: ui.pages.services ?? 0 }
  const name = `services ${JSON.stringify(search)}`
  const listed = useQuery(fetchServices(host.link, search), { name, every: SLOW_EVERY_MS })
  const all = listed.value?.services ?? []
  return {
    listed,
    services: all.filter((one) => passes(without, [one.id, one.name, one.description, one.kind].join(' '))),
  }
}

type Detail = { service: ServiceFacts | undefined; deliveries: readonly DeliveryFacts[] | undefined; me: Query<string> }

/** What the list does not say is asked for when the cursor stands still. */
function useDetail(host: Host, view: View, row: ServiceFacts | undefined): Detail {
  const { link, clock } = host
  const id = useSettled(row?.id ?? '', clock)
  const provider = useSettled(row?.providerId ?? '', clock)
  const me = useQuery(link.self, { name: 'self', every: SLOW_EVERY_MS })
  const of = { provider, isOwn: me.value === provider, admin: view.where?.admin === true }
  const detail = useQuery(fetchService(link, id), { name: `service ${id}`, every: SLOW_EVERY_MS })
  const sent = useQuery(fetchDeliveries(link, of), { name: `deliveries ${JSON.stringify(of)}`, every: SLOW_EVERY_MS })
  const isCurrent = detail.value !== undefined && detail.value.id === row?.id
  const ofService = (one: DeliveryFacts) => one.serviceId === row?.id || one.serviceId === ''
  const deliveries = row?.providerId === provider ? sent.value?.filter(ofService) : undefined
  return { service: isCurrent ? detail.value : row, deliveries, me }
}

function sliceOf({ value }: Query<Services>, shown: number) {
  const { offset = 0, total = 0, services = [] } = value ?? {}
  // Rows that are taken out here still belong to the page.
  return { offset, total, rows: total <= SERVICES_PAGE ? shown : services.length }
}

function sortNext({ ui }: Host): void {
  const { serviceSort, pages } = ui.get()
  const next = serviceSorts[(serviceSorts.indexOf(serviceSort) + 1) % serviceSorts.length]
  if (next !== undefined) ui.set({ ...ui.get(), serviceSort: next, pages: { ...pages, services: 0 } })
}

/** Only the provider may test an endpoint. */
function testChosen(host: Host, services: readonly ServiceFacts[], me: Query<string>): void {
  const ids = services.map(({ id }) => id)
  const service = services[chosenIndex(host.ui.get(), ids)]
  if (service === undefined) return
  if (service.providerId === me.value) askAnyway(host, hookDialog(host, service))
  else refuse(host, `Only its provider may test it.  → souk tui services --as WALLET`)
}

type Model = {
  readonly listed: Query<Services>
  readonly services: readonly ServiceFacts[]
  readonly chosen: number
  readonly shown: ServicesShown | undefined
  /** What is open in place of the list. */
  readonly open: readonly Line[] | undefined
  readonly words: string
  readonly view: View
}

function serviceLines(model: Model, area: ScreenArea): Line[] {
  const { listed, services: rows, chosen, shown, open, view } = model
  if (open !== undefined) return openLines(open, { title: shown?.service.id ?? '', scroll: view.ui.pane.scroll }, area)
  const head = [rule(area.width, 'Services'), statusLine(model, area.width)]
  if (listed.value === undefined) return [...head, ...waitingLines(listed, area.width)]
  if (rows.length === 0) return [...head, blank, [dim(' no such service')]]
  const drawer = shown === undefined ? [] : besideLines(shown)
  const height = Math.max(1, area.height - 3 - drawer.length)
  const table = tableLines({ columns, rows, chosen, width: area.width, height: Math.min(height, rows.length) })
  return [...head, table.head, ...table.body, ...drawer]
}

const sortWords: Readonly<Record<Ui['serviceSort'], string>> = {
  best: 'best first',
  price_asc: 'price ▲',
  price_desc: 'price ▼',
  reputation: 'reputation ▼',
}

function statusLine({ listed, words, view: { ui, now } }: Model, width: number): Line {
  const filter = ui.filters.services ?? ''
  const typed: Line = ui.typing || filter !== '' ? [` /${filter}${ui.typing ? '▏' : ''}`] : [dim(' all services')]
  const stale = staleness(listed, now)
  const sort = ui.serviceSort === 'best' && filter === '' ? 'newest first' : sortWords[ui.serviceSort]
  return spread(width, typed, [...(stale ? [warn(`! ${stale}  `)] : []), words, `   sort: ${sort} `])
}

const columns: readonly ScreenColumn<ServiceFacts>[] = [
  { title: 'ID', value: ({ id }) => id, exact: true },
  { title: 'NAME', value: ({ name }) => name, min: 12 },
  { title: 'KIND', value: ({ kind }) => kind, drop: 3 },
  { title: 'PRICE', value: ({ price }) => (price === '' ? 'quote' : price), align: 'right', exact: true },
  { title: 'BUYER', value: ({ buyerPays }) => buyerPays, align: 'right', exact: true, drop: 2 },
  { title: 'REP', value: ({ score, isNew }) => repWord(score, isNew), align: 'right', drop: 1 },
  { title: 'HOOK', value: hookSign },
]

function repWord(score: number | undefined, isNew: boolean): string {
  if (isNew) return 'new'
  return score === undefined ? '—' : String(Math.round(score))
}
