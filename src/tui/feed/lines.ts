import { type EventType, eventTypes, type OperatorEventType, operatorEventTypes } from '../../model/event-types.ts'
import { shortAddress } from '../../text/text.ts'
import { clockTime, dateTime, timeOrDay } from '../../text/time.ts'
import {
  accent,
  bad,
  blank,
  dim,
  good,
  hitting,
  type Line,
  lineWidth,
  marked,
  type Piece,
  placed,
  rule,
  sized,
  strong,
  warn,
  windowStart,
} from '../parts/line.ts'
import { onThePoint, shownMoney } from '../parts/river.ts'
import type { EventNames, LiveEvent, Stream } from '../shell/stream.ts'

type Feed = {
  readonly width: number
  readonly height: number
  readonly held: boolean
  readonly title?: string
  /** Business time; undefined if unknown. */
  readonly now: number | undefined
  readonly stoppedAt?: number | undefined
  /** Index of the chosen event. The list scrolls so that this event stays visible. */
  readonly chosen?: number | undefined
}

/** Events, newest first. */
export function liveLines({ events, state }: Stream, feed: Feed): Line[] {
  const { width, height, held, title = 'Live', stoppedAt, now, chosen = -1 } = feed
  if (height < 1) return []
  const notes: Readonly<Record<Stream['state'], Line>> = {
    live: [held ? warn('‖ held') : good('● live')],
    waiting: [warn('! reconnecting')],
    denied: [warn('! needs the admin credential')],
  }
  const from = windowStart({ rows: events, chosen, height: height - 1 })
  const shown = events.slice(from, from + height - 1).map((event) => ({ event, told: sentenceOf(event) }))
  const amounts = onThePoint(shown.map(({ told }) => (told.amount === '' ? '' : shownMoney(told.amount.slice(1)))))
  const hasMoney = width >= AMOUNTS_FROM && amounts.some((amount) => amount.trim() !== '')
  const ids = width >= IDS_FROM
  const rows = shown.map(({ event, told }, i): Line => {
    const time = whenOf(event.at, { now, isNarrow: width < AMOUNTS_FROM })
    const money: Line = hasMoney ? [told.way === '' ? '  ' : `${told.way} `, strong(amounts[i] ?? ''), '  '] : []
    const left: Line = [dim(` ${time} `), told.sign, ' ', ...money, told.words]
    const choosable = (row: Line) => marked(hitting(row, { row: String(event.cursor) }), from + i === chosen)
    if (!ids) return choosable(sized(left, width))
    const id = [dim(`  ${event.subject} `)]
    const row = placed(width, [
      [0, sized(left, width - lineWidth(id) - 1)],
      [width - lineWidth(id), id],
    ])
    return choosable(row)
  })
  const none: Line[] = state === 'live' ? [[dim(' waiting for the first event')]] : [blank]
  return [
    rule(width, title, stoppedAt === undefined ? notes[state] : [warn(`‖ stopped at ${clockTime(stoppedAt)}`)]),
    ...(rows.length === 0 ? none.slice(0, height - 1) : rows),
  ]
}

type Told = { readonly now: number | undefined; readonly isNarrow: boolean }

/** Time of an event, always equally wide. Narrow windows drop the seconds. */
function whenOf(at: number | undefined, { now, isNarrow }: Told): string {
  if (at === undefined) return isNarrow ? '--:--' : '--:--:--'
  const whole = now === undefined ? clockTime(at) : timeOrDay(at, now)
  if (!isNarrow) return whole.padEnd(TIME_CHARS)
  return whole.replace(' ', '').slice(0, MINUTE_CHARS).padEnd(MINUTE_CHARS)
}

const MINUTE_CHARS = '14:03'.length
const TIME_CHARS = '14:03:07'.length
const AMOUNTS_FROM = 76
const IDS_FROM = 120

/** How an event is shown: symbol, direction of the money, amount and sentence. */
type Sentence = {
  readonly sign: Piece
  /** `+` in, `→` out, `↩` back. */
  readonly way: '' | '+' | '→' | '↩'
  readonly amount: string
  readonly words: string
}

type Draft = readonly [sign: Piece, way: Sentence['way'], words: string]
type SentenceFacts = EventNames & { readonly said: LiveEvent['said']; readonly subject: string }

const [news, done, asks, trouble, over, off] = [
  accent('●'),
  good('✓'),
  warn('?'),
  bad('✗'),
  dim('–'),
  warn('!'),
] as const

