import { useState } from 'react'
import type { WireAnswer } from '../../api/index.ts'
import type { Link } from '../../client/link.ts'
import { MINUTE_MS } from '../../core/time.ts'
import { clip, count, padEnd, padStart, span, take, widthOf, wrap } from '../../text/text.ts'
import { clockTime } from '../../text/time.ts'
import { bar } from '../parts/charts.ts'
import { accent, bad, dim, good, type Line, lineWidth, type Piece, spread, strong, warn } from '../parts/line.ts'
import { useSettled } from '../shell/finding.ts'
import { fetching, fetchNothing, SLOW_EVERY_MS } from '../shell/queries.ts'
import { type Fetch, useQuery } from '../shell/query.ts'
import { text } from '../shell/read.ts'
import type { Host } from '../shell/screen.ts'

type Step = WireAnswer<'getRequestStory'>['steps'][number]
export type Story = { readonly id: string; readonly steps: readonly Step[]; readonly lost: string }

/** Fetches the trace of a request or delivery. Undefined without an id. */
const fetchStory = (link: Link, id: string): Fetch<Story | undefined> => {
  if (id === '') return fetchNothing
  return fetching('getRequestStory', { params: { id } }, ({ steps, lost }) => ({ id, steps, lost: text(lost) }))(link)
}

/** A hook that fetches a row's trace once the cursor rests on the row. Until then, the previous trace stays. */
export function useStory(host: Host, id: string): Story | undefined {
  const wanted = useSettled(id, host.clock)
  const story = useQuery(fetchStory(host.link, wanted), { name: `story ${wanted}`, every: SLOW_EVERY_MS })
  const [last] = useState<{ story?: Story | undefined }>({})
  last.story = story.value ?? last.story
  return id === '' ? undefined : last.story
}

const signs: Readonly<Record<Step['sign'], Piece>> = { done: good('✓'), waits: accent('●'), failed: bad('✗') }
const KIND_COLUMNS = 11
/** From this width, times have milliseconds. */
const FINE_FROM = 56

/** Terminals below 60 columns show no trace, so a narrower trace is a side panel. Its long sentences leave room below. */
const SIDE_BELOW = 60
const SIDE_BAR_COLUMNS = 8
/** From this width, a trace across the whole terminal has bars. */
const BARS_FROM = 76
const BAR_SHARE = 7
/** Columns of a duration. */
const TOOK_COLUMNS = 9
/** From this duration on, it is written in seconds and longer units. */
const SPAN_FROM_MS = 10_000
/** Bars show the first minute of a trace. Beside hours, the bars of milliseconds would vanish. */
const WINDOW_MS = MINUTE_MS
/** From this number of timed steps, the longest is named. */
const NAMED_FROM = 3

/** When a step began, in milliseconds since the trace began, and how long it took. */
type Timed = {
  readonly step: Step
  readonly from: number
  readonly ms: number
  /** Whether `ms` is the time since the step before it, because the step has no duration of its own. */
  readonly isGap: boolean
}

const byWallClock: ReadonlySet<Step['kind']> = new Set(['request', 'offer', 'attempt'])
const startOf = ({ at }: Step) => (at === null ? undefined : Date.parse(at))
const isInWindow = ({ from, ms }: Pick<Timed, 'from' | 'ms'>) => from >= 0 && from + ms < WINDOW_MS

/** Times of steps. The business clock can be moved, so its times are compared only if they are near the wall times. */
function timesOf(steps: readonly Step[]): readonly Timed[] {
  const begun = steps.flatMap((step) => startOf(step) ?? [])[0] ?? 0
  let before: number | undefined
  return steps.map((step): Timed => {
    const at = startOf(step) ?? before ?? begun
    if (byWallClock.has(step.kind)) return { step, from: at - begun, ms: step.ms ?? 0, isGap: false }
    const since = before ?? (isInWindow({ from: at - begun, ms: 0 }) ? begun : at)
    before = at
    return { step, from: since - begun, ms: Math.max(0, at - since), isGap: true }
  })
}

/** Draws a trace with a bar for each step, from its begin to its end. Steps are indented by depth. */
export function storyLines(story: Story | undefined, width: number): Line[] {
  if (story === undefined) return [[dim(' asking…')]]
  const times = timesOf(story.steps)
  const most = Math.max(1, ...times.filter(isInWindow).map(({ from, ms }) => from + ms))
  const lines = times.flatMap((timed) => stepLines(timed, { width, most }))
  const lost = story.lost === '' ? [] : wrap(story.lost, width - 4)
  return [
    ...longestLine(times, width),
    ...lines,
    ...lost.map((words, i): Line => [warn(i === 0 ? ' ! ' : '   '), words]),
  ]
}

