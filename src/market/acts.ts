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

/** Deliverable for each demo listing. */
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

/** Buys a service. */
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