const drafts: Readonly<Record<EventType | OperatorEventType, (told: SentenceFacts) => Draft>> = {
  'job.created': (t) => [news, '+', `${t.buyer} bought ${t.service} from ${t.provider}${by(t)}`],
  'job.dispatched': (t) => [
    news,
    '+',
    `${t.buyer} bought ${t.service} from ${t.provider}${by(t)}${isHeld(t) ? '; money held until verified' : ''}`,
  ],
  'job.in_progress': (t) => [news, '', `${t.provider} started ${t.service} for ${t.buyer}`],
  'job.completed': (t) =>
    t.provider === HOUSE
      ? [news, '+', `${t.buyer} bought ${t.service}${by(t)}, delivered instantly`]
      : [asks, '', `${t.provider} delivered ${t.service} to ${t.buyer}`],
  'job.verified': (t) => [done, '', `${t.buyer} verified ${t.service} by ${t.provider}`],
  'job.released': (t) => [done, '→', `${t.service} is paid: ${t.provider} sold it to ${t.buyer}`],
  'job.failed': (t) => [trouble, '↩', `${t.provider} failed ${t.service}; ${t.buyer} was refunded`],
  'job.cancelled': (t) => [over, '↩', `${t.service} of ${t.provider} was cancelled; ${t.buyer} was refunded`],
  'job.expired': (t) => [trouble, '↩', `${t.provider} let ${t.service} expire; ${t.buyer} was refunded`],
  'job.disputed': (t) => [bad('?'), '', `${t.buyer} disputes ${t.service} by ${t.provider}`],
  'job.refunded': (t) => [over, '↩', `${t.buyer} was refunded for ${t.service} by ${t.provider}`],
  'job.rated': (t) => [done, '', `${t.buyer} rated ${t.service} by ${t.provider}`],
  'job.dispute_recorded': (t) => [
    off,
    '',
    `${t.buyer} disputes ${t.service} by ${t.provider}; the provider is already paid`,
  ],
  'job.unpaid': (t) => [trouble, '', `${t.provider} delivered ${t.service}, but the payment of ${t.buyer} failed`],
  'job.dispute_undecided': (t) => [off, '', `The dispute of ${t.buyer} about ${t.service} needs a ruling`],
  'thread.inquiry': (t) => [news, '', `${t.buyer} asked ${t.provider} about ${t.service}`],
  'thread.proposal': (t) => [asks, '', `${t.provider} offers ${t.service} to ${t.buyer}`],
  'thread.accepted': (t) => [news, '+', `${t.buyer} accepted the price of ${t.provider} for ${t.service}`],
  'thread.cancelled': (t) => [over, '', `${t.buyer} and ${t.provider} ended their conversation about ${t.service}`],
  'message.created': (t) => [
    news,
    '',
    t.service === '' ? `${t.buyer} has a new message` : `${t.buyer} and ${t.provider}: message about ${t.service}`,
  ],
  'service.created': (t) => [news, '', `${t.provider} listed ${t.service}`],
  'service.updated': (t) => [news, '', `${t.provider} changed ${t.service}`],
  'service.deleted': (t) => [over, '', `${t.provider} removed a listing`],
  'participant.registered': (t) => [news, '', `${t.buyer} registered`],
  'participant.updated': (t) => [news, '', `${t.buyer} changed its profile`],
  'balance.deposited': (t) => [news, '+', `${t.buyer} topped up its balance`],
  'balance.withdrawn': (t) => [news, '→', `${t.buyer} withdraws from its balance`],
  'posting.created': (t) => [news, '', `${t.buyer} posted a request${quoted(t.said.title)}`],
  'posting.awarded': (t) => [done, '', `${t.buyer} awarded its request${quoted(t.said.title)}`],
  'posting.open': (t) => [news, '', `A request of ${t.buyer}${quoted(t.said.title)} is open again`],
  'posting.completed': (t) => [done, '', `The request of ${t.buyer}${quoted(t.said.title)} is done`],
  'posting.cancelled': (t) => [over, '', `${t.buyer} withdrew a request${quoted(t.said.title)}`],
  'posting.expired': (t) => [over, '', `A request of ${t.buyer}${quoted(t.said.title)} expired`],
  'posting.suspended': (t) => [off, '', `A request of ${t.buyer} is hidden while its buyer is suspended`],
  'posting.reinstated': (t) => [news, '', `A request of ${t.buyer} is shown again`],
  'bid.submitted': (t) => [news, '', `${t.buyer} has a bid on its request`],
  'bid.accepted': (t) => [done, '', `The bid of ${t.buyer} was accepted`],
  'bid.rejected': (t) => [over, '', `The bid of ${t.buyer} was rejected`],
  'bid.withdrawn': (t) => [over, '', `A bid on the request of ${t.buyer} was withdrawn`],
  'subscription.created': (t) => [news, '+', `${t.buyer} has a new subscription${quoted(t.said.plan_name)}`],
  'subscription.renewed': (t) => [news, '+', `${t.buyer} has a subscription renewed${quoted(t.said.plan_name)}`],
  'subscription.past_due': (t) => [off, '', `A renewal for ${t.buyer}${quoted(t.said.plan_name)} could not be paid`],
  'subscription.expired': (t) => [over, '', `A subscription of ${t.buyer}${quoted(t.said.plan_name)} ended unpaid`],
  'subscription.canceled': (t) => [over, '', `A subscription of ${t.buyer}${quoted(t.said.plan_name)} was cancelled`],
  'subscription.paused': (t) => [over, '', `A subscription of ${t.buyer}${quoted(t.said.plan_name)} was paused`],
  'subscription.resumed': (t) => [news, '', `A subscription of ${t.buyer}${quoted(t.said.plan_name)} was resumed`],
  'subscription.unserved': (t) => [
    off,
    '',
    `Part of a period that ${t.buyer} paid for${quoted(t.said.plan_name)} was not provided`,
  ],
  'request.created': (t) => [news, '', `${t.buyer} was notified about a matching request`],
  'request.notifications_disabled': (t) => [off, '', `${t.buyer} gets no more notifications: too many failed`],
  'plan.created': (t) => [news, '', `${t.buyer} created a plan`],
  'plan.updated': (t) => [news, '', `${t.buyer} changed a plan`],
  'plan.deleted': (t) => [over, '', `${t.buyer} deleted a plan`],
  'product.created': (t) => [news, '', `${t.buyer} created a product`],
  'product.updated': (t) => [news, '', `${t.buyer} changed a product`],
  'product.deleted': (t) => [over, '', `${t.buyer} deleted a product`],
  'verification.pending_consent': (t) => [
    asks,
    '',
    `The identity check of ${t.buyer} waits for the consent of a human`,
  ],
  'verification.vendor_pending': (t) => [asks, '', `The identity check of ${t.buyer} waits for its vendor`],
  'verification.approved': (t) => [done, '', `The identity of ${t.buyer} is verified`],
  'verification.rejected': (t) => [trouble, '', `The identity of ${t.buyer} was rejected`],
  'verification.expired': (t) => [over, '', `The identity check of ${t.buyer} ended without a decision`],
  'identity.linked': (t) => [news, '', `${t.buyer} linked an on-chain identity`],
  'identity.unlinked': (t) => [over, '', `${t.buyer} no longer has an on-chain identity`],
  'terms.accepted': (t) => [news, '', `${t.buyer} accepted the terms`],
  'participant.key_rotated': (t) => [news, '', `${t.buyer} has a new API key`],
  'product.sold': (t) => [news, '+', `${t.buyer} has sold a product`],
  'admin.balance_adjusted': (t) => [off, '', `The operator adjusted the balance of ${t.buyer}`],
  'payout.confirmed': (t) => [done, '→', `A withdrawal of ${t.buyer} has arrived`],
  'payout.failed': (t) => [trouble, '', `A withdrawal of ${t.buyer} has failed`],
  'payout.blocked': (t) => [off, '', `A withdrawal of ${t.buyer} is on hold`],
  'payout.unblocked': (t) => [news, '', `A withdrawal of ${t.buyer} is no longer on hold`],
  'referral.due': (t) => [news, '→', `A referral reward of ${t.buyer} is payable`],
  'referral.withdrawn': (t) => [news, '→', `${t.buyer} withdrew its referral rewards`],
  'webhook.failed': (t) => [off, '', `A message to the endpoint of ${t.buyer} failed permanently`],
  'webhook.disabled': (t) => [trouble, '', `The endpoint of ${t.buyer} responded 410 and was disabled`],
  'balance.adjust': (t) => [off, '', `The operator adjusted the balance of ${who(t)}${because(t)}`],
  'clock.move': (t) => [off, '', `The operator set the clock to ${timeIn(t.said.to)}, ${t.said.state}`],
  'cron.pause': (t) => [off, '', `The operator paused the cron ${t.subject}`],
  'cron.resume': (t) => [news, '', `The operator resumed the cron ${t.subject}`],
  'cron.run': (t) => [news, '', `The operator ran the cron ${t.subject}: ${t.said.result}`],
  'delivery.replay': (t) => [news, '', `The operator sent ${t.subject} again`],
  'escrow.pause': (t) => [off, '', `The operator paused the escrow${because(t)}`],
  'escrow.unpause': (t) => [news, '', `The operator resumed the escrow${because(t)}`],
  'features.set': (t) => [off, '', `The operator changed the features${because(t)}`],
  'job.resolve': (t) => [done, '', `The operator decided the dispute about ${deal(t)}: ${t.said.outcome}${because(t)}`],
  'job.withdraw': (t) => [over, '↩', `The operator withdrew the money held for ${deal(t)}${because(t)}`],
  'keys.rotate': (t) => [off, '', `The operator rotates the key ${shortAddress(t.subject)}${because(t)}`],
  'named_service.set': (t) => [off, '', `The operator changed which service answers at ${t.subject}`],
  'participant.set': (t) => [
    off,
    '',
    `The operator set ${who(t)} to tier ${t.said.verification_tier}${t.said.suspended === 'true' ? ', suspended' : ''}${because(t)}`,
  ],
  'payment.returned': (t) => [news, '+', `The reversed payment ${t.subject} was made after all`],
  'payment.reversed': (t) => [trouble, '↩', `The chain reversed the payment ${t.subject}`],
  'platform.pause': (t) => [off, '', `The operator paused payments${because(t)}`],
  'platform.unpause': (t) => [news, '', `The operator resumed payments${because(t)}`],
  'sdn.add': (t) => [off, '', `The operator added ${shortAddress(t.subject)} to the sanctions list${because(t)}`],
  'sdn.remove': (t) => [news, '', `The operator removed ${shortAddress(t.subject)} from the sanctions list`],
  'thread.answer': (t) => [news, '', `The operator answered about ${deal(t)}`],
  'verification.decide': (t) => [done, '', `The operator decided an identity check: ${t.said.decision}${because(t)}`],
}

