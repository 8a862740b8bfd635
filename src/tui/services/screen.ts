import { useMemo } from 'react'
import { serviceFields } from '../../api/endpoint/list-fields.ts'
import type { ListingChanges, Outcome } from '../../client/link.ts'
import type { Facts } from '../../core/filter.ts'
import { SOLD_DAYS } from '../../core/limits.ts'
import type { Delivery } from '../../nouns/deliveries.ts'
import type { Job } from '../../nouns/jobs.ts'
import { service } from '../../nouns/services.ts'
import { microOf } from '../../text/columns.ts'
import { clip, count, safe, shellWord } from '../../text/text.ts'
import { spark } from '../parts/charts.ts'
import { jsonLines } from '../parts/json-lines.ts'
import { accent, blank, dim, type Line, type Piece, strong, warn } from '../parts/line.ts'
import { joinedPanels, sideOf } from '../parts/panels.ts'
import type { ScreenColumn } from '../parts/table.ts'
import { said } from '../shell/act-dialogs.ts'
import { askAnyway, refuse, type Sent } from '../shell/ask.ts'
import { businessNow, useClock } from '../shell/clock.ts'
import { beginLine } from '../shell/commands.ts'
import type { DialogSpec } from '../shell/dialog.ts'
import {
  emptyLines,
  findingOf,
  listHead,
  listTable,
  narrowed,
  sortActions,
  useListQuery,
  useSettled,
} from '../shell/finding.ts'
import { askAll, meant } from '../shell/marks.ts'
import { staleness, waitingLines } from '../shell/notice.ts'
import { openLines, pageActions, paneActions, sliceWords } from '../shell/pane.ts'
import { shellCommand } from '../shell/pause-dialog.ts'
import { ask, SLOW_EVERY_MS } from '../shell/queries.ts'
import { type Query, useQuery } from '../shell/query.ts'
import { listOf } from '../shell/rows.ts'
import type { FaceList, Host, Screen, ScreenArea, View } from '../shell/screen.ts'
import { chosenIndex, type Pane, serviceTabs } from '../shell/ui.ts'
import type { ServiceFacts } from './facts.ts'
import { hookSign, wholeLines } from './lines.ts'
import { useMarket } from './market.ts'
import {
  fetchDeliveries,
  fetchSales,
  fetchService,
  fetchServices,
  SERVICES_PAGE,
  type Services,
  testHook,
} from './rows.ts'
import { type Shop, shopActions, shopWords, useShop } from './shop.ts'
import { belowLines, type Sold, sideLines } from './tabs.ts'

export function useServices(host: Host, view: View): ReturnType<Screen['use']> {
  const useShown = view.ui.shopView === 'services' ? useListings : useMarket
  return useShown(host, view)
}

function useListings(host: Host, view: View): ReturnType<Screen['use']> {
  const { ui, area } = view
  const now = businessNow(useClock(host), view.now) ?? view.now
  const { listed, services, problem, list } = useListed(host, view, now)
  const shop = useShop(host, view)
  const ids = services.map(({ id }) => id)
  const chosen = chosenIndex(ui, ids)
  const { service, deliveries, sales, me } = useDetail(host, view, services[chosen])
  const shown: Sold | undefined = service && { service, deliveries, sales, now, width: area.width }
  const open = useOpen(ui.pane.open, shown)
  const { total } = listed.value ?? { total: 0 }
  const model: Model = { listed, services, chosen, shown, open, shop, view }
  const person = ui.speaker?.id ?? me.value
  const isOwn = services[chosen] !== undefined && services[chosen].providerId === person
  const canEdit = isOwn && !host.readonly
  return {
    ids,
    hints: { testHook: isOwn ? undefined : false, raw: canEdit ? 'edit' : undefined },
    problem,
    list,
    draw: (at) => serviceLines(model, at),
    actions: {
      ...pageActions(host, total, SERVICES_PAGE),
      ...paneActions(host, open, area),
      ...sortActions(host, 'services', serviceFields),
      ...shopActions(host, view),
      buy: () => beginPurchase(host, services[chosenIndex(host.ui.get(), ids)]),
      ...(canEdit && service !== undefined ? { raw: () => void editListing(host, service) } : {}),
      testHook: () => testChosen(host, services, person),
      nextTab: () => turnTab(host, 1),
      previousTab: () => turnTab(host, -1),
    },
  }
}

