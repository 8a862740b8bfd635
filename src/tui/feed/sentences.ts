import { eventTypes } from '../../model/event-types.ts'
import { accent, bad, dim, good, type Piece, warn } from '../parts/line.ts'
import type { EventNames, LiveEvent } from '../shell/stream.ts'

/** What happened, for people: a sign, which way money went, how much, and a sentence. */
export type Sentence = {
  readonly sign: Piece
  /** `+` in, `→` on, `↩` back. */
  readonly way: '' | '+' | '→' | '↩'
  readonly amount: string
  readonly words: string
}

type Draft = readonly [sign: Piece, way: Sentence['way'], words: string]
type Told = EventNames & { readonly said: LiveEvent['said']; readonly subject: string }

const [news, done, asks, trouble, over, off] = [
  accent('●'),
  good('✓'),
  warn('?'),
  bad('✗'),
  dim('–'),
  warn('!'),
] as const

/** By type; what is not here is told by the words that its own party reads. */
const drafts: Readonly<Record<string, (told: Told) => Draft>> = {
  'job.created': (t) => [news, '+', `${t.buyer} bought ${t.service} from ${t.provider}${by(t)}`],
  'job.dispatched': (t) => [
    news,
    '+',
    `${t.buyer} bought ${t.service} from ${t.provider}${by(t)}${isHeld(t) ? '; held until it is verified' : ''}`,
  ],
  'job.in_progress': (t) => [news, '', `${t.provider} is at work on ${t.service} for ${t.buyer}`],
  'job.completed': (t) =>
    t.provider === HOUSE
      ? [news, '+', `${t.buyer} bought ${t.service}${by(t)}, delivered at once`]
      : [asks, '', `${t.provider} delivered ${t.service} to ${t.buyer}`],
  'job.verified': (t) => [done, '', `${t.buyer} verified ${t.service} by ${t.provider}`],
  'job.released': (t) => [done, '→', `${t.service} is paid: ${t.provider} sold it to ${t.buyer}`],
  'job.failed': (t) => [trouble, '↩', `${t.provider} failed ${t.service}; ${t.buyer} has the money back`],
  'job.cancelled': (t) => [over, '↩', `${t.service} of ${t.provider} was cancelled; ${t.buyer} has the money back`],
  'job.expired': (t) => [trouble, '↩', `${t.provider} let ${t.service} expire; ${t.buyer} has the money back`],
  'job.disputed': (t) => [asks, '', `${t.buyer} disputes ${t.service} by ${t.provider}`],
  'job.refunded': (t) => [over, '↩', `${t.buyer} was paid back for ${t.service} by ${t.provider}`],
  'job.rated': (t) => [done, '', `${t.buyer} rated ${t.service} by ${t.provider}`],
  'job.dispute_undecided': (t) => [off, '', `The dispute of ${t.buyer} about ${t.service} waits for a decision`],
  'thread.inquiry': (t) => [news, '', `${t.buyer} asks ${t.provider} about ${t.service}`],
  'thread.proposal': (t) => [asks, '', `${t.provider} offers ${t.service} to ${t.buyer}`],
  'thread.accepted': (t) => [news, '+', `${t.buyer} accepted the price of ${t.provider} for ${t.service}`],
  'thread.cancelled': (t) => [over, '', `${t.buyer} and ${t.provider} ended their talk about ${t.service}`],
  'message.created': (t) => [
    news,
    '',
    t.service === '' ? `${t.buyer} has a new message` : `${t.buyer} and ${t.provider} talk about ${t.service}`,
  ],
  'service.created': (t) => [news, '', `${t.provider} listed ${t.service}`],
  'service.updated': (t) => [news, '', `${t.provider} changed ${t.service}`],
  'service.deleted': (t) => [over, '', `${t.provider} took back a listing`],
  'participant.registered': (t) => [news, '', `${t.buyer} registered`],
  'participant.updated': (t) => [news, '', `${t.buyer} changed its profile`],
  'balance.deposited': (t) => [news, '+', `${t.buyer} put money into its balance`],
  'balance.withdrawn': (t) => [news, '→', `${t.buyer} takes money out of its balance`],
  'posting.created': (t) => [news, '', `${t.buyer} posted a request${quoted(t.said.title)}`],
  'posting.awarded': (t) => [done, '', `${t.buyer} has chosen a bid on its request${quoted(t.said.title)}`],
  'bid.submitted': (t) => [news, '', `${t.buyer} has a bid on its request`],
  'bid.accepted': (t) => [done, '', `The bid of ${t.buyer} was taken`],
  'bid.withdrawn': (t) => [over, '', `A bid on the request of ${t.buyer} was taken back`],
  'subscription.created': (t) => [news, '+', `${t.buyer} has a new subscription${quoted(t.said.plan_name)}`],
  'subscription.renewed': (t) => [news, '+', `${t.buyer} has a subscription renewed${quoted(t.said.plan_name)}`],
  'product.sold': (t) => [news, '+', `${t.buyer} has sold a product`],
  'payout.confirmed': (t) => [done, '→', `Money of ${t.buyer} has arrived in its wallet`],
  'payout.failed': (t) => [trouble, '', `A withdrawal of ${t.buyer} has failed`],
  'referral.due': (t) => [news, '→', `A referral reward of ${t.buyer} can be taken`],
  'referral.withdrawn': (t) => [news, '→', `${t.buyer} takes its referral rewards`],
  'webhook.failed': (t) => [off, '', `A message to the endpoint of ${t.buyer} was given up`],
  'webhook.disabled': (t) => [trouble, '', `The endpoint of ${t.buyer} is gone and was taken out of use`],
}

/** What it sells is built in: paid and delivered in one act, and nothing waits for anybody. */
const HOUSE = 'souk'

/** What a subscription pays for is in no escrow. */
function isHeld({ method }: EventNames): boolean {
  return method !== 'subscription'
}

function quoted(name: string | undefined): string {
  return name === undefined || name === '' ? '' : ` "${name}"`
}

function by({ method }: EventNames): string {
  return method === '' ? '' : ` by ${method}`
}

const known: Readonly<Record<string, string>> = eventTypes

export function sentenceOf({ type, subject, said, about, detail }: LiveEvent): Sentence {
  const own = said.amount ?? said.price
  const amount = about.amount || (own === undefined ? '' : `$${own}`)
  const draft = hasNames(type, about) ? drafts[type]?.({ ...about, said, subject }) : undefined
  if (draft !== undefined) {
    const [sign, way, words] = draft
    return { sign, way, amount, words }
  }
  const who = about.buyer === '' ? '' : `${about.buyer}: `
  // An act of the operator has its own name, and nobody's words.
  const words = known[type] ?? `${type} ${subject}  ${detail}`
  return { sign: known[type] === undefined ? off : news, way: '', amount, words: `${who}${words}` }
}

/** A sentence with a hole in it is none. */
function hasNames(type: string, { buyer, provider }: EventNames): boolean {
  return buyer !== '' || provider !== '' || !type.includes('.')
}
