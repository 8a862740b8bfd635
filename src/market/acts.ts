import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SentBody } from '../client/asked.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/time.ts'
import type { Agenda, Dice } from './agenda.ts'
import { type Opened, type RoleName, sellerOf, type Ware } from './cast.ts'
import type { Person } from './hand.ts'

export type BuyerName = Exclude<RoleName, 'lingua' | 'inkwell' | 'pixelforge'>
export const buyers = ['acme', 'bot7', 'quill'] as const satisfies readonly BuyerName[]

/** Context of the demo's actions. */
export type Play = Opened & {
  readonly agenda: Agenda
  readonly dice: Dice
  readonly now: () => number
  /** Temporary folder for uploads. */
  readonly folder: string
}

const texts = [
  'Our new bottle keeps tea warm for a day and fits every bag.',
  'The tenant gives notice in writing three months ahead.',
  'Press the red button twice, then wait for the green light.',
  'We open a second workshop near the harbour in spring.',
] as const
const remarks = ['Exactly what was asked for.', 'Quick and clean.', 'Good, one typo.', 'We will be back.'] as const
/** Mostly good ratings. */
const ratings = [5, 5, 5, 4, 5, 4, 3, 5] as const

const wanted: Readonly<Record<Ware, (dice: Dice) => Record<string, string>>> = {
  french: (dice) => ({ text: dice.pick(texts) }),
  legal: (dice) => ({ text: dice.pick(texts) }),
  copy: (dice) => ({ text: dice.pick(texts) }),
  logo: (dice) => ({ text: dice.pick(texts) }),
  palette: () => ({ text: 'calm, sea, evening' }),
  audit: () => ({ url: 'https://example.org/shop' }),
}

export const delivered: Readonly<Record<Ware, Record<string, string>>> = {
  french: { text: 'Notre nouvelle bouteille garde le thé au chaud toute une journée.' },
  legal: { text: 'Le locataire donne congé par écrit trois mois à l’avance.' },
  copy: { headline: 'Warm till tomorrow', body: 'Fill it once, and the day can come.' },
  audit: { summary: '4 links are dead, 2 pictures have no text, the title is missing on /about.' },
  logo: { files: 'logo.svg, logo-dark.svg, favicon.png' },
  palette: { colours: '#14213d #fca311 #e5e5e5 #8d99ae #2b2d42 #edf2f4' },
}

export type DemoSale = { readonly who: BuyerName; readonly ware: Ware; readonly from?: 'x402' | 'balance' }
export type DemoOrder = { readonly job: string; readonly ware: Ware }

export async function buy(play: Play, { who, ware, from }: DemoSale): Promise<DemoOrder> {
  const asked = { params: { id: play.shelf[ware] }, body: wanted[ware](play.dice) }
  const { job_id: job } = await play.cast[who].pay('purchaseService', asked, from)
  return { job, ware }
}

/** Buys a QR code from a first-party service. */
export async function buyOfHouse(play: Play, buyer: Person, from: 'x402' | 'balance'): Promise<void> {
  const { services } = await buyer.call('getCatalog', { query: { q: 'QR code', limit: '1' } })
  const [service] = services
  if (!service) return
  const data = `https://example.org/${buyer.name}/${play.dice.below(1_000)}`
  await buyer.pay('purchaseService', { params: { id: service.id }, body: { data } }, from)
}

/** The seller's report. */
export async function report({ cast }: Play, { job, ware }: DemoOrder, update: SentBody<'updateJob'>): Promise<void> {
  await cast[sellerOf(ware)].call('updateJob', { params: { id: job }, body: update })
}

export const hand = (play: Play, order: DemoOrder) =>
  report(play, order, { status: 'completed', deliverables: delivered[order.ware], notes: 'Here it is.' })

export async function verify(play: Play, buyer: Person, job: string): Promise<void> {
  const rating = play.dice.pick(ratings)
  await buyer.pay('verifyJob', { params: { id: job }, body: { rating, comment: play.dice.pick(remarks) } })
}

