import type { WireAnswer } from '../../api/index.ts'
import type { Facts } from '../../core/filter.ts'
import { compact, tableOf } from '../../core/record.ts'
import { microOf } from '../../text/columns.ts'
import { count, widthOf, wrap } from '../../text/text.ts'
import { clockTime } from '../../text/time.ts'
import { listFace } from '../list/nouns.ts'
import { localRows } from '../list/rows.ts'
import { bar, spark } from '../parts/charts.ts'
import {
  accent,
  bad,
  dim,
  good,
  type Line,
  lineWidth,
  type Piece,
  rule,
  type ScreenColumn,
  strong,
  warn,
} from '../parts/line.ts'
import { shownMoney } from '../parts/river.ts'
import { refuse } from '../shell/ask.ts'
import { beginLine } from '../shell/commands.ts'
import type { Door } from '../shell/health.ts'
import { fetching, SLOW_EVERY_MS } from '../shell/queries.ts'
import { useQuery } from '../shell/query.ts'
import { text } from '../shell/read.ts'
import type { Host, Screen, ScreenArea, View } from '../shell/screen.ts'
import { chosenIndex, type EndpointView, endpointViews, goTo, unnarrowed } from '../shell/ui.ts'

/** A description takes at most a sixth of the height. */
const DRAWER_SHARE = 6
const SPARK_HOURS = 12
/** All bars together take at most this many columns. */
const BARS = 40
const LEAST_BARS = 8
const OUTCOME_GAP = 2

export const screen: Screen = { title: 'Endpoints', short: 'Endp', use: useEndpoints }

function useEndpoints(host: Host, view: View): ReturnType<Screen['use']> {
  const figures = useQuery(fetchFigures(host.link), { name: 'endpoint figures', every: SLOW_EVERY_MS })
  const all = (view.health.value?.endpoints ?? []).map((door): CalledDoor => {
    return { ...door, ...compact({ figures: figures.value?.get(idOf(door)) }) }
  })
  const shown = all.filter(isIn[view.ui.endpointView])
  // Most called first. Endpoints without calls keep the contract's order.
  shown.sort((one, other) => (other.figures?.total ?? 0) - (one.figures?.total ?? 0))
  const listed = view.health
  const list = { id: 'endpoints', noun: { ...endpoint, idOf }, fields: doorFields, views } as const
  const rows = localRows(host, view, { list, columns, listed, all: shown, factsOf, now: view.now })
  const chosen = () => rows.rows[chosenIndex(host.ui.get(), rows.face.ids)]
  return listFace(host, {
    title: 'Endpoints',
    place: `${count(rows.rows.length)} of ${count(all.length)}`,
    order: 'calls, most first',
    shown: rows,
    view,
    counts: tableOf(endpointViews, (one) => all.filter(isIn[one]).length),
    // The list has many columns, so the drawer is always below it.
    sideOf: () => 0,
    drawer: (door, { width }) => drawerLines(door, { width, height: view.area.height }),
    actions: { open: () => toItsRequests(host, chosen()), tryOne: () => tryOne(host, chosen()) },
  })
}

const endpoint = { name: 'endpoint', plural: 'endpoints', source: ['the daemon has them all', 'souk health'] } as const
const views = { all: endpointViews, at: 'endpointView' } as const

/** Opens the logs, filtered to the requests of an endpoint. */
function toItsRequests(host: Host, door: CalledDoor | undefined): void {
  if (door === undefined) {
    refuse(host, 'No endpoint is chosen.')
    return
  }
  const parts = door.path.split(/:\w+/).filter((part) => part !== '/' && part !== '')
  const filter = [`method:${door.method}`, ...parts.map((part) => `path:${part}`)].join(' ')
  const ui = unnarrowed(goTo(host.ui.get(), 'logs'), 'logs')
  host.ui.set({ ...ui, logs: { ...ui.logs, view: 'requests' }, filters: { ...ui.filters, logs: filter } })
}

