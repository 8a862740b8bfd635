import { clockTime, timeOrDay } from '../../text/time.ts'
import { blank, dim, good, type Line, lineWidth, placed, rule, sized, strong, warn } from '../parts/line.ts'
import { onThePoint, shownMoney } from '../parts/river.ts'
import { marked, windowStart } from '../parts/table.ts'
import type { Stream } from '../shell/stream.ts'
import { sentenceOf } from './sentences.ts'

type Feed = {
  readonly width: number
  readonly height: number
  readonly held: boolean
  readonly title?: string
  /** Business time; undefined where it is not known. */
  readonly now: number | undefined
  readonly stoppedAt?: number | undefined
  /** Which of all that is known is chosen: it stays in sight. */
  readonly chosen?: number | undefined
}

/** What happened, newest first, each once. */
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
    if (!ids) return marked(sized(left, width), from + i === chosen)
    const id = [dim(`  ${event.subject} `)]
    const row = placed(width, [
      [0, sized(left, width - lineWidth(id) - 1)],
      [width - lineWidth(id), id],
    ])
    return marked(row, from + i === chosen)
  })
  const none: Line[] = state === 'live' ? [[dim(' waiting for the first event')]] : [blank]
  return [
    rule(width, title, stoppedAt === undefined ? notes[state] : [warn(`‖ stopped at ${clockTime(stoppedAt)}`)]),
    ...(rows.length === 0 ? none.slice(0, height - 1) : rows),
  ]
}

type Told = { readonly now: number | undefined; readonly isNarrow: boolean }

/** All as wide, so that the sentences stand under each other; in a narrow window they need the room of the seconds. */
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