/** Names the step that took longest. The request around all steps is none of them. */
function longestLine(times: readonly Timed[], width: number): Line[] {
  const parts = times.filter((timed) => timed.ms > 0 && !isWhole(timed.step))
  const [longest] = parts.toSorted((one, other) => other.ms - one.ms)
  if (longest === undefined || parts.length + 1 < NAMED_FROM) return []
  const took = tookWord(longest)
  const head: Line = [dim(' longest '), strong(took), '  ', accent(longest.step.kind), '  ']
  return [[...head, dim(clip(text(longest.step.sentence), Math.max(1, width - lineWidth(head) - 1)))]]
}

type Scale = {
  readonly width: number
  /** Milliseconds that all columns of a bar stand for. */
  readonly most: number
}

function stepLines(timed: Timed, { width, most }: Scale): Line[] {
  const { depth, kind, sign, amount, sentence } = timed.step
  const indent = '  '.repeat(depth)
  const time = timeOf(timed.step, width)
  const left: Line = [dim(` ${time} `), indent, signs[sign], ' ', accent(padEnd(kind, KIND_COLUMNS))]
  const money = amount === null ? '' : `$${amount}  `
  const took = tookWord(timed)
  const right = rightOf(timed, took, { width, most })
  const edge = lineWidth(left)
  const room = Math.max(1, width - edge - money.length - (width < SIDE_BELOW ? 0 : lineWidth(right)))
  const [first = '', ...rest] = hung(text(sentence), { room, edge, width })
  const lines: Line[] = [[...left, strong(money), first], ...rest.map((words): Line => [words])]
  return withRight(lines, right, width)
}

/** Adds a duration to the first line that has room for it. Without such a line it has a line of its own. */
function withRight(lines: readonly Line[], right: Line, width: number): Line[] {
  if (right.length === 0) return [...lines]
  const at = lines.findIndex((line) => lineWidth(line) + lineWidth(right) < width)
  const whole = at < 0 ? [...lines, []] : lines
  return whole.map((line, i) => (i === (at < 0 ? lines.length : at) ? spread(width, line, right) : line))
}

/** The bar and the duration of a step, as wide for all steps. */
function rightOf(timed: Timed, took: string, { width, most }: Scale): Line {
  if (took === '') return []
  const columns = barColumns(width)
  if (columns === 0) return [dim(`  ${took} `)]
  const before = Math.min(columns - 1, Math.floor((timed.from / most) * columns))
  const drawn = isInWindow(timed) ? `${' '.repeat(before)}${bar(timed.ms / most, columns)}` : ''
  return ['  ', accent(padEnd(take(drawn, columns), columns)), dim(`${padStart(took, TOOK_COLUMNS)} `)]
}

function barColumns(width: number): number {
  if (width < SIDE_BELOW) return SIDE_BAR_COLUMNS
  return width < BARS_FROM ? 0 : Math.floor(width / BAR_SHARE)
}

type Hang = { readonly room: number; readonly edge: number; readonly width: number }

/** Wraps a sentence with hanging indent. The indent shrinks before a long word would be cut. */
function hung(sentence: string, { room, edge, width }: Hang): readonly string[] {
  const [begun = ''] = wrap(sentence, room)
  const first = sentence.startsWith(begun) ? begun : ''
  const left = sentence.slice(first.length).trimStart()
  if (left === '') return [first]
  const longest = Math.max(...left.split(' ').map(widthOf))
  const indent = Math.max(1, Math.min(edge, width - longest - 1))
  return [first, ...wrap(left, width - indent - 1).map((words) => `${' '.repeat(indent)}${words}`)]
}

function timeOf(step: Step, width: number): string {
  const ms = startOf(step)
  const isFine = width >= FINE_FROM
  if (ms === undefined) return isFine ? '--:--:--    ' : '--:--:--'
  return isFine ? `${clockTime(ms)}.${String(ms % 1_000).padStart(3, '0')}` : clockTime(ms)
}

const isWhole = ({ kind, depth }: Step) => kind === 'request' && depth === 0

/** Duration of a step, or `+` and the time since the step before it. */
function tookWord({ step, ms, isGap }: Timed): string {
  if (isGap ? ms === 0 : step.ms === null) return ''
  return `${isGap ? '+' : ''}${ms < SPAN_FROM_MS ? `${count(ms)} ms` : span(ms)}`
}