function turnTab({ ui }: Host, by: number): void {
  const { serviceTab } = ui.get()
  const next = serviceTabs.at((serviceTabs.indexOf(serviceTab) + by) % serviceTabs.length)
  if (next !== undefined) ui.set({ ...ui.get(), serviceTab: next })
}

/** Hook that returns the lines of the opened row. */
function useOpen(pane: Pane['open'], shown: Sold | undefined): readonly Line[] | undefined {
  const value = pane === 'raw' ? shown?.service.raw : undefined
  const raw = useMemo(() => jsonLines(value), [value])
  if (shown === undefined || pane === 'beside') return undefined
  return pane === 'raw' ? raw : wholeLines(shown)
}

type Listed = {
  readonly listed: Query<Services>
  readonly services: readonly ServiceFacts[]
  readonly problem: string | undefined
  readonly list: FaceList
}

/** A React hook that returns a page of listings. The public catalog has no filter, so its rows are filtered here. */
function useListed(host: Host, { ui, where }: View, now: number): Listed {
  const admin = where?.admin !== false
  const finding = findingOf(ui, 'services', serviceFields)
  const search = { admin, page: ui.pages.services ?? 0, asked: useListQuery(host, finding, serviceFields) }
  const name = `services ${JSON.stringify(search)}`
  const listed = useQuery(fetchServices(host.link, search), { name, every: SLOW_EVERY_MS })
  const rowsOf = ({ services: all }: Pick<Services, 'services'>) =>
    admin ? all : narrowed(all, finding, { fields: serviceFields, factsOf, now })
  const services = rowsOf(listed.value ?? { services: [] })
  const fetch = (page: number) => fetchServices(host.link, { ...search, page })
  const paged = { total: listed.value?.total, size: SERVICES_PAGE, fetch, rowsOf }
  const list = listOf({ columns, rows: services, idOf: ({ id }) => id, paged })
  return { listed, services, problem: finding.problem, list }
}

function factsOf(one: ServiceFacts): Facts<typeof serviceFields> {
  return {
    id: one.id,
    name: one.name,
    provider: [one.providerName, one.providerId],
    category: one.category,
    tag: one.tags,
    kind: one.kind,
    type: one.type,
    price: microOf(one.buyerPays) ?? null,
    sold: one.selling === undefined ? null : BigInt(one.selling.sold),
    reputation: one.score === undefined ? null : BigInt(Math.round(one.score)),
    verified: one.tier === 'identity_verified',
    hook: one.hook,
    age: one.listedAt ?? null,
  }
}

type Detail = {
  readonly service: ServiceFacts | undefined
  readonly deliveries: readonly Delivery[] | undefined
  readonly sales: readonly Job[] | undefined
  readonly me: Query<string>
}

/** Hook that fetches the details of a listing once the cursor rests on it. */
function useDetail(host: Host, view: View, row: ServiceFacts | undefined): Detail {
  const { link, clock } = host
  const id = useSettled(row?.id ?? '', clock)
  const provider = useSettled(row?.providerId ?? '', clock)
  const me = useQuery(link.self, { name: 'self', every: SLOW_EVERY_MS })
  const of = { provider, isOwn: me.value === provider, admin: view.where?.admin === true }
  const detail = useQuery(fetchService(link, id), { name: `service ${id}`, every: SLOW_EVERY_MS })
  const sent = useQuery(fetchDeliveries(link, of), { name: `deliveries ${JSON.stringify(of)}`, every: SLOW_EVERY_MS })
  // Sales are fetched only while their tab is shown.
  const wanted = view.ui.serviceTab === 'sales' && view.where?.admin === true ? id : ''
  const sales = useQuery(fetchSales(link, wanted), { name: `sales ${wanted}`, every: SLOW_EVERY_MS })
  const isCurrent = detail.value !== undefined && detail.value.id === row?.id
  const ofService = ({ service_id: id }: Delivery) => id === row?.id || id === null
  const deliveries = row?.providerId === provider ? sent.value?.filter(ofService) : undefined
  // The endpoint of a single listing sends no sales figures, so those of the list are used.
  const service = isCurrent && detail.value ? { ...detail.value, selling: row?.selling } : row
  return { service, deliveries, sales: wanted === row?.id ? sales.value : undefined, me }
}

