import { type Delivery, lastOf, sentAt } from '../../nouns/deliveries.ts'
import { dollars, microOf } from '../../text/columns.ts'
import { clip, padEnd, shortSpan, wrap } from '../../text/text.ts'
import { bad, blank, dim, good, type Line, type Piece, spread, warn } from '../parts/line.ts'
import { text } from '../shell/read.ts'
import { isNewProvider, type MarketListing, scoreOf } from './rows.ts'
import { type Member, memberWord, memberWords, readMembers } from './schema-facts.ts'

const LABEL_COLUMNS = 11
/** Lines for each schema when the facts stand beside the list. */
const MEMBER_LINES_BESIDE = 1
const DELIVERIES_SHOWN = 20
const TAGS_MAX = 20
const ANSWERS_SHOWN = 6

/** What is drawn of a listing. `deliveries` is undefined if the user may not read them. */
export type ServicesShown = {
  readonly service: MarketListing
  readonly deliveries: readonly Delivery[] | undefined
  readonly now: number
  readonly width: number
}

/** The facts of a listing, with the description last. */
export function aboutLines(shown: ServicesShown): Line[] {
  const { service, width } = shown
  return [
    ...providerLines(service, width),
    priceLine(service, width),
    memberLine('input', readMembers(service.input_schema), width),
    memberLine('result', readMembers(service.deliverable_schema), width),
    hookLine(shown),
    ...labelled('delivery', text(service.estimated_delivery), width),
    ...labelled('what', text(service.description), width),
  ]
}

export function schemaLines({ service, width }: ServicesShown): Line[] {
  const { input_schema: input, deliverable_schema: result } = service
  return [...memberTable('input', readMembers(input), width), ...memberTable('result', readMembers(result), width)]
}

/** Deliveries, newest first. */
export function deliveriesLines(shown: ServicesShown): Line[] {
  return [hookLine(shown), ...deliveryLines(shown)]
}

/** All facts of a listing, shown in place of the list. */
export function wholeLines(shown: ServicesShown): Line[] {
  const { service, width } = shown
  const tags = service.tags.slice(0, TAGS_MAX)
  return [
    ...labelled('name', text(service.name), width),
    ...labelled('what', text(service.description), width),
    ...labelled('kind', text([service.fulfillment_type, service.category, ...tags].filter(Boolean).join('  ')), width),
    ...labelled('delivery', text(service.estimated_delivery), width),
    blank,
    ...providerLines(service, width),
    priceLine(service, width),
    blank,
    ...memberTable('input', readMembers(service.input_schema), width),
    blank,
    ...memberTable('result', readMembers(service.deliverable_schema), width),
    blank,
    hookLine(shown),
    ...deliveryLines(shown),
  ]
}

function label(name: string): Piece {
  return dim(` ${padEnd(name, LABEL_COLUMNS - 1)}`)
}

function labelled(name: string, value: string, width: number): Line[] {
  return wrap(value, width - LABEL_COLUMNS - 1).map((text, i): Line => [label(i === 0 ? name : ''), text])
}

function providerLines(service: MarketListing, width: number): Line[] {
  const { provider_id: providerId, provider_verification_tier: tier, provider_trust: trust } = service
  const [providerName, score] = [text(service.provider_name), scoreOf(service)]
  const rating =
    score === undefined ? 'not rated' : `rated ${Math.round(score)}${isNewProvider(service) ? ' (new)' : ''}`
  const verdict = trust === undefined ? '' : `   trust ${trust.verdict}, level ${trust.level} ${text(trust.level_name)}`
  const right: Line = [`${rating}${verdict} `]
  const who: Line = [label('provider'), `${providerName} `, dim(`${providerId} ${tier}`)]
  const room = width - LABEL_COLUMNS - providerName.length - providerId.length - tier.length
  return room > rating.length + verdict.length + 4 ? [spread(width, who, right)] : [who, [label('standing'), ...right]]
}

