import { type Delivery, lastOf, sentAt } from '../../nouns/deliveries.ts'
import { clip, padEnd, shortSpan, wrap } from '../../text/text.ts'
import { bad, blank, dim, good, type Line, type Piece, spread, warn } from '../parts/line.ts'
import { text } from '../shell/read.ts'
import type { ServiceFacts } from './facts.ts'
import { type Member, memberWord, memberWords } from './schema-facts.ts'

const LABEL_COLUMNS = 11
/** Lines for each schema when the facts stand beside the list. */
const MEMBER_LINES_BESIDE = 1
const DELIVERIES_SHOWN = 20
const ANSWERS_SHOWN = 6

/** What is drawn of a listing. `deliveries` is undefined if the user may not read them. */
export type ServicesShown = {
  readonly service: ServiceFacts
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
    memberLine('input', service.input, width),
    memberLine('result', service.result, width),
    hookLine(shown),
    ...labelled('delivery', service.delivery, width),
    ...labelled('what', service.description, width),
  ]
}

export function schemaLines({ service: { input, result }, width }: ServicesShown): Line[] {
  return [...memberTable('input', input, width), ...memberTable('result', result, width)]
}

/** Deliveries, newest first. */
export function deliveriesLines(shown: ServicesShown): Line[] {
  return [hookLine(shown), ...deliveryLines(shown)]
}

/** All facts of a listing, shown in place of the list. */
export function wholeLines(shown: ServicesShown): Line[] {
  const { service, width } = shown
  return [
    ...labelled('name', service.name, width),
    ...labelled('what', service.description, width),
    ...labelled('kind', [service.kind, service.category, ...service.tags].filter(Boolean).join('  '), width),
    ...labelled('delivery', service.delivery, width),
    blank,
    ...providerLines(service, width),
    priceLine(service, width),
    blank,
    ...memberTable('input', service.input, width),
    blank,
    ...memberTable('result', service.result, width),
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

function providerLines({ providerId, providerName, tier, trust, score, isNew }: ServiceFacts, width: number): Line[] {
  const rating = score === undefined ? 'not rated' : `rated ${Math.round(score)}${isNew ? ' (new)' : ''}`
  const verdict = trust === undefined ? '' : `   trust ${trust.verdict}, level ${trust.level} ${trust.levelName}`
  const right: Line = [`${rating}${verdict} `]
  const who: Line = [label('provider'), `${providerName} `, dim(`${providerId} ${tier}`)]
  const room = width - LABEL_COLUMNS - providerName.length - providerId.length - tier.length
  return room > rating.length + verdict.length + 4 ? [spread(width, who, right)] : [who, [label('standing'), ...right]]
}

function priceLine({ price, buyerPays, providerGets, fee, feePercent }: ServiceFacts, width: number): Line {
  if (price === '') return [label('price'), 'by quote: send an inquiry to get one']
  const percent = feePercent === undefined ? '' : ` (${feePercent}%)`
  const parts = [`buyer pays ${buyerPays}`, `provider gets ${providerGets}`, `platform ${fee}${percent}`]
  // No amount is cut. If there is little room, the last amounts are dropped.
  const wishes = parts.map((_, i) => parts.slice(0, parts.length - i).join('   '))
  return [label('price'), wishes.find((words) => words.length <= width - LABEL_COLUMNS) ?? '']
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

function hookWord({ hookHealthy, hookUntried }: ServiceFacts): Piece {
  if (hookUntried) return dim('not tried')
  return hookHealthy ? good('✓ ok') : bad('✗ failing')
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
