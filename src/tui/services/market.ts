import { planFields, postingFields, productFields, subscriptionFields } from '../../api/endpoint/list-fields.ts'
import type { Link, Outcome } from '../../client/link.ts'
import { type Job, jobStateOf } from '../../nouns/jobs.ts'
import { plan } from '../../nouns/plans.ts'
import { posting } from '../../nouns/postings.ts'
import { product } from '../../nouns/products.ts'
import { subscription } from '../../nouns/subscriptions.ts'
import { count, padEnd, shortSpan } from '../../text/text.ts'
import { shownJob } from '../job/rows.ts'
import { listScreen, tabbedHead } from '../list/nouns.ts'
import { spark } from '../parts/charts.ts'
import { jsonLines } from '../parts/json-lines.ts'
import { accent, dim, type Line, strong } from '../parts/line.ts'
import { refuse, shellCommand } from '../shell/ask.ts'
import { tabWords, viewWords } from '../shell/finding.ts'
import { ask, SLOW_EVERY_MS } from '../shell/queries.ts'
import { useQuery } from '../shell/query.ts'
import type { Face, Host, Screen, View } from '../shell/screen.ts'
import { after, type ServiceTab, type ShopView, serviceTabs, shopViews, type Ui, unnarrowed } from '../shell/ui.ts'
import { aboutLines, deliveriesLines, type ServicesShown, schemaLines } from './lines.ts'
import type { MarketListing } from './rows.ts'

const id = 'services'
/** The views of the market. Each is a list with its own hooks. */
const lists = {
  plans: listScreen({ id, noun: plan, fields: planFields, title: 'Plans' }),
  subscriptions: listScreen({ id, noun: subscription, fields: subscriptionFields, title: 'Subscriptions' }),
  requests: listScreen({ id, noun: posting, fields: postingFields, title: 'Requests for work' }),
  products: listScreen({ id, noun: product, fields: productFields, title: 'Products' }),
}

export function useMarket(host: Host, view: View): ReturnType<Screen['use']> {
  const shown = view.ui.shopView === 'services' ? 'plans' : view.ui.shopView
  const shop = useShop(host, view)
  const useList = lists[shown]
  return useList(host, view, {
    viewsOf: () => shopWords(shown, shop),
    tabs: viewWords(tabs, tabOf(view.ui)).slice(1),
    isRaw: tabOf(view.ui) === 'json',
    actions: () => ({
      ...shopActions(host, view),
      ...tabActions(host),
      testHook: () => refuse(host, 'Only a listing has an endpoint to test.  → v services'),
    }),
  })
}

const tabs = ['about', 'json'] as const

/** The current tab. The tabs that only listings have count as `about` here. */
function tabOf({ serviceTab }: Ui): (typeof tabs)[number] {
  return serviceTab === 'json' ? 'json' : 'about'
}

function tabActions({ ui }: Host): Face['actions'] {
  const turn = () => ui.set({ ...ui.get(), serviceTab: tabOf(ui.get()) === 'json' ? 'about' : 'json' })
  return { nextTab: turn, previousTab: turn }
}

type ShopCounts = Readonly<Partial<Record<ShopView, number>>>

/** Fetches how many objects of each kind the market has. A kind whose request fails is omitted. */
const fetchShopCounts =
  (link: Link, admin: boolean) =>
  async (signal: AbortSignal): Promise<Outcome<ShopCounts>> => {
    if (!admin) return { ok: true, value: {} }
    const asked = { query: { limit: '1' }, signal }
    const total = (answer: { readonly total: number }) => answer.total
    const [services, plans, subscriptions, requests, products] = await Promise.all([
      ask(link, { name: 'listAllServices', asked }, total),
      ask(link, { name: 'listAllPlans', asked }, total),
      ask(link, { name: 'listAllSubscriptions', asked }, total),
      ask(link, { name: 'listAllPostings', asked }, total),
      ask(link, { name: 'listAllProducts', asked }, total),
    ])
    const told = Object.entries({ services, plans, subscriptions, requests, products }).flatMap(([name, answer]) =>
      answer.ok ? [[name, answer.value] as const] : [],
    )
    return { ok: true, value: Object.fromEntries(told) }
  }

type Shop = { readonly counts: ShopCounts; readonly admin: boolean }

export function useShop(host: Host, { where }: View): Shop {
  const isKnown = where?.admin === true
  const asked = { name: `shop counts ${isKnown}`, every: SLOW_EVERY_MS }
  return { counts: useQuery(fetchShopCounts(host.link, isKnown), asked).value ?? {}, admin: where?.admin !== false }
}

/** The action of `v`: the next view. Only the operator has more than one. */
export function shopActions(host: Host, { where }: View): Face['actions'] {
  return {
    view() {
      const ui = host.ui.get()
      if (where?.admin === false)
        refuse(host, `Only the administrator can see all trades.  → ${shellCommand(host, ['plans', 'list'])}`)
      else host.ui.set({ ...unnarrowed(ui, 'services'), shopView: after(shopViews, ui.shopView) })
    },
  }
}

export function shopWords(shown: ShopView, { counts, admin }: Shop): Line {
  return viewWords(admin ? shopViews : [shown], shown, counts)
}

/** A listing with its newest jobs, undefined until known, and the figures of the list. */
export type Sold = ServicesShown & {
  readonly sales: readonly Job[] | undefined
  readonly selling: MarketListing['selling'] | undefined
}

const drawn: Readonly<Record<ServiceTab, (shown: Sold) => readonly Line[]>> = {
  about: aboutLines,
  schema: schemaLines,
  deliveries: deliveriesLines,
  sales: salesLines,
  json: ({ service }) => jsonLines(service),
}

/** The current tab of a listing, below or beside the list. */
export function tabLines(shown: Sold, tab: ServiceTab, isBeside: boolean): Line[] {
  const head = tabbedHead(shown.service.id, tabWords(serviceTabs, tab), { width: shown.width, isBeside })
  return [...head, ...drawn[tab](shown)]
}

const BUYER_COLUMNS = 16
/** From this width each sale shows its id. */
const ID_FROM = 76

function salesLines({ selling, sales, now, width }: Sold): Line[] {
  const week: Line[] =
    selling === undefined
      ? []
      : [
          [
            dim(' 7 days    '),
            strong(`${count(selling.sold)} sold `),
            accent(spark(selling.by_day, selling.by_day.length)),
            `   ${count(selling.refunded)} refunded`,
          ],
        ]
  if (sales === undefined) return [...week, [dim(' asking…')]]
  if (sales.length === 0) return [...week, [dim(' no sales yet: a buyer buys it with souk buy')]]
  const widest = Math.max(...sales.map((job) => shownJob(job).amount.length))
  return [
    ...week,
    ...sales.map((job): Line => {
      const age = shortSpan(Math.max(0, now - Date.parse(job.created_at)))
      const { buyer, amount } = shownJob(job)
      const state = jobStateOf(job, now)
      return [
        ' ',
        typeof state === 'string' ? padEnd(state, 12) : { ...state, text: padEnd(state.text, 12) },
        ` ${padEnd(buyer, BUYER_COLUMNS).slice(0, BUYER_COLUMNS)}  `,
        strong(amount.padStart(widest)),
        dim(`  ${age.padStart(4)}${width >= ID_FROM ? `  ${job.id}` : ''}`),
      ]
    }),
  ]
}
