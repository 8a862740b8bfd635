import { HOUR_MS, SECOND_MS } from '../../core/time.ts'
import { count, firstThatFits, percentChange, shortSpan } from '../../text/text.ts'
import { clockTime, dateTime, weekAgoWords } from '../../text/time.ts'
import { AXIS_COLUMNS, bar, chart, folded, footLine, highest, mean, spark } from '../parts/charts.ts'
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
import { auditLine, riverLines } from '../parts/river.ts'
import { type Binding, keyFor } from '../shell/bindings.ts'
import {
  byUrgency,
  cronState,
  cronWord,
  type ListedCron,
  lastOk,
  nextRun,
  runStrip,
  stateCounts,
} from '../shell/cron-facts.ts'
import { callsOf, pastOf, type River, type Series, type WorkFacts } from '../shell/figures.ts'
import { staleness, waitingLines } from '../shell/notice.ts'
import type { Query } from '../shell/query.ts'

const SECONDS_PER_MINUTE = 60
/** Rates per minute are computed from this many of the newest complete buckets. */
const RECENT_BUCKETS = 5

export function moneyLines(river: Query<River>, now: number, width: number): Line[] {
  const { value } = river
  if (value === undefined) return [rule(width, 'Money today'), ...waitingLines(river, width).slice(0, 1)]
  const at = value.checked_at
  const age = at === null ? '' : `, ${shortSpan(Math.max(0, now - Date.parse(at)))} ago`
  const old = staleness(river, now)
  if (old !== undefined)
    return [rule(width, 'Money today', [warn(old)]), ...riverLines({ ...value, agrees: undefined }, width)]
  const mark: Line = value.agrees ? [good(`✓ books agree${age}`)] : auditLine(value)
  return [rule(width, 'Money today', mark), ...riverLines(value, width)]
}

/** A sparkline of recent inflow and the time it covers. Empty while unknown. */
export function paidInLine({ value }: Query<Series>, width: number): Line[] {
  if (value === undefined) return []
  const { span, buckets, week_ago: past } = value
  const change = changeWords(value, past?.change.paid_in)
  const words = ` in, last ${span}${change === '' ? '' : `, ${change}`}`
  const paid = buckets.map(({ paid_in }) => Number(paid_in))
  return [[' ', sparkPiece(paid, { width: Math.max(0, width - words.length - 2), span }), dim(words)]]
}

/** Like `+18 % on last Wed`. Empty if that is not known. */
function changeWords({ span, buckets }: Series, percent: number | null | undefined): string {
  if (percent === null || percent === undefined) return ''
  return `${percentChange(percent)} on ${weekAgoWords(span, Date.parse(buckets.at(-1)?.at ?? ''))}`
}

type Sparked = {
  readonly width: number
  readonly span: Series['span']
  readonly of?: typeof mean
  readonly past?: readonly number[]
}

/** A sparkline, or words if there is nothing to draw. */
function sparkPiece(values: readonly number[], { width, span, of = mean, past = [] }: Sparked): Piece {
  if (values.some((value) => value > 0)) return accent(spark(values, width, { of, beside: past }))
  return dim(firstThatFits([`none in the last ${span}`, 'none'], width).padEnd(width))
}

type Figure = {
  readonly name: string
  readonly value: string
  readonly values: readonly number[]
  readonly of?: typeof mean
  /** The values of a week ago. Empty if unknown. */
  readonly past: readonly number[]
  readonly change?: number | null | undefined
}

