import type { WireAnswer, WireEvent } from '../api/index.ts'
import { count } from '../text/text.ts'
import { clockTime } from '../text/time.ts'
import { shownMoney } from './parts/river.ts'

/* Pictures of a screen, read back into the numbers that they stand for, and held against what was answered. */

type Series = WireAnswer<'getSeries'>
type River = WireAnswer<'getRiver'>
type Bucket = Series['buckets'][number]
export type Told = WireEvent<'streamEvents'>

const STEPS = ' ▁▂▃▄▅▆▇█'
/** A spark of one row stops below its top. */
const SPARK_TOP = 7

/** How high each column stands, in eighths of a row. */
export function heightsIn(rows: readonly string[], columns: number): readonly number[] {
  return Array.from({ length: columns }, (_, column) =>
    rows.reduce((sum, row) => sum + STEPS.indexOf(row[column] ?? ' '), 0),
  )
}

/** By the scale: nothing for nothing, the greatest at the top, and whatever is begun is full. */
export function heightsOf(values: readonly number[], top: number): readonly number[] {
  const most = Math.max(...values)
  return values.map((value) => (value <= 0 ? 0 : Math.ceil((value / most) * top)))
}

/** @param columns as many of the last values as are drawn */
export function sparkOf(values: readonly number[], columns: number, isHighest = false): string {
  const many = Math.min(values.length, columns)
  const sums = new Array<number>(many).fill(0)
  const counts = new Array<number>(many).fill(0)
  for (const [i, value] of values.entries()) {
    const at = Math.ceil(((i + 1) * many) / values.length) - 1
    sums[at] = isHighest ? Math.max(sums[at] ?? 0, value) : (sums[at] ?? 0) + value
    counts[at] = (counts[at] ?? 0) + 1
  }
  const folded = sums.map((sum, i) => (isHighest ? sum : sum / (counts[i] ?? 1)))
  const heights = heightsOf(folded, SPARK_TOP)
  return heights
    .map((height) => STEPS[height])
    .join('')
    .padStart(columns)
}

/** A screen cut where its panels meet: the left ones, and the right ones where there are any. */
export function sidesOf(screen: readonly string[], width: number) {
  const split = screen.map((row) => row.indexOf('┬')).find((at) => at > 0)
  if (split === undefined) return [{ rows: screen, width }] as const
  const end = screen.findIndex((row) => row.startsWith('─ Live'))
  const top = screen.slice(0, end)
  return [
    { rows: top.map((row) => row.slice(0, split)), width: split },
    { rows: top.map((row) => row.slice(split + 1)), width: width - split - 1 },
  ] as const
}

/** Rows of the panel of this title, its title first. */
export function panelOf(rows: readonly string[], title: string): readonly string[] {
  const from = rows.findIndex((row) => row.startsWith(`─ ${title} `))
  const end = rows.findIndex((row, i) => i > from && row.startsWith('─'))
  return from < 0 ? [] : rows.slice(from, end < 0 ? undefined : end)
}

const callsIn = ({ calls }: Bucket) => Object.values(calls).reduce((sum, one) => sum + one, 0)
const paidIn = ({ paid_in }: Bucket) => Number(paid_in)
/** What a figure a minute is reckoned over: the whole minutes before this one. */
const RECENT = 5

/** What the spark and the figure of each name say. */
function figures({ buckets, bucket_seconds: seconds }: Series) {
  const perMinute = (of: (bucket: Bucket) => number) =>
    buckets.slice(-RECENT - 1, -1).reduce((sum, bucket) => sum + of(bucket), 0) / ((RECENT * seconds) / 60)
  const short = (value: number) =>
    value >= 10 || Number.isInteger(value) ? count(Math.round(value)) : value.toFixed(1)
  const p95 = buckets.findLast(({ p95_ms }) => p95_ms !== null)?.p95_ms ?? null
  const sales = ({ purchases }: Bucket) => purchases
  return {
    requests: [`${short(perMinute(callsIn))} /min`, buckets.map(callsIn)],
    'money in': [`$${perMinute(paidIn).toFixed(2)} /min`, buckets.map(paidIn)],
    purchases: [`${short(perMinute(sales))} /min`, buckets.map(sales)],
    'p95 time': [p95 === null ? '—' : `${short(p95)} ms`, buckets.map(({ p95_ms }) => p95_ms ?? 0)],
  } as const satisfies Record<string, readonly [string, readonly number[]]>
}

const NAME = 10
const VALUE = 11
/** Narrower, a row of figures holds one of them. */
const PAIR = 72

/** What the panel of the figures does not say of the series. */
export function pulseLacks(panel: readonly string[], width: number, series: Series): readonly string[] {
  const [title = '', ...rows] = panel
  const each = Math.floor((width - 1) / (width >= PAIR ? 2 : 1))
  const columns = each - 2 - NAME - VALUE - 1
  const seen = Object.entries(figures(series)).flatMap(([name, [value, values]]) => {
    const row = rows.find((one) => one.includes(` ${name} `))
    if (row === undefined) return []
    const at = row.indexOf(` ${name} `) + 1
    const text = row.slice(at + NAME, at + NAME + VALUE).trim()
    const drawn = row.slice(at + NAME + VALUE + 1, at + NAME + VALUE + 1 + columns).padEnd(columns)
    const isEmpty = values.every((one) => one === 0)
    const words = columns >= 'none in the last hour'.length ? 'none in the last hour' : 'none'
    const wanted = isEmpty ? words.padEnd(columns) : sparkOf(values, columns, name === 'p95 time')
    return [text === value && drawn === wanted ? '' : `${name} ${value} ${wanted} in ${row}`]
  })
  const isDated = title.includes(`last ${series.span} `)
  return [
    ...seen.filter((one) => one !== ''),
    ...(seen.length < 2 ? ['figures'] : []),
    ...(isDated ? [] : [`last ${series.span} in ${title}`]),
  ]
}

