import { shortAddress } from '../text/text.ts'
import { clockTime, monthDay } from '../text/time.ts'
import type { Told } from './drawn.testkit.ts'
import { shownMoney } from './parts/river.ts'

/* The feed of a screen, held against the events that were sent: each once, the newest first, with whom and how much. */

type Part = 'buyer' | 'provider' | 'service'
/** What its sentence says, in this order: names by what they are, and words. */
const sentences: Readonly<Record<string, readonly (Part | `=${string}`)[]>> = {
  'job.dispatched': ['buyer', '=bought', 'service', '=from', 'provider'],
  'job.in_progress': ['provider', '=started', 'service', '=for', 'buyer'],
  'job.completed': ['provider', '=delivered', 'service', '=to', 'buyer'],
  'job.verified': ['buyer', '=verified', 'service', '=by', 'provider'],
  'job.released': ['service', '=is paid:', 'provider', '=sold it to', 'buyer'],
  'job.disputed': ['buyer', '=disputes', 'service', '=by', 'provider'],
  'job.refunded': ['buyer', '=was refunded for', 'service', '=by', 'provider'],
  'job.failed': ['provider', '=failed', 'service', 'buyer', '=was refunded'],
  'job.cancelled': ['service', '=of', 'provider', '=was cancelled', 'buyer', '=was refunded'],
  'job.expired': ['provider', '=let', 'service', '=expire', 'buyer', '=was refunded'],
  'thread.inquiry': ['buyer', '=asked', 'provider', '=about', 'service'],
  'thread.proposal': ['provider', '=offers', 'service', '=to', 'buyer'],
  'thread.accepted': ['buyer', '=accepted the price of', 'provider', '=for', 'service'],
  'thread.cancelled': ['buyer', 'provider', '=ended their conversation about', 'service'],
  'message.created': ['buyer', 'provider', '=message about', 'service'],
  'service.created': ['provider', '=listed', 'service'],
  'service.updated': ['provider', '=changed', 'service'],
  'participant.registered': ['buyer', '=registered'],
  'participant.updated': ['buyer', '=changed its profile'],
  'balance.deposited': ['buyer', '=topped up its balance'],
  'posting.created': ['buyer', '=posted a request'],
  'posting.awarded': ['buyer', '=awarded its request'],
  'bid.submitted': ['buyer', '=has a bid on its request'],
  'bid.accepted': ['=The bid of', 'buyer', '=was accepted'],
  'bid.withdrawn': ['=A bid on the request of', 'buyer', '=was withdrawn'],
  'subscription.created': ['buyer', '=has a new subscription'],
  'subscription.renewed': ['buyer', '=has a subscription renewed'],
  'verification.pending_consent': ['buyer', '=consent of a human'],
  'verification.vendor_pending': ['buyer'],
}
/** What is built in is bought and delivered in one act. */
const atOnce: readonly (Part | `=${string}`)[] = ['buyer', '=bought', 'service', '=delivered instantly']

/** Narrower, there is no room for amounts; wider, there is room for ids. */
const AMOUNTS_FROM = 76
const IDS_FROM = 120

/** Each thing that happened once, whoever of its parties was told, the newest first. */
export function happened(events: readonly Told[]): readonly Told[] {
  const seen = new Set<string>()
  const each = events.filter(({ type, subject, tx, at }) => {
    const key = `${tx ?? at} ${type} ${subject.id}`
    return seen.size < seen.add(key).size
  })
  const talks = new Set<string>()
  // Messages between the same parties about the same service are one row, in the place of the newest.
  return each.toReversed().filter(({ type, about }) => {
    const isTalk = type === 'message.created' && about?.service
    return !isTalk || talks.size < talks.add(JSON.stringify(about)).size
  })
}

/** What the rows of a feed do not say of what happened; every row must be there. */
export function feedLacks(rows: readonly string[], events: readonly Told[], width: number): readonly string[] {
  if (rows.length === 0) return ['a row of the feed']
  return rows.flatMap((row, i) => {
    const event = events[i]
    if (event === undefined) return [`nothing happened that ${row} tells`]
    const missing = partsOf(event, width).filter((part) => !row.includes(part))
    // Of today or of a day before: which of the two the feed tells apart is held by its own test.
    const when = [clockTime, monthDay].map((told) => ` ${inFeed(told(Date.parse(event.at)), width)} `)
    if (!when.some((time) => row.includes(time))) missing.push(when.join(' or'))
    const words = wordsLacking(row, event)
    const lacks = [...missing, ...words]
    return lacks.length === 0 ? [] : [`row ${i + 1} of ${event.type}: ${lacks.join(', ')} in ${row}`]
  })
}

/** Where amounts have no room, seconds have none either. */
function inFeed(time: string, width: number): string {
  return width < AMOUNTS_FROM ? time.replace(' ', '').slice(0, 5) : time
}

function partsOf({ about, data, subject }: Told, width: number): readonly string[] {
  const own = [about?.amount, Object(data).amount, Object(data).price].find((one) => one != null)
  return [
    ...(own == null || width < AMOUNTS_FROM ? [] : [` ${shownMoney(String(own))} `]),
    ...(width < IDS_FROM ? [] : [` ${subject.id}`]),
  ]
}

/** A sentence that was cut says its words as far as it goes. */
function wordsLacking(row: string, { type, about }: Told): readonly string[] {
  const meant = type === 'job.completed' && about?.provider === 'souk' ? atOnce : sentences[type]
  if (meant === undefined) return [`a sentence for ${type}`]
  let from = 0
  for (const part of meant) {
    const wanted = nameOf(part, about)
    const at = row.indexOf(wanted, from)
    if (at < 0) return isCutIn(row.slice(from), wanted) ? [] : [wanted]
    from = at + wanted.length
  }
  return []
}

function nameOf(part: Part | `=${string}`, about: Told['about']): string {
  if (part.startsWith('=')) return part.slice(1)
  const name = about?.[part as Part] ?? ''
  return name.startsWith('0x') ? shortAddress(name) : name
}

function isCutIn(rest: string, wanted: string): boolean {
  const [before, behind] = rest.split('…')
  if (before === undefined || behind === undefined) return false
  return before === '' || Array.from(before, (_, i) => before.slice(i)).some((end) => wanted.startsWith(end.trim()))
}