function priceLine({ price, platform_fee_pct: percent, ...prices }: MarketListing, width: number): Line {
  if (price.fixed === null) return [label('price'), 'by quote: send an inquiry to get one']
  const [buyerPays, providerGets] = [text(prices.agent_price.fixed), text(prices.provider_net_price.fixed)]
  const fee = difference(buyerPays, providerGets)
  const parts = [`buyer pays ${buyerPays}`, `provider gets ${providerGets}`, `platform ${fee} (${percent}%)`]
  // No amount is cut. If there is little room, the last amounts are dropped.
  const wishes = parts.map((_, i) => parts.slice(0, parts.length - i).join('   '))
  return [label('price'), wishes.find((words) => words.length <= width - LABEL_COLUMNS) ?? '']
}

/** What the marketplace keeps of the buyer's price. */
function difference(all: string, part: string): string {
  const [whole, rest] = [microOf(all), microOf(part)]
  return whole === undefined || rest === undefined || rest > whole ? '' : dollars(whole - rest)
}

function memberLine(name: string, members: readonly Member[], width: number): Line {
  if (members.length === 0) return [label(name), dim('anything')]
  const [first = ''] = wrap(members.map(memberWords).join('  '), width - LABEL_COLUMNS - 3).slice(
    0,
    MEMBER_LINES_BESIDE,
  )
  const whole = first === members.map(memberWords).join('  ')
  return [label(name), whole ? first : `${first} …`]
}

function memberTable(name: string, members: readonly Member[], width: number): Line[] {
  if (members.length === 0) return [[label(name), dim('anything')]]
  const names = Math.max(...members.map((member) => memberWord(member).length))
  return members.flatMap((member, i) => {
    const words = [member.type, member.bounds, member.about].filter(Boolean).join('  ')
    return wrap(words, Math.max(1, width - LABEL_COLUMNS - names - 3)).map(
      (text, line): Line => [
        label(i === 0 && line === 0 ? name : ''),
        `${padEnd(line === 0 ? memberWord(member) : '', names)}  `,
        dim(text),
      ],
    )
  })
}

function hookLine({ service, deliveries, now }: ServicesShown): Line {
  const state = hookWord(service)
  if (deliveries === undefined) return [label('webhook'), state]
  const [newest] = deliveries
  if (newest === undefined) return [label('webhook'), state, dim('   no deliveries yet')]
  const answers = deliveries.slice(0, ANSWERS_SHOWN).map((one) => [' ', answerPiece(one)])
  const ago = `   last ${shortSpan(now - sentAt(newest))} ago`
  return [label('webhook'), state, dim('   newest first'), ...answers.flat(), dim(ago)]
}

function hookWord({ webhook_healthy: isHealthy, webhook_status: status }: MarketListing): Piece {
  if (status === 'not_tried') return dim('not tried')
  return isHealthy ? good('✓ ok') : bad('✗ failing')
}

function answerPiece(delivery: Delivery): Piece {
  const { status } = delivery
  const word = clip(text(lastOf(delivery)) || status, 12)
  if (status === 'delivered') return good(word)
  return status === 'dead' ? bad(word) : warn(word)
}

const signs: Readonly<Record<string, Piece>> = { delivered: good('✓'), dead: bad('✗'), pending: warn('●') }

function deliveryLines({ deliveries = [], now }: ServicesShown): Line[] {
  const shown = deliveries.slice(0, DELIVERIES_SHOWN)
  const types = Math.max(0, ...shown.map(({ type }) => text(type).length))
  return shown.map((one): Line => {
    const ago = `${shortSpan(now - sentAt(one))} ago`
    const many = one.attempts.length
    const tries = `${many} ${many === 1 ? 'try' : 'tries'}`
    const words = `${padEnd(ago, 9)}${padEnd(tries, 9)}`
    return [
      label(''),
      signs[one.status] ?? dim('–'),
      ` ${padEnd(text(one.type), types)}  ${words}`,
      answerPiece(one),
      dim(`  ${text(one.url)}`),
    ]
  })
}