function figuresOf(series: Series): readonly Figure[] {
  const { buckets, bucket_seconds: bucketSeconds } = series
  const change = series.week_ago?.change
  // Figures of a week ago are kept by the hour. A shorter bucket gets an even share of its hour.
  const share = (bucketSeconds * SECOND_MS) / HOUR_MS
  const recent = buckets.slice(-RECENT_BUCKETS - 1, -1)
  const minutes = Math.max(1, (recent.length * bucketSeconds) / SECONDS_PER_MINUTE)
  const rate = (of: (bucket: Series['buckets'][number]) => number) =>
    recent.reduce((sum, bucket) => sum + of(bucket), 0) / minutes
  const [requests, money] = [rate(callsOf), rate(({ paid_in }) => Number(paid_in))]
  const sales = rate(({ purchases }) => purchases)
  const p95 = buckets.findLast(({ p95_ms }) => p95_ms !== null)?.p95_ms
  return [
    {
      name: 'requests',
      value: `${rounded(requests)} /min`,
      values: buckets.map(callsOf),
      past: pastOf(series, ({ calls }) => calls * share),
      change: change?.calls,
    },
    {
      name: 'money in',
      value: `$${money.toFixed(2)} /min`,
      values: buckets.map(({ paid_in }) => Number(paid_in)),
      past: pastOf(series, ({ paid_in }) => Number(paid_in) * share),
      change: change?.paid_in,
    },
    {
      name: 'purchases',
      value: `${rounded(sales)} /min`,
      values: buckets.map(({ purchases }) => purchases),
      past: pastOf(series, ({ purchases }) => purchases * share),
      change: change?.purchases,
    },
    {
      name: 'p95 time',
      value: p95 === undefined || p95 === null ? '—' : `${rounded(p95)} ms`,
      values: buckets.map(({ p95_ms }) => p95_ms ?? 0),
      past: pastOf(series, ({ p95_ms }) => p95_ms ?? 0),
      of: highest,
    },
  ]
}

const LEAST_WHOLE = 10

function rounded(value: number): string {
  return value >= LEAST_WHOLE || Number.isInteger(value) ? count(Math.round(value)) : value.toFixed(1)
}

const FIGURE_NAME = 10
const FIGURE_VALUE = 11

type Pulse = {
  readonly width: number
  readonly rows: number
  readonly keys: readonly Binding[]
  /** Whether there is room for a row below each figure, with what it was a week ago (default: true). */
  readonly hasPast?: boolean
}

/** Figures with sparklines, two per row if the window is wide. */
export function pulseLines(series: Query<Series>, { width, rows, keys, hasPast = true }: Pulse): Line[] {
  const { value } = series
  if (value === undefined) return [rule(width, 'Pulse'), ...waitingLines(series, width).slice(0, 1)]
  const perRow = width >= KIND_OF_PAIR ? 2 : 1
  const figures = figuresOf(value).slice(0, rows * perRow)
  const each = Math.floor((width - 1) / perRow)
  const { span } = value
  const note: Line = [dim(`last ${span}  `), accent(keyFor('span', keys)), dim(' hour/day/week')]
  const lines = Array.from({ length: Math.ceil(figures.length / perRow) }, (_, row): Line[] => {
    const here = figures.slice(row * perRow, (row + 1) * perRow)
    const now: Line = [' ', ...here.flatMap((figure) => sized(figureLine(figure, span, each - 2), each))]
    const isKnown = hasPast && here.some(({ past }) => past.length > 0)
    return isKnown ? [now, [' ', ...here.flatMap((figure) => sized(pastLine(figure, value, each - 2), each))]] : [now]
  }).flat()
  return [rule(width, 'Pulse', note), ...lines]
}

const KIND_OF_PAIR = 72

const sparkColumns = (width: number) => Math.max(0, width - FIGURE_NAME - FIGURE_VALUE - 1)

function figureLine({ name, value, ...figure }: Figure, span: Series['span'], width: number): Line {
  const drawn = sparkPiece(figure.values, { ...figure, width: sparkColumns(width), span })
  return [dim(name.padEnd(FIGURE_NAME)), strong(value.padStart(FIGURE_VALUE)), ' ', drawn]
}

/** The figure of a week ago, faint and to the same scale, and how much it changed. */
function pastLine({ values, past, change, of = mean }: Figure, series: Series, width: number): Line {
  if (past.length === 0) return []
  const at = Date.parse(series.buckets.at(-1)?.at ?? '')
  const words = changeWords(series, change) || weekAgoWords(series.span, at)
  return [
    dim(words.padEnd(FIGURE_NAME + FIGURE_VALUE)),
    ' ',
    dim(spark(past, sparkColumns(width), { of, beside: values })),
  ]
}

