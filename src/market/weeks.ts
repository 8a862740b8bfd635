import { DAY_MS, HOUR_MS } from '../core/time.ts'
import {
  type BuyerName,
  buyers,
  buyOfHouse,
  type DemoOrder,
  deal,
  fileOf,
  hand,
  negotiate,
  type Play,
  verify,
} from './acts.ts'
import type { Ware } from './cast.ts'

const WEEK_MS = 7 * DAY_MS
const wares = ['french', 'audit', 'palette', 'copy', 'french', 'legal', 'palette'] as const satisfies readonly Ware[]

/** Quill is left out, so that its subscription becomes past due. */
const depositors = ['acme', 'bot7'] as const satisfies readonly BuyerName[]
const methods = ['x402', 'balance'] as const

/** The plan and the product that are sold in all weeks. */
export type Stock = { readonly plan: string; readonly product: string }

export async function openStock(play: Play): Promise<Stock> {
  const { cast, shelf } = play
  const icons = await fileOf(play, 'icons.svg', '<svg xmlns="http://www.w3.org/2000/svg"><title>icons</title></svg>\n')
  const sold = { name: 'Icon set', description: '120 line icons as SVG.', price: '9.00', category: 'design' }
  const { id: product } = await cast.pixelforge.call('createProduct', { body: sold, file: icons })
  const draft = { name: 'Brand book template', price: '19.00', category: 'design' }
  await cast.pixelforge.call('createProduct', { body: draft, file: undefined })
  const { id: plan } = await cast.lingua.call('createPlan', {
    body: {
      name: 'Translations',
      description: 'All French translations of a month.',
      price: '5.00',
      billing_period: 'monthly',
      service_ids: [shelf.french],
    },
  })
  for (const name of depositors) await cast[name].pay('deposit', { body: { amount: '80.00' } })
  return { plan, product }
}

/** Schedules ordinary trade between two times. */
export function planWeeks(play: Play, stock: Stock, span: { readonly from: number; readonly until: number }): void {
  const { agenda, dice } = play
  const count = Math.floor((span.until - span.from) / WEEK_MS)
  for (let week = 0; week < count; week += 1) {
    const monday = span.from + week * WEEK_MS
    for (let sale = 0; sale < 4; sale += 1) {
      const time = monday + (sale + dice.below(2)) * DAY_MS + dice.below(9) * HOUR_MS
      const order = { who: dice.pick(buyers), ware: dice.pick(wares), from: dice.pick(methods) }
      agenda.at(time, () => deal(play, order))
      agenda.at(time + HOUR_MS, () => buyOfHouse(play, play.cast[order.who], order.from))
    }
    planSpecials(play, stock, { week, monday })
  }
}

type Week = { readonly week: number; readonly monday: number }

function planSpecials(play: Play, stock: Stock, { week, monday }: Week): void {
  const { agenda, cast, dice } = play
  // Each buyer buys the file once.
  const reader = week % 3 === 1 ? buyers[(week - 1) / 3] : undefined
  if (week % 4 === 1) agenda.at(monday + 2 * DAY_MS, () => negotiate(play, dice.pick(buyers), 'done'))
  if (reader) {
    agenda.at(monday + 3 * DAY_MS, async () => {
      await cast[reader].pay('purchaseProduct', { params: { id: stock.product }, body: {} })
    })
  }
  if (week % 3 === 2) agenda.at(monday + DAY_MS, () => requestWork(play, dice.pick(buyers)))
  if (week % 4 === 2) {
    agenda.at(monday + 4 * DAY_MS, async () => {
      await cast.bot7.pay('deposit', { body: { amount: '40.00' } })
      await cast.acme.call('withdrawBalance', { body: { amount: '2.50' } })
    })
  }
}

/** Posts a request with two bids, awards the first bid, and schedules the work. */
export async function requestWork(play: Play, who: BuyerName): Promise<void> {
  const { agenda, cast, now } = play
  const buyer = cast[who]
  const posting = await postRequest(play, who, 'Proofread our handbook')
  const at = now()
  const bid = await bidOn(play, posting, { by: 'inkwell', price: '8.00' })
  await bidOn(play, posting, { by: 'pixelforge', price: '9.50' })
  agenda.at(at + 20 * HOUR_MS, async () => {
    const { job_id: job } = await buyer.pay('awardPosting', { params: { id: posting }, body: { bid_id: bid } })
    const order: DemoOrder = { job, ware: 'copy' }
    agenda.at(now() + 10 * HOUR_MS, () => hand(play, order))
    agenda.at(now() + 20 * HOUR_MS, () => verify(play, buyer, job))
  })
}

export async function postRequest({ cast }: Play, who: BuyerName, title: string): Promise<string> {
  const body = { title, brief: { text: 'Forty pages, plain English.' }, category: 'writing', budget_max_usd: 20 }
  return (await cast[who].call('createPosting', { body })).id
}

type Bidding = { readonly by: 'inkwell' | 'pixelforge'; readonly price: string }

export async function bidOn({ cast, shelf }: Play, posting: string, { by, price }: Bidding): Promise<string> {
  const service = by === 'inkwell' ? shelf.copy : shelf.palette
  const body = { price_usd: price, eta_hours: 24, service_id: service, pitch: 'Done twice before.' }
  return (await cast[by].call('createBid', { params: { id: posting }, body })).id
}