/** The marketplace's own seller. Its sales are paid and delivered immediately. */
const HOUSE = 'souk'

/** Whether a job holds escrow. Jobs paid by a subscription do not. */
function isHeld({ method }: EventNames): boolean {
  return method !== 'subscription'
}

function quoted(name: string | undefined): string {
  return name === undefined || name === '' ? '' : ` "${name}"`
}

/** The reason of an act, if one was given. */
const because = ({ said: { reason = '' } }: SentenceFacts) => (reason === '' ? '' : `: "${reason}"`)
const timeIn = (iso = '') => dateTime(Date.parse(iso))
const who = ({ buyer, subject }: SentenceFacts) => buyer || subject
const deal = ({ service, buyer, provider, subject }: SentenceFacts) =>
  service === '' ? subject : `${service} of ${provider} for ${buyer}`

function by({ method }: EventNames): string {
  return method === '' ? '' : ` by ${method}`
}

const known: Readonly<Record<string, string>> = eventTypes

export function sentenceOf({ type, subject, said, about, detail, times }: LiveEvent): Sentence {
  const own = said.amount ?? said.price
  const amount = about.amount || (own === undefined ? '' : `$${own}`)
  const draft = hasNames(type, about) ? draftOf(type)?.({ ...about, said, subject }) : undefined
  if (draft !== undefined) {
    const [sign, way, words] = draft
    return { sign, way, amount, words: times === undefined ? words : `${words}, ${times} times` }
  }
  const who = about.buyer === '' ? '' : `${about.buyer}: `
  // An event of a type that this version does not know shows its type, subject and data.
  const words = known[type] ?? `${type} ${subject}  ${detail}`
  return { sign: known[type] === undefined ? off : news, way: '', amount, words: `${who}${words}` }
}

/** The sentence for an event type. Undefined if the type has no sentence, such as a type of another version. */
function draftOf(type: string): ((told: SentenceFacts) => Draft) | undefined {
  return Object.hasOwn(drafts, type) ? drafts[type as keyof typeof drafts] : undefined
}

const acts: readonly string[] = operatorEventTypes

/** Whether the names that a sentence needs are known. Those about the operator need none. */
function hasNames(type: string, { buyer, provider }: EventNames): boolean {
  return buyer !== '' || provider !== '' || acts.includes(type)
}