/** A chart of calls over time, and sums by outcome. */
export function callsLines(series: Query<Series>, { width, rows }: { width: number; rows: number }): Line[] {
  const { value } = series
  if (value === undefined || rows < 2) return []
  const sums = value.buckets.reduce(
    (sum, { calls }) => ({
      good: sum.good + calls.answered,
      asked: sum.asked + calls.asked_to_pay,
      refused: sum.refused + calls.refused + calls.switched_off,
      broken: sum.broken + calls.broken,
    }),
    { good: 0, asked: 0, refused: 0, broken: 0 },
  )
  const legend: Line[] = [
    [good('✓ '), `answered   ${count(sums.good).padStart(7)}`],
    [warn('? '), `asked 402  ${count(sums.asked).padStart(7)}`],
    [warn('! '), `refused    ${count(sums.refused).padStart(7)}`],
    [bad('✗ '), `broken     ${count(sums.broken).padStart(7)}`],
  ]
  const side = Math.max(...legend.map(lineWidth)) + 2
  const drawn = callsChart(value, { width: width - side, rows })
  const lines = drawn.map((line, i) =>
    placed(width, [
      [0, line],
      [width - side + 1, legend[i] ?? blank],
    ]),
  )
  const change = changeWords(value, value.week_ago?.change.calls)
  const note = dim(`${perBucket[value.span]}, last ${value.span}${change === '' ? '' : `, ${change}`}`)
  return [rule(width, 'API calls', [note]), ...lines]
}

/** From this height the chart gets an axis. */
const FOOT_FROM = 6

/** Unit of the axis. */
const perBucket = { hour: 'a minute', day: 'in 15 minutes', week: 'an hour' } as const

function callsChart({ span, buckets }: Series, { width, rows }: { width: number; rows: number }): Line[] {
  const calls = buckets.map(callsOf)
  if (!calls.some((many) => many > 0))
    return Array.from({ length: rows }, (_, i) => (i === 0 ? [dim(` none in the last ${span}`)] : blank))
  const drawn = (height: number) => chart(calls, { width, height })
  if (rows < FOOT_FROM) return drawn(rows)
  const columns = folded(buckets, width - AXIS_COLUMNS)
  return [...drawn(rows - 2), footLine(AXIS_COLUMNS + columns.length), timesLine(span, columns)]
}

const TIMES = 4
const NOW = 'now'

/** The row of times below the chart: one at every quarter of its width, and `now` at the end. */
function timesLine(span: Series['span'], columns: readonly (readonly Series['buckets'][number][])[]): Line {
  const word = (at: number) => (span === 'week' ? dateTime(at).slice(5, 10) : clockTime(at).slice(0, 5))
  const places = Array.from({ length: TIMES }, (_, i) => Math.round((i * columns.length) / TIMES))
  const times = places.flatMap((place, i) => {
    const bucket = columns[place]?.[0]
    const end = places[i + 1] ?? columns.length - NOW.length
    const text = bucket === undefined ? '' : word(Date.parse(bucket.at))
    return text === '' || place + text.length >= end ? [] : [[AXIS_COLUMNS + place, [dim(text)]] as const]
  })
  const now = AXIS_COLUMNS + Math.max(0, columns.length - NOW.length)
  return placed(AXIS_COLUMNS + columns.length, [...times, [now, [dim(NOW)]]])
}

type WorkShown = { readonly sign: Piece; readonly words: string; readonly count: number }

/** Open jobs by what they wait for. Jobs that finish immediately are never open. */
function workOf({ work, held }: WorkShownOf): readonly WorkShown[] {
  const sent = work.created + work.dispatched
  const delivered = Math.max(0, held - sent - work.in_progress - work.disputed)
  return [
    { sign: accent('●'), words: 'sent', count: sent },
    { sign: accent('●'), words: 'at work', count: work.in_progress },
    { sign: warn('?'), words: 'delivered', count: delivered },
    { sign: bad('?'), words: 'disputed', count: work.disputed },
  ]
}

export type WorkShownOf = { readonly work: WorkFacts; readonly held: number; readonly ended: River['ended'] }

/** How many jobs ended today. Empty if unknown. */
export function doneToday(value: WorkShownOf | undefined): Line {
  if (value === undefined) return []
  const { good: well, failed, refunded } = value.ended
  return [dim(`${count(well + failed + refunded)} done today`)]
}

