import type { Problem } from '../../client/link.ts'
import { attentionWords, mendOf } from '../../nouns/attention.ts'
import { clip, count, padEnd, shortAddress, shortSpan, span, widthOf, wrap } from '../../text/text.ts'
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
  spread,
  strong,
  warn,
  windowStart,
} from '../parts/line.ts'
import { onThePoint, shownMoney } from '../parts/river.ts'
import { keyFor } from '../shell/bindings.ts'
import type { Need } from '../shell/needs.ts'
import { startWords, waitingLines } from '../shell/notice.ts'
import type { View } from '../shell/screen.ts'

/** Width of the widest key with its verb, such as `enter look` or `W refund`. */
const VERB_COLUMNS = 11
const WHO_COLUMNS_MAX = 19
/** From this width amounts have a column. */
const AMOUNT_FROM = 96
const KIND_FROM = 76

type Inbox = Pick<View, 'needs' | 'keys' | 'health' | 'now'> & {
  readonly lastWords: string
  readonly chosen: number
  /** Business time. */
  readonly business: number | undefined
  readonly readonly: boolean
  /** Whether the shown daemon runs on this machine, so that `U` can start it. */
  readonly isLocal: boolean
}
type Room = { readonly width: number; readonly rows: number }

/** Lists the open problems, one per line, with the key that fixes each. */
export function inboxLines(inbox: Inbox, { width, rows }: Room): Line[] {
  const { needs, chosen, health } = inbox
  if (health.problem?.kind === 'gone') return goneLines(inbox, health.problem, width)
  if (needs.value === undefined) {
    const why = needs.problem?.kind === 'denied' ? [dim(' needs the admin credential')] : waitingLines(needs, width)[0]
    return [rule(width, 'Open problems'), why ?? blank]
  }
  const { items, total, putOff } = needs.value
  const away: Line = putOff === 0 ? [] : [dim(`${count(putOff)} snoozed  `)]
  const putsOff: Line = [accent(keyFor('putOff', inbox.keys)), dim(' snooze')]
  if (items.length === 0) {
    const hint = putOff === 0 ? [] : [...away, ...putsOff]
    return [rule(width, 'Open problems 0', hint), [good(' ✓ '), 'no open problems']]
  }
  const height = Math.max(1, Math.min(items.length, rows))
  const from = windowStart({ rows: items, chosen, height })
  const place = items.length > height ? `${from + 1} to ${from + height}  ` : ''
  const hints: Line = [dim(place), ...away, ...enterHint(inbox, items[chosen]), ...putsOff]
  const shown = items.slice(from, from + height)
  const columns = columnsFor(shown, width)
  const each = shown.map((need) => needLines(need, inbox, { ...columns, width }))
  // Long sentences get a second row if there are enough rows for all.
  const isRoomy = each.flat().length <= rows
  const lines = each.flatMap((all, i) =>
    (isRoomy ? all : all.slice(0, 1)).map((line, at) =>
      marked(hitting(line, { row: shown[i]?.id ?? '' }), at === 0 && from + i === chosen),
    ),
  )
  return [rule(width, `Open problems ${count(total)}`, hints), ...lines]
}

/** What enter does with the chosen row. */
function enterHint({ keys, readonly }: Inbox, need: Need | undefined): Line {
  if (need === undefined) return []
  const mend = mendOf(need)
  return [accent(keyFor('open', keys)), dim(` ${mend === undefined || readonly ? 'look' : mend.verb}  `)]
}

/** Shown when the daemon is gone: since when, its last log line, and the key that starts it. */
function goneLines(
  { health, now, readonly, isLocal, keys, lastWords }: Inbox,
  problem: Problem,
  width: number,
): Line[] {
  const age = health.at === undefined ? '' : span(Math.max(0, now - health.at))
  const [next = ''] = problem.next
  const verb: Line = readonly || !isLocal || next === '' ? [] : ['  ', accent(keyFor('start', keys)), ' start it ']
  const right: Line = [dim(`  ${age}`), ...verb]
  const said = [problem.sentence.replace(/\.$/, ''), ...problem.facts.slice(0, 1)].join('; ')
  const why = clip(said, Math.max(1, width - lineWidth(right) - 11))
  const words = lastWords === '' ? [] : [dim('           last log    '), clip(lastWords, Math.max(1, width - 24))]
  return [
    rule(width, 'Open problems'),
    marked(spread(width, [' ', bad('✗'), ` daemon   ${why}`], right), true),
    ...(words.length === 0 ? [] : [words]),
    ...(next === '' ? [] : [[dim('           same as  '), clip(startWords(next), Math.max(1, width - 21))]]),
  ]
}