/** Buys a service and schedules what follows: work, messages, delivery, and the buyer's response. */
export async function deal(play: Play, sale: DemoSale): Promise<void> {
  const { agenda, dice, cast, now } = play
  const buyer = cast[sale.who]
  const order = await buy(play, sale)
  const isByHand = sale.ware === 'copy' || sale.ware === 'audit'
  const begins = now() + (10 + dice.below(50)) * MINUTE_MS
  const ends = begins + (isByHand ? (6 + dice.below(12)) * HOUR_MS : (5 + dice.below(40)) * MINUTE_MS)
  agenda.at(begins, () => report(play, order, { status: 'in_progress', progress: 0.2 }))
  if (isByHand && dice.below(3) === 0) {
    agenda.at(begins + HOUR_MS, () => say(buyer, order.job, 'Please mind the new name of the product.'))
  }
  agenda.at(ends, () => hand(play, order))
  // If the buyer stays silent, the delivery is accepted after two days.
  if (isByHand && dice.below(4) > 0)
    agenda.at(ends + (2 + dice.below(20)) * HOUR_MS, () => verify(play, buyer, order.job))
}

export async function say(who: Person, job: string, message: string): Promise<void> {
  await who.call('postJobMessage', { params: { id: job }, body: { message } })
}

/** A price negotiation, which may end in a job. `upTo` names the last step of the negotiation. */
export async function negotiate(
  play: Play,
  who: BuyerName,
  upTo: 'asked' | 'offered' | 'declined' | 'done',
): Promise<void> {
  const { agenda, cast, now, shelf } = play
  const buyer = cast[who]
  const seller = cast.pixelforge
  const brief = { text: 'A mark for a small harbour workshop: rope, tools, no anchors.' }
  const { thread_id: id } = await buyer.pay('inquire', { params: { id: shelf.logo }, body: { brief } })
  if (upTo === 'asked') return
  const at = now()
  const params = { id }
  agenda.at(at + 3 * HOUR_MS, async () => {
    await seller.call('postThreadMessage', { params, body: { message: 'Colours, or black only?' } })
    await buyer.call('postThreadMessage', { params, body: { message: 'Two colours.' } })
    const offer = { price: '25.00', message: 'Three drafts, one final.', estimated_delivery: '2 days' }
    await seller.call('proposePrice', { params, body: offer })
  })
  if (upTo === 'offered') return
  if (upTo === 'declined') {
    agenda.at(at + DAY_MS, async () => {
      await buyer.call('declineThread', { params, body: { reason: 'Over our budget this time.' } })
    })
    return
  }
  agenda.at(at + DAY_MS, async () => {
    const { job_id: job } = await buyer.pay('acceptPrice', { params, body: {} })
    if (job === null) return
    const order = { job, ware: 'logo' as const }
    agenda.at(now() + 2 * HOUR_MS, () => report(play, order, { status: 'in_progress', progress: 'drafts' }))
    agenda.at(now() + 30 * HOUR_MS, async () => {
      await attach(play, seller, { thread: id, name: 'drafts.svg' })
      await hand(play, order)
    })
    agenda.at(now() + 40 * HOUR_MS, () => verify(play, buyer, job))
  })
}

/** Attaches a file. @returns its id */
export async function attach(
  play: Play,
  who: Person,
  { thread, name }: { readonly thread: string; readonly name: string },
): Promise<string> {
  const file = await fileOf(play, name, `<svg xmlns="http://www.w3.org/2000/svg"><title>${name}</title></svg>\n`)
  const { file_id: id } = await who.call('uploadThreadFile', { params: { id: thread }, body: { message: name }, file })
  return id
}

export async function fileOf({ folder }: Pick<Play, 'folder'>, name: string, content: string) {
  const path = join(folder, name)
  await writeFile(path, content)
  return { path }
}

/** Starts a verification and consents to it. @returns the id of the verification, which then waits for the vendor */
export async function consented(who: Person, operatorName: string): Promise<string> {
  const { attempt_id: id, consent_url: url } = await who.call('startVerification', {})
  const token = new URL(url).pathname.split('/').at(-1) ?? ''
  await who.call('consentToVerification', { body: { token, operator_name: operatorName, agree: true } })
  return id
}

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

function planSpecials(play: Play, stock: Stock, { week, monday }: { week: number; monday: number }): void {
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