const AXIS = 6

/** What the chart of the calls does not say of the series. */
export function callsLacks(panel: readonly string[], series: Series): readonly string[] {
  const foot = panel.findIndex((row) => /^ +0 ┴─/.test(row))
  const columns = /┴(─+)/.exec(panel[foot] ?? '')?.[1]?.length ?? 0
  const rows = panel.slice(1, foot).map((row) => row.slice(AXIS, AXIS + columns))
  const { buckets } = series
  const values = buckets.slice(-columns).map(callsIn)
  const most = Math.max(...values)
  const lacks: string[] = []
  const expectAt = (row: number, wanted: string) => {
    if (!(panel[row] ?? '').startsWith(wanted)) lacks.push(`${wanted} in ${panel[row]}`)
  }
  if (columns !== buckets.length || rows.length < 4) return [`a column for each bucket: ${columns}`]
  const [drawn, wanted] = [heightsIn(rows, columns), heightsOf(values, rows.length * 8)]
  if (String(drawn) !== String(wanted)) lacks.push(`calls ${wanted}, drawn ${drawn}`)
  const half = most / 2 < 10 ? Math.round((most / 2) * 10) / 10 : Math.round(most / 2)
  expectAt(1, `${String(most).padStart(4)} ┤`)
  if (rows.length % 2 === 0) expectAt(1 + rows.length / 2, `${String(half).padStart(4)} ┤`)
  const times = [...(panel[foot + 1] ?? '').matchAll(/\d\d:\d\d/g)]
  const early = times.filter(({ 0: time, index }) => time !== hourOf(buckets[index - AXIS]))
  if (times.length < 3 || early.length > 0) lacks.push(`times in ${panel[foot + 1]}`)
  return [...lacks, ...totalsLacks(panel, buckets)]
}

function hourOf(bucket: Bucket | undefined): string {
  return bucket === undefined ? '' : clockTime(Date.parse(bucket.at)).slice(0, 5)
}

function totalsLacks(panel: readonly string[], buckets: readonly Bucket[]): readonly string[] {
  const sum = (...of: readonly (keyof Bucket['calls'])[]) =>
    buckets.reduce((all, { calls }) => all + of.reduce((some, one) => some + calls[one], 0), 0)
  const totals = {
    answered: sum('answered'),
    'asked 402': sum('asked_to_pay'),
    refused: sum('refused', 'switched_off'),
    broken: sum('broken'),
  }
  const text = panel.join('\n')
  return Object.entries(totals)
    .filter(([word, total]) => !new RegExp(`${word} +${count(total)}(?!\\S)`).test(text))
    .map(([word, total]) => `${total} ${word}`)
}

/** What stands in the tank of the held money, and what the bars behind it say was passed on. */
export function riverLacks(panel: readonly string[], river: River): readonly string[] {
  const rows = panel.slice(1)
  const text = rows.map((row) => /[▆▄▂]+/.exec(row)?.[0] ?? '').find((one) => one !== '') ?? ''
  const many = (sign: string) => [...text].filter((one) => one === sign).length
  const part = (amount: string) => {
    const share = Number(amount) / Number(river.held)
    return share <= 0 ? 0 : Math.max(1, Math.round(share * text.length))
  }
  const lacks = [
    ...(text.length > 0 ? [] : ['a tank']),
    ...(many('▂') === part(river.disputed) ? [] : [`${part(river.disputed)} columns disputed in ${text}`]),
    ...(many('▄') === part(river.overdue) ? [] : [`${part(river.overdue)} columns late in ${text}`]),
  ]
  const out = { providers: river.providers, fees: river.fees, refunds: river.refunds }
  const all = Object.values(out).reduce((sum, one) => sum + Number(one), 0)
  for (const [word, amount] of Object.entries(out)) {
    const found = new RegExp(`${shownMoney(amount).replace(/[$.]/g, '\\$&')} +${word} *([━╸]*)`).exec(rows.join('\n'))
    const halves = [...(found?.[1] ?? '')].reduce((sum, one) => sum + (one === '━' ? 2 : 1), 0)
    const wanted = Number(amount) === 0 ? 0 : Math.max(1, Math.round((Number(amount) / all) * BAR * 2))
    if (found === null || (rows.length >= 5 && halves !== wanted))
      lacks.push(`${word} ${amount}, ${wanted} half columns`)
  }
  return lacks
}

const BAR = 12

/** What floats over a screen, without what is beside it. */
export function boxIn(rows: readonly string[]): string[] {
  const top = rows.findIndex((row) => row.includes('╭'))
  const foot = rows.findIndex((row) => row.includes('╰'))
  const from = rows[top]?.indexOf('╭') ?? 0
  const to = (rows[top]?.indexOf('╮') ?? 0) + 1
  return rows.slice(top, foot + 1).map((row) => row.slice(from, to))
}