/** The full sentence of the chosen problem, and the command that fixes it. */
export function needDetail({ sentence, fix }: Need, width: number): Line[] {
  const words = wrap(sentence, Math.max(1, width - 4)).slice(0, 2)
  return [...words.map((text): Line => ['   ', text]), [dim('   same as  '), clip(fix, Math.max(1, width - 12))]]
}

type Columns = ReturnType<typeof columnsFor>

function columnsFor(shown: readonly Need[], width: number) {
  const amounts = width >= AMOUNT_FROM ? shown.filter(({ amount }) => amount !== '') : []
  const aligned = onThePoint(amounts.map(({ amount }) => shownMoney(amount.slice(1))))
  return {
    kind: width >= KIND_FROM ? Math.max(...shown.map(({ kind }) => attentionWords[kind].word.length)) : 0,
    who: Math.min(WHO_COLUMNS_MAX, Math.max(...shown.map((need) => widthOf(whoOf(need))))),
    amounts: new Map(amounts.map(({ id }, i) => [id, aligned[i] ?? ''])),
    amount: aligned[0]?.length ?? 0,
  }
}

function whoOf({ who, kind, subject }: Need): string {
  if (who.startsWith('0x')) return shortAddress(who)
  return who || (kind === 'cron' ? subject : '—')
}

/** A problem in few columns. Its amount is shown whole or not at all. */
export function briefNeed(need: Need, width: number): Line {
  const head: Line = [signOf(need), ` ${attentionWords[need.kind].word} `]
  if (need.who === '' && need.kind !== 'cron')
    return [...head, clip(need.sentence, Math.max(1, width - lineWidth(head)))]
  const money: Line = need.amount === '' ? [] : [' ', strong(shownMoney(need.amount.slice(1)))]
  const room = width - lineWidth(head)
  const who = whoOf(need)
  const isWhole = lineWidth(money) + LEAST_WHO <= room
  return [...head, clip(who, isWhole ? room - lineWidth(money) : Math.max(1, room)), ...(isWhole ? money : [])]
}

const LEAST_WHO = 4

function needLines(
  need: Need,
  { business, readonly, keys }: Inbox,
  room: Columns & { readonly width: number },
): Line[] {
  const { kind, who, amounts, amount, width } = room
  const sign = signOf(need)
  const left: Line = [
    ' ',
    sign,
    ' ',
    ...(kind === 0 ? [] : [`${padEnd(attentionWords[need.kind].word, kind)} `]),
    strong(padEnd(clip(whoOf(need), who), who)),
    ...(amount === 0 ? [] : ['  ', strong(padEnd(amounts.get(need.id) ?? '', amount))]),
    '  ',
  ]
  const right = [...ageOf(need, business), ' ', ...verbOf(need, { readonly, keys })]
  const room2 = Math.max(0, width - lineWidth(left) - lineWidth(right) - 1)
  const [first = '', ...more] = sentenceRows(need.sentence, width >= AMOUNT_FROM, room2)
  return [
    placed(width, [
      [0, [...left, first]],
      [width - lineWidth(right), right],
    ]),
    ...more.map((words) => placed(width, [[lineWidth(left), [words]]])),
  ]
}

const SENTENCE_ROWS_MAX = 2

/** The sentence in at most two rows, or cut to one row if the window is narrow. */
function sentenceRows(sentence: string, isWide: boolean, room: number): readonly string[] {
  if (widthOf(sentence) <= room || !isWide) return [clip(sentence, room)]
  const rows = wrap(sentence, room)
  const last = rows.slice(SENTENCE_ROWS_MAX - 1).join(' ')
  return [...rows.slice(0, SENTENCE_ROWS_MAX - 1), clip(last, room)]
}

const AGE_COLUMNS = 5

function ageOf({ since }: Need, business: number | undefined): Line {
  const age = since === undefined || business === undefined ? '' : shortSpan(Math.max(0, business - since))
  return [dim(age.padStart(AGE_COLUMNS))]
}

function verbOf(need: Need, { readonly, keys }: Pick<Inbox, 'readonly' | 'keys'>): Line {
  const mend = mendOf(need)
  if (mend === undefined || readonly) return sized([accent(keyFor('open', keys)), ' look'], VERB_COLUMNS)
  return sized([accent(keyFor(mend.act, keys)), ` ${mend.verb}`], VERB_COLUMNS)
}

function signOf({ grave, kind }: Need): Piece {
  if (kind === 'dispute') return bad('?')
  return grave ? bad('✗') : warn('!')
}
