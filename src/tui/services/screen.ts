import { useMemo } from 'react'
import { serviceFields } from '../../api/endpoint/list-fields.ts'
import type { ListingChanges, Outcome } from '../../client/link.ts'
import type { Facts } from '../../core/filter.ts'
import { SOLD_DAYS } from '../../core/limits.ts'
import { compact } from '../../core/record.ts'
import * as column from '../../nouns/columns.ts'
import type { Delivery } from '../../nouns/deliveries.ts'
import { service as listing } from '../../nouns/services.ts'
import { accent, bad, dim, good, type Toned, warn } from '../../nouns/tones.ts'
import { microOf } from '../../text/columns.ts'
import { clip, count as counted, safe, shellWord } from '../../text/text.ts'
import { listFace } from '../list/nouns.ts'
import { listRows } from '../list/rows.ts'
import { spark } from '../parts/charts.ts'
import { jsonLines } from '../parts/json-lines.ts'
import type { Line } from '../parts/line.ts'
import { said } from '../shell/act-dialogs.ts'
import { askAnyway, refuse, type Sent, shellCommand } from '../shell/ask.ts'
import { beginLine } from '../shell/commands.ts'
import type { DialogSpec, Told } from '../shell/dialog.ts'
import { useSettled } from '../shell/finding.ts'
import { askAll, meant } from '../shell/marks.ts'
import { ask, SLOW_EVERY_MS } from '../shell/queries.ts'
import { useQuery } from '../shell/query.ts'
import { text, time } from '../shell/read.ts'
import type { Host, Screen, View } from '../shell/screen.ts'
import { chosenIndex, type Pane, serviceTabs } from '../shell/ui.ts'
import { wholeLines } from './lines.ts'
import { type Sold, shopActions, shopWords, tabLines, useMarket, useShop } from './market.ts'
import {
  catalogQuery,
  fetchDeliveries,
  fetchSales,
  fetchService,
  isNewProvider,
  type MarketListing,
  scoreOf,
} from './rows.ts'

export const screen: Screen = { title: 'Services', short: 'Svcs', part: ({ shopView }) => shopView, use: useServices }

function useServices(host: Host, view: View): ReturnType<Screen['use']> {
  const useShown = view.ui.shopView === 'services' ? useListings : useMarket
  return useShown(host, view)
}

const PROVIDER_MAX = 20
/** Endpoints are never cut. */
const HOOK_COLUMNS = 20
const kinds: Readonly<Record<string, string>> = { automated: 'auto', human: 'person', instant: 'at once' }

const useRows = listRows<MarketListing>({
  id: 'services',
  fields: serviceFields,
  asked: { sort: '-sold' },
  own: { list: 'getCatalog', asked: catalogQuery, factsOf },
  noun: {
    name: 'service',
    plural: 'services',
    list: 'listAllServices',
    source: listing.source,
    idOf: ({ id }) => id,
    nameOf: ({ name }) => name,
    columns: [
      column.name('NAME', ({ name }) => name, { min: 18 }),
      column.word('PROVIDER', (one) => clip(one.provider_name || one.provider_id, PROVIDER_MAX), { min: 6, drop: 2 }),
      column.word('KIND', ({ fulfillment_type: kind }) => kinds[kind] ?? kind, { drop: 3 }),
      column.money('BUYER PAYS', (one) => one.agent_price.fixed ?? one.price.fixed ?? 'by quote'),
      column.count('REP', repWord, { drop: 1 }),
      column.count(`SOLD ${SOLD_DAYS}D`, soldWord, { plain: ({ selling }) => selling?.sold, drop: 2 }),
      column.count('REFUND', refundWord, { drop: 4 }),
      column.word('ENDPOINT', hookSign, { min: HOOK_COLUMNS }),
      column.id('SERVICE', ({ id }) => id, { drop: 5 }),
    ],
  },
})