/** Opens the dialog that tests a webhook. Only the listing's provider may do that. */
function testChosen(host: Host, services: readonly ServiceFacts[], person: string | undefined): void {
  const rows = meant(host.ui.get(), services, ({ id }) => id)
  if (rows.length === 0) refuse(host, 'No service is chosen.')
  else if (rows.every(({ providerId }) => providerId === person))
    askAll(
      host,
      rows.map((service) => said(host, hookDialog(host, service))),
      askAnyway,
    )
  else refuse(host, `Only its provider may test a webhook.  → souk tui services --as WALLET`)
}

/** Begins a purchase command that pays at most the shown price. The user types the input. */
function beginPurchase(host: Host, service: ServiceFacts | undefined): void {
  if (service === undefined) {
    refuse(host, 'No service is chosen.')
    return
  }
  const { id, buyerPays } = service
  if (buyerPays === '') {
    const ask = shellCommand(host, ['services', 'inquire', id])
    refuse(host, `Ask for its price first.  → ${ask}`)
    return
  }
  const { speaker } = host.ui.get()
  const as = speaker === undefined ? '' : ` --as ${shellWord(speaker.wallet)}`
  beginLine(host, `services buy ${id}${as} --max-price ${buyerPays.replace('$', '')} -i `)
}

type Model = {
  readonly listed: Query<Services>
  readonly services: readonly ServiceFacts[]
  readonly chosen: number
  readonly shown: Sold | undefined
  /** Whether the rows come from the public catalog instead of the operator's list. */
  readonly shop: Shop
  /** The opened row, shown in place of the list. Undefined if none is open. */
  readonly open: readonly Line[] | undefined
  readonly view: View
}

function serviceLines(model: Model, area: ScreenArea): Line[] {
  const { listed, services: rows, chosen, shown, open, view } = model
  if (open !== undefined) return openLines(open, { title: shown?.service.id ?? '', scroll: view.ui.pane.scroll }, area)
  const side = sideOf(area.width)
  const width = side === 0 ? area.width : area.width - side - 1
  const head = headLines(model, width)
  if (listed.value === undefined) return [...head, ...waitingLines(listed, area.width)]
  if (rows.length === 0) return [...head, blank, ...emptyLines(service, { filter: view.ui.filters.services, width })]
  const { serviceTab: tab } = view.ui
  const list = { columns, rows, idOf: ({ id }: ServiceFacts) => id, chosen, width }
  if (side > 0) {
    const table = listTable(view.ui, { ...list, height: area.height - 3 })
    const right = shown === undefined ? [] : sideLines(shown, { width: side, height: area.height, tab })
    return joinedPanels([...head, table.head, ...table.body], right, {
      width: area.width,
      split: width,
      height: area.height,
    })
  }
  const room = Math.max(DRAWER_ROWS, Math.floor(area.height / DRAWER_SHARE))
  const drawer = shown === undefined ? [] : belowLines(shown, { width, height: room, tab })
  const height = Math.max(1, area.height - 3 - drawer.length)
  const table = listTable(view.ui, { ...list, height: Math.min(height, rows.length) })
  return [...head, table.head, ...table.body, ...drawer]
}

const DRAWER_ROWS = 7
const DRAWER_SHARE = 3

function headLines({ listed, services, shop, view: { ui, now, keys, where } }: Model, width: number): Line[] {
  const total = listed.value?.total
  const offset = (ui.pages.services ?? 0) * SERVICES_PAGE
  const counts = total === undefined || ui.filters.services ? shop.counts : { ...shop.counts, services: total }
  return listHead(width, {
    title: 'Services',
    place: sliceWords({ offset, rows: services.length, total: total ?? 0 }),
    stale: staleness(listed, now),
    views: shopWords('services', { ...shop, counts }),
    ui,
    screen: 'services',
    keys,
    order: where?.admin === false ? 'newest first' : 'most sold',
  })
}

const kinds: Readonly<Record<string, string>> = { automated: 'auto', human: 'person', instant: 'at once' }