/** Opens the palette with a command that calls the endpoint. The user types the path parameters. */
function tryOne(host: Host, door: CalledDoor | undefined): void {
  if (door === undefined) refuse(host, 'No endpoint is chosen.')
  else beginLine(host, `api ${door.path}${door.method === 'GET' ? '' : ` --method ${door.method}`}`)
}

const idOf = ({ method, path }: Pick<Door, 'method' | 'path'>) => `${method} ${path}`

type CalledDoor = Door & { readonly figures?: Figures }

const isIn: Readonly<Record<EndpointView, (door: CalledDoor) => boolean>> = {
  all: () => true,
  called: ({ figures }) => (figures?.total ?? 0) > 0,
  paid: ({ price }) => price !== 'free',
  paused: ({ status }) => status === 'paused',
  off: ({ status }) => status === 'deferred',
  broken: ({ figures }) => (figures?.calls.broken ?? 0) > 0,
}

const doorFields = {
  method: { kind: 'text' },
  path: { kind: 'text' },
  what: { kind: 'text' },
  status: { kind: 'choice', choices: ['live', 'paused', 'deferred'] },
  price: { kind: 'money' },
  calls: { kind: 'count' },
  broken: { kind: 'count' },
  p95: { kind: 'count' },
} as const

function factsOf({ method, path, description, status, price, figures }: CalledDoor): Facts<typeof doorFields> {
  const { total = 0, calls, p95_ms: p95 = null } = figures ?? {}
  return {
    method,
    path,
    what: description,
    status,
    price: microOf(price) ?? null,
    calls: BigInt(total),
    broken: BigInt(calls?.broken ?? 0),
    p95: p95 === null ? null : BigInt(Math.round(p95)),
  }
}

function drawerLines(door: CalledDoor, area: ScreenArea): Line[] {
  const { times = 0, amount = '' } = door.figures?.sold ?? {}
  const sold = times === 0 ? [] : [strong(`${count(times)} sold for ${shownMoney(amount)}`)]
  return [rule(area.width, idOf(door), sold), ...aboutLines(door, area)]
}

const words: Readonly<Record<Door['status'], Piece>> = {
  live: good('● live'),
  paused: warn('‖ paused'),
  deferred: dim('× off'),
}

const columns: readonly ScreenColumn<CalledDoor>[] = [
  { title: 'VERB', value: ({ method }) => method },
  { title: 'PATH', value: ({ path }) => path, min: 24 },
  { title: 'PRICE', value: ({ price }) => price, align: 'right', exact: true },
  { title: 'STATE', value: ({ status }) => words[status] ?? status },
  { title: 'CALLS', value: ({ figures }) => (figures ? count(figures.total) : '—'), align: 'right' },
  {
    title: 'LAST 12 H',
    value: ({ figures }) => accent(spark(figures?.by_hour.slice(-SPARK_HOURS) ?? [], SPARK_HOURS)),
    plain: ({ figures }) => figures?.by_hour.slice(-SPARK_HOURS).join(' '),
    exact: true,
    drop: 2,
  },
  { title: 'P50', value: ({ figures }) => took(figures?.p50_ms), align: 'right', drop: 6 },
  { title: 'P95', value: ({ figures }) => took(figures?.p95_ms), align: 'right', drop: 4 },
  { title: '402', value: ({ figures }) => counted(figures?.calls.asked_to_pay), align: 'right', drop: 5 },
  { title: 'BROKEN', value: ({ figures }) => brokenWord(figures), align: 'right', drop: 3 },
  { title: 'WHAT', value: ({ description }) => dim(description), min: 12, drop: 7 },
]

/** Shorter durations show tenths of a millisecond. */
const WHOLE_FROM_MS = 10

function took(ms: number | null | undefined): string {
  return ms === null || ms === undefined ? '—' : `${ms < WHOLE_FROM_MS ? ms : Math.round(ms)} ms`
}

function counted(calls: number | undefined): string {
  return calls === undefined || calls === 0 ? '—' : count(calls)
}

/** Share of failed calls, in percent with one decimal. */
function brokenWord(figures: Figures | undefined): Piece {
  if (figures === undefined || figures.total === 0) return '—'
  const { broken } = figures.calls
  const words = `${((100 * broken) / figures.total).toFixed(1)} %`
  return broken === 0 ? dim(words) : bad(words)
}