function useListings(host: Host, view: View): ReturnType<Screen['use']> {
  const { ui, area } = view
  const shown = useRows(host, view)
  const { row, rows, now = view.now } = shown
  const shop = useShop(host, view)
  const { service, deliveries, sales, me } = useDetail(host, view, row)
  const sold: Sold | undefined = service && {
    service,
    selling: row?.selling,
    deliveries,
    sales,
    now,
    width: area.width,
  }
  const lines = useOpen(ui.pane.open, sold)
  const person = ui.speaker?.id ?? me.value
  const isOwn = row !== undefined && row.provider_id === person
  const canEdit = isOwn && !host.readonly
  return listFace(host, {
    title: 'Services',
    shown,
    view,
    order: view.where?.admin === false ? 'newest first' : 'most sold',
    viewsOf: (services) => shopWords('services', { ...shop, counts: { ...shop.counts, ...compact({ services }) } }),
    drawer: (_, { width }, isBeside) => (sold ? tabLines({ ...sold, width }, ui.serviceTab, isBeside) : []),
    open: lines && { lines },
    hints: { testHook: isOwn ? undefined : false, raw: canEdit ? 'edit' : undefined },
    actions: {
      ...shopActions(host, view),
      buy: () => beginPurchase(host, rows[chosenIndex(host.ui.get(), shown.face.ids)]),
      ...(canEdit && service !== undefined ? { raw: () => void editListing(host, service) } : {}),
      testHook: () => testChosen(host, rows, person),
      nextTab: () => turnTab(host, 1),
      previousTab: () => turnTab(host, -1),
    },
  })
}

function turnTab({ ui }: Host, by: number): void {
  const { serviceTab } = ui.get()
  const next = serviceTabs.at((serviceTabs.indexOf(serviceTab) + by) % serviceTabs.length)
  if (next !== undefined) ui.set({ ...ui.get(), serviceTab: next })
}

/** Hook that returns the lines of the opened row. */
function useOpen(pane: Pane['open'], shown: Sold | undefined): readonly Line[] | undefined {
  const value = pane === 'raw' ? shown?.service : undefined
  const raw = useMemo(() => jsonLines(value), [value])
  if (shown === undefined || pane === 'beside') return undefined
  return pane === 'raw' ? raw : wholeLines(shown)
}

function factsOf(one: MarketListing): Facts<typeof serviceFields> {
  const score = scoreOf(one)
  return {
    id: one.id,
    name: one.name,
    provider: [one.provider_name ?? '', one.provider_id],
    category: one.category,
    tag: one.tags,
    kind: one.fulfillment_type,
    type: one.service_type,
    price: microOf(one.agent_price.fixed ?? '') ?? null,
    sold: one.selling === undefined ? null : BigInt(one.selling.sold),
    reputation: score === undefined ? null : BigInt(Math.round(score)),
    verified: one.provider_verification_tier === 'identity_verified',
    hook: one.webhook_status,
    age: time(one.listed_at) ?? null,
  }
}

/** Hook that fetches the details of a listing once the cursor rests on it. */
function useDetail(host: Host, view: View, row: MarketListing | undefined) {
  const { link, clock } = host
  const id = useSettled(row?.id ?? '', clock)
  const provider = useSettled(row?.provider_id ?? '', clock)
  const me = useQuery(link.self, { name: 'self', every: SLOW_EVERY_MS })
  const of = { provider, isOwn: me.value === provider, admin: view.where?.admin === true }
  const detail = useQuery(fetchService(link, id), { name: `service ${id}`, every: SLOW_EVERY_MS })
  const sent = useQuery(fetchDeliveries(link, of), { name: `deliveries ${JSON.stringify(of)}`, every: SLOW_EVERY_MS })
  // Sales are fetched only while their tab is shown.
  const wanted = view.ui.serviceTab === 'sales' && view.where?.admin === true ? id : ''
  const sales = useQuery(fetchSales(link, wanted), { name: `sales ${wanted}`, every: SLOW_EVERY_MS })
  const isCurrent = detail.value !== undefined && detail.value.id === row?.id
  const ofService = ({ service_id: id }: Delivery) => id === row?.id || id === null
  const deliveries = row?.provider_id === provider ? sent.value?.filter(ofService) : undefined
  const service = isCurrent ? detail.value : row
  return { service, deliveries, sales: wanted === row?.id ? sales.value : undefined, me }
}