const columns: readonly ScreenColumn<ServiceFacts>[] = [
  { title: 'NAME', value: ({ name }) => name, min: 18 },
  {
    title: 'PROVIDER',
    value: ({ providerName, providerId }) => clip(providerName || providerId, PROVIDER_MAX),
    min: 6,
    drop: 2,
  },
  { title: 'KIND', value: ({ kind }) => kinds[kind] ?? kind, drop: 3 },
  {
    title: 'BUYER PAYS',
    value: ({ buyerPays, price }) => strong(buyerPays || price || 'by quote'),
    align: 'right',
    exact: true,
  },
  { title: 'REP', value: ({ score, isNew }) => repWord(score, isNew), align: 'right', drop: 1 },
  {
    title: `SOLD ${SOLD_DAYS}D`,
    value: soldWord,
    plain: ({ selling }) => selling?.sold,
    align: 'right',
    exact: true,
    drop: 2,
  },
  { title: 'REFUND', value: refundWord, align: 'right', drop: 4 },
  { title: 'ENDPOINT', value: hookSign },
  { title: 'SERVICE', value: ({ id }) => dim(id), exact: true, drop: 5 },
]

const PROVIDER_MAX = 20

function soldWord({ selling }: ServiceFacts): Piece {
  if (selling === undefined) return '—'
  const { sold, by_day: days } = selling
  return sold === 0 ? '0' : accent(`${count(sold)} ${spark(days, days.length)}`)
}

/** Share of the week's sales that were refunded. One decimal below ten percent. */
function refundWord({ selling }: ServiceFacts): Piece {
  if (selling === undefined || selling.sold === 0) return '—'
  const percent = (100 * selling.refunded) / selling.sold
  const words = `${percent > 0 && percent < 10 ? percent.toFixed(1) : Math.round(percent)} %`
  return percent === 0 ? dim(words) : warn(words)
}

function repWord(score: number | undefined, isNew: boolean): string {
  if (isNew) return 'new'
  return score === undefined ? '—' : String(Math.round(score))
}

export function hookDialog(host: Host, { id, name }: ServiceFacts): DialogSpec {
  return {
    title: 'TEST A WEBHOOK',
    about: `${id}  ${name}`,
    as: 'its provider',
    facts: () => [
      ['service', `${id}  ${name}`],
      ['What it does', 'one signed test message is sent to its endpoint; no job, no money'],
    ],
    verb: 'Send',
    command: () => shellCommand(host, ['services', 'test', id]),
    send: async () => {
      const answer = await testHook(host.link, id)
      if (!answer.ok) return answer
      const { delivered, words } = answer.value
      if (delivered) return { ok: true, value: safe(`The endpoint accepted it: ${words}.`) }
      const mend = shellCommand(host, ['services', 'edit', id])
      return { ok: true, value: { text: `✗ Not taken: ${safe(words)}  → ${mend}`, tone: 'bad' } }
    },
  }
}

/** Opens a listing of the user in an editor, and asks before it sends the changes. */
async function editListing(host: Host, service: ServiceFacts): Promise<void> {
  const { edit } = host
  if (edit === undefined) {
    refuse(host, 'This cockpit cannot open an editor.')
    return
  }
  let edited: Outcome<ListingChanges> | undefined
  await host.lend.current(async () => {
    edited = await edit(service.raw)
  })
  if (edited?.ok) askAnyway(host, said(host, changeDialog(host, service, edited.value)))
  else if (edited !== undefined) refuse(host, [edited.problem.sentence, ...edited.problem.facts].join('  '))
}

export function changeDialog(host: Host, { id, name }: ServiceFacts, changes: ListingChanges): DialogSpec {
  const settings = changes.settings.flatMap((setting) => ['--set', setting])
  return {
    title: 'CHANGE A LISTING',
    as: 'its provider',
    facts: () => [['service', `${id}  ${name}`], ...changes.differences],
    verb: 'Change',
    command: () => shellCommand(host, ['services', 'edit', id, ...settings]),
    send: (): Sent =>
      ask(
        host.link,
        { name: 'updateService', asked: { params: { id }, body: changes.body } },
        () => `${name} is changed.`,
      ),
  }
}