function aboutLines(door: CalledDoor, { width, height }: ScreenArea): Line[] {
  const { description, price, figures } = door
  const most = Math.max(1, Math.floor(height / DRAWER_SHARE))
  const what = wrap(description, width - 10).slice(0, most)
  return [
    ...what.map((text, i): Line => [dim(i === 0 ? ' what    ' : '         '), text]),
    [
      dim(' price   '),
      price,
      dim('   a pause  '),
      price === 'free' ? 'does not stop this endpoint' : 'stops this endpoint, since it takes money',
    ],
    ...(figures === undefined ? [] : [outcomeLine(figures, width), ...seenLines(figures, width)]),
  ]
}

type Outcome = readonly [tone: (text: string) => Piece, text: string, calls: number]

function outcomesOf({ calls }: Figures, isShort: boolean): readonly Outcome[] {
  const { answered, asked_to_pay: asked, broken } = calls
  const refused = calls.refused + calls.switched_off
  return [
    [good, `✓ ${count(answered)} answered`, answered],
    [warn, `? ${count(asked)} ${isShort ? 'asked' : 'asked to pay'}`, asked],
    [warn, `! ${count(refused)} refused`, refused],
    [bad, `✗ ${count(broken)} broken`, broken],
  ]
}

const wordsWidth = (outcomes: readonly Outcome[]) =>
  outcomes.reduce((sum, [, text]) => sum + widthOf(text) + OUTCOME_GAP, 1)

function outcomeLine(figures: Figures, width: number): Line {
  const { total } = figures
  // Each bar is followed by a gap, and an outcome that occurred gets at least one column.
  const roomBeside = (outcomes: readonly Outcome[], more = 0) =>
    Math.min(BARS, width - wordsWidth(outcomes) - more - 2 * outcomes.length)
  const long = outcomesOf(figures, false)
  const outcomes = roomBeside(long) < LEAST_BARS ? outcomesOf(figures, true) : long
  const all = `of ${count(total)} calls in 24 h`
  const isTold = roomBeside(outcomes, widthOf(all)) >= LEAST_BARS
  const room = roomBeside(outcomes, isTold ? widthOf(all) : 0)
  const gap = wordsWidth(outcomes) - OUTCOME_GAP > width ? 1 : OUTCOME_GAP
  const drawn = outcomes.flatMap(([tone, text, some]): Piece[] => {
    const share = room < LEAST_BARS || total === 0 ? '' : bar(some / total, room).trimEnd()
    return [tone(text), share === '' ? '' : accent(` ${share}`), ' '.repeat(gap)]
  })
  return [' ', ...drawn, ...(isTold ? [dim(all)] : [])]
}

/** Ids of two example requests: the slowest one, and the last one that failed. */
function seenLines({ slowest, last_broken: broken }: Figures, width: number): Line[] {
  const told = [
    [' slowest ', seenWords(slowest)],
    [' broke   ', seenWords(broken)],
  ] as const
  const lines = told.flatMap(([name, one]): Line[] => (one === '' ? [] : [[dim(name), one]]))
  const [first, second] = lines
  if (first === undefined || second === undefined) return lines
  const both: Line = [...first, '  ', ...second]
  return lineWidth(both) <= width ? [both] : lines
}

/** Calls of one endpoint in the last 24 hours. */
type Figures = WireAnswer<'getEndpointFigures'>['endpoints'][number]

/** Fetches the figures of all endpoints. Keys are like `GET /v1/jobs`. */
const fetchFigures = fetching('getEndpointFigures', { query: { hours: '24' } }, ({ endpoints }) => {
  return new Map(endpoints.map((one): [string, Figures] => [idOf(one), one]))
})

/** Time, status, duration and id of a request. */
function seenWords(seen: Figures['slowest']): string {
  if (seen === null) return ''
  return `${clockTime(Date.parse(seen.at))}  ${seen.status}  ${seen.ms} ms  ${text(seen.request_id)}`
}