/** Opens the dialog that tests a webhook. Only the listing's provider may do that. */
function testChosen(host: Host, services: readonly MarketListing[], person: string | undefined): void {
  const rows = meant(host.ui.get(), services, ({ id }) => id)
  if (rows.length === 0) refuse(host, 'No service is chosen.')
  else if (rows.every((one) => one.provider_id === person))
    askAll(
      host,
      rows.map((service) => said(host, hookDialog(host, service))),
      askAnyway,
    )
  else refuse(host, `Only its provider may test a webhook.  → souk tui services --as WALLET`)
}

/** Begins a purchase command that pays at most the shown price. The user types the input. */
function beginPurchase(host: Host, service: MarketListing | undefined): void {
  const price = service?.agent_price.fixed
  const { speaker } = host.ui.get()
  const as = speaker === undefined ? '' : ` --as ${shellWord(speaker.wallet)}`
  if (service === undefined) refuse(host, 'No service is chosen.')
  else if (price) beginLine(host, `services buy ${service.id}${as} --max-price ${price.replace('$', '')} -i `)
  else refuse(host, `Ask for its price first.  → ${shellCommand(host, ['services', 'inquire', service.id])}`)
}

function soldWord({ selling }: MarketListing): Toned {
  if (selling === undefined) return '—'
  const { sold, by_day: days } = selling
  return sold === 0 ? '0' : accent(`${counted(sold)} ${spark(days, days.length)}`)
}

/** Share of the week's sales that were refunded. One decimal below ten percent. */
function refundWord({ selling }: MarketListing): Toned {
  if (selling === undefined || selling.sold === 0) return '—'
  const percent = (100 * selling.refunded) / selling.sold
  const words = `${percent > 0 && percent < 10 ? percent.toFixed(1) : Math.round(percent)} %`
  return percent === 0 ? dim(words) : warn(words)
}

/** State of the webhook and its last response. The marketplace's own services have no webhook. */
function hookSign({ webhook_status: hook, selling, ...one }: MarketListing): Toned {
  if (one.fulfillment_type === 'instant' || one.provider_name === HOUSE) return dim('– built in')
  const call = selling?.last_call
  if (call && hook === 'healthy' && call.failures === 0) return good(`✓ ${call.ms} ms`)
  if (call && hook === 'failing') return bad(`✗ ${call.status ?? 'no answer'} ×${call.failures}`)
  return hookSigns[hook] ?? hook
}

const HOUSE = 'souk'
const hookSigns: Readonly<Record<string, Toned>> = {
  healthy: good('✓ answers'),
  failing: bad('✗ failing'),
  not_tried: dim('– not tried'),
  polling: dim('○ asks itself'),
}

function repWord(one: MarketListing): string {
  if (isNewProvider(one)) return 'new'
  const score = scoreOf(one)
  return score === undefined ? '—' : String(Math.round(score))
}

export function hookDialog(host: Host, { id, ...one }: MarketListing): DialogSpec {
  const name = text(one.name)
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
    send: () =>
      ask(host.link, { name: 'testService', asked: { params: { id } } }, (answer): Told => {
        const { status, error, latency_ms: ms, delivered } = answer
        const said = `${status === null ? 'no answer' : `HTTP ${status}`} in ${ms} ms${error ? `: ${safe(error)}` : ''}`
        if (delivered) return `The endpoint accepted it: ${said}.`
        return { text: `✗ Not taken: ${said}  → ${shellCommand(host, ['services', 'edit', id])}`, tone: 'bad' }
      }),
  }
}

/** Opens a listing of the user in an editor, and asks before it sends the changes. */
async function editListing(host: Host, service: MarketListing): Promise<void> {
  const { edit } = host
  if (edit === undefined) return refuse(host, 'This cockpit cannot open an editor.')
  let edited: Outcome<ListingChanges> | undefined
  await host.lend.current(async () => {
    edited = await edit(service)
  })
  if (edited?.ok) askAnyway(host, said(host, changeDialog(host, service, edited.value)))
  else if (edited !== undefined) refuse(host, [edited.problem.sentence, ...edited.problem.facts].join('  '))
}

export function changeDialog(host: Host, { id, ...one }: MarketListing, changes: ListingChanges): DialogSpec {
  const name = text(one.name)
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