function doneLine({ ended: { good: well, failed, refunded } }: WorkShownOf): Line {
  return [dim(` done today ${count(well)} good, ${count(failed)} failed, ${count(refunded)} refunded`)]
}

export function openJobs(work: WorkShownOf): number {
  return workOf(work).reduce((sum, one) => sum + one.count, 0)
}

/** Open jobs by what they wait for, in one line. */
export function workLine(value: WorkShownOf | undefined): Line {
  if (value === undefined) return [dim(' asking…')]
  return workOf(value)
    .flatMap((one): Piece[] => ['  ', one.sign, ` ${count(one.count)} ${one.words}`])
    .slice(0)
    .map((piece, i) => (i === 0 ? ' ' : piece))
}

/** Open jobs by what they wait for, each with a bar. */
export function workLines(value: WorkShownOf | undefined, width: number): Line[] {
  if (value === undefined) return [rule(width, 'Work'), [dim(' asking…')]]
  const shown = workOf(value)
  const most = Math.max(1, ...shown.map((one) => one.count))
  const room = Math.max(0, width - 24)
  return [
    rule(width, `Work ${count(openJobs(value))} open`, doneToday(value)),
    ...shown.map(
      (one): Line => [
        ' ',
        one.sign,
        ` ${one.words.padEnd(10)}${count(one.count).padStart(7)}  `,
        accent(bar(one.count / most, room)),
      ],
    ),
    doneLine(value),
  ]
}

/** Names the failing crons and counts the others. */
export function cronStrip(crons: readonly ListedCron[], now: number | undefined): Line {
  const sorted = [...crons].sort(byUrgency)
  const of = (...states: string[]) => crons.filter((cron) => states.includes(cronState(cron))).length
  const troubled = sorted.filter((cron) => ['failing', 'stale'].includes(cronState(cron)))
  const named = troubled.flatMap((cron): Piece[] => {
    const sign = cronState(cron) === 'failing' ? bad('✗') : warn('!')
    return [' ', sign, ` ${cron.name} ${lastOk(cron, now)} `]
  })
  const rest = [
    [good(' ✓'), ` ${of('ok', 'running')} ok `],
    ...(of('skipped') === 0 ? [] : [[dim(` – ${of('skipped')} not in use `)]]),
    ...(of('waiting') === 0 ? [] : [[dim(` ○ ${of('waiting')} not yet `)]]),
    ...(of('paused') === 0 ? [] : [[warn(` ‖ ${of('paused')} paused `)]]),
  ]
  return [...named, ...rest.flat()]
}

const STRIP_RUNS = 12
/** Columns for a cron's name, last success and next run. The strip of runs gets the rest. */
const STRIP_FROM = 43

type CronRows = {
  readonly width: number
  readonly rows: number
  readonly now: number | undefined
  readonly chosen: number
}

/** A row for each cron: its latest runs, last success and next run. */
export function cronLines(crons: readonly ListedCron[], { width, rows, now, chosen }: CronRows): Line[] {
  const sorted = [...crons].sort(byUrgency)
  const strip = Math.min(STRIP_RUNS, Math.max(0, width - STRIP_FROM))
  const from = windowStart({ rows: sorted, chosen, height: rows })
  const lines = sorted.slice(from, from + rows).map((cron, i): Line => {
    const word = cronWord(cron)
    const text = typeof word === 'string' ? word : word.text
    const sign: Piece = typeof word === 'string' ? text.slice(0, 1) : { ...word, text: text.slice(0, 1) }
    const ran = runStrip(cron.runs ?? [], strip).padStart(strip)
    const next = nextRun(cron, now)
    const ages = dim(`${lastOk(cron, now).padStart(8)}${(next === '—' ? '' : `in ${next}`).padStart(8)}`)
    const right: Line = [ran, ages, ' ']
    const line = placed(width, [
      [1, [sign, ` ${cron.name}`]],
      [width - lineWidth(right), right],
    ])
    return marked(hitting(line, { row: cron.name }), from + i === chosen)
  })
  return [rule(width, `Crons ${crons.length}`, [dim(stateCounts(crons))]), ...lines]
}
