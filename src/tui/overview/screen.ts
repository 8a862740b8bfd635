import { useSyncExternalStore } from 'react'
import { clip, clockTime, count, padEnd, shortAddress, shortSpan, span, widthOf } from '../../text/text.ts'
import { businessNow, useClock } from '../crons/screen.ts'
import {
  accent,
  bad,
  beside,
  blank,
  dim,
  good,
  type Line,
  type Piece,
  rule,
  sized,
  strong,
  textOf,
  warn,
} from '../parts/line.ts'
import { windowStart } from '../parts/table.ts'
import { byUrgency, type CronFacts, cronState, cronWord } from '../shell/cron-facts.ts'
import { doorCounts, type HealthFacts, paidDoors } from '../shell/health.ts'
import { waitingLines } from '../shell/notice.ts'
import { type BusinessClock, fetchTotals, SLOW_EVERY_MS, type Totals } from '../shell/queries.ts'
import { type Host, type Screen, type ScreenArea, type View, WIDE_COLUMNS } from '../shell/screen.ts'
import type { Stream } from '../shell/stream.ts'
import { chosenIndex, goTo } from '../shell/ui.ts'
import { useQuery } from '../shell/use-query.ts'
import { type Attention, attentionOf } from './attention.ts'

const ATTENTION_ROWS_MAX = 4
const CRON_COLUMNS = 3
const PANELS = 3

export const overviewScreen: Screen = { id: 'overview', digit: '1', title: 'Overview', short: 'Over', use: useOverview }

function useOverview(host: Host, view: View): ReturnType<Screen['use']> {
  const totals = useQuery(fetchTotals(host.link), { name: 'totals', every: SLOW_EVERY_MS })
  const clock = useClock(host)
  const stream = useSyncExternalStore(host.stream.subscribe, host.stream.get)
  const business = businessNow(clock, view.now)
  const attention = view.health.value === undefined ? [] : attentionOf(view.health.value, { business })
  const ids = attention.map(({ id }) => id)
  const model: OverviewModel = {
    ...view,
    totals: totals.value ?? {},
    clock: clock.value,
    business,
    stream,
    attention,
    chosen: chosenIndex(view.ui, ids),
  }
  return {
    ids,
    draw: (area) => overviewLines(model, area),
    actions: {
      open() {
        const ui = host.ui.get()
        const chosen = attention[chosenIndex(ui, ids)]
        if (chosen) host.ui.set(goTo(ui, chosen.screen))
      },
    },
  }
}

export type OverviewModel = View & {
  readonly totals: Totals
  readonly clock: BusinessClock | undefined
  readonly business: number | undefined
  readonly stream: Stream
  readonly attention: readonly Attention[]
  readonly chosen: number
}

export function overviewLines(model: OverviewModel, area: ScreenArea): Line[] {
  const health = model.health.value
  if (health === undefined) return waitingLines(model.health, area.width)
  const facts = area.width >= WIDE_COLUMNS ? panels(model, health, area.width) : denseFacts(model, health, area.width)
  const above = [...facts, ...attentionLines(model, area.width), ...cronLines(model, health, area.width)]
  return [...above, ...eventLines(model.stream, { width: area.width, height: area.height - above.length })]
}

function stateWord({ paused }: HealthFacts): Piece {
  return paused ? warn('‖ paused') : good('● live')
}

function uptime({ where, now }: View): string {
  return where?.startedAt === undefined ? '' : `up ${span(now - where.startedAt)}`
}

/** Business time only where it is not the machine's. */
function movedClock(clock: BusinessClock | undefined): string | undefined {
  if (clock === undefined || (clock.offsetMs === 0 && !clock.frozen)) return undefined
  return `${clock.frozen ? 'frozen' : 'running'} +${span(clock.offsetMs)}`
}

type Fact = readonly [label: string, value: Piece]

function platformFacts(model: OverviewModel, health: HealthFacts): Fact[] {
  const moved = movedClock(model.clock)
  return [
    ['checkout_v2', health.checkoutV2 ? 'on' : 'off'],
    ['network', `${health.network} (${health.chain})`],
    ['pay_to', shortAddress(health.payTo)],
    ['version', health.version],
    ...(moved === undefined ? [] : [['clock', warn(moved)] as const]),
  ]
}

function doorFacts(health: HealthFacts): Fact[] {
  const doors = doorCounts(health)
  return [
    ['live', count(doors.live)],
    ['paused', doors.paused === 0 ? '0' : warn(`‖ ${count(doors.paused)}`)],
    ['deferred', doors.deferred === 0 ? '0' : `× ${count(doors.deferred)}`],
    ['paid', count(paidDoors(health).length)],
  ]
}

function marketFacts({ totals }: OverviewModel, health: HealthFacts): Fact[] {
  const counted = Object.entries(totals).map(([name, total]): Fact => [name, count(total)])
  const refused = health.refusals.reduce((sum, [, n]) => sum + n, 0)
  const shelved = health.shelved.reduce((sum, [, n]) => sum + n, 0)
  return [...counted, ['refused 24 h', count(refused)], ['shelved 410 24 h', count(shelved)]]
}

function panels(model: OverviewModel, health: HealthFacts, width: number): Line[] {
  const column = Math.floor((width - PANELS) / PANELS)
  const lines = (title: string, first: Line | undefined, facts: readonly Fact[]): Line[] => {
    const label = Math.max(...facts.map(([name]) => widthOf(name)), 0) + 2
    return [
      [' ', strong(title)],
      ...(first ? [first] : []),
      ...facts.map(([name, value]): Line => [' ', dim(padEnd(name, label)), value]),
    ]
  }
  return beside([
    {
      lines: lines('PLATFORM', [' ', stateWord(health), `   ${uptime(model)}`], platformFacts(model, health)),
      width: column,
    },
    { lines: lines('ENDPOINTS', undefined, doorFacts(health)), width: column },
    { lines: lines('MARKET', undefined, marketFacts(model, health)), width: column },
  ])
}

/** The same facts as running text, for narrow terminals. */
function denseFacts(model: OverviewModel, health: HealthFacts, width: number): Line[] {
  const state: Line[] = [[stateWord(health)], ...(uptime(model) === '' ? [] : [[uptime(model)]])]
  const rest = [...platformFacts(model, health), ...marketFacts(model, health)].map(
    ([name, value]): Line => [dim(`${name} `), value],
  )
  const doors = doorFacts(health).map(([name, value]): Line => [value, dim(` ${name}`)])
  return flowed([...state, ...doors, ...rest], width)
}

/** Pieces set one after the other, broken between them where a row is full. */
function flowed(parts: readonly Line[], width: number): Line[] {
  const rows: Line[] = []
  let row: Line = []
  for (const part of parts) {
    const longer: Line = row.length === 0 ? [' ', ...part] : [...row, '   ', ...part]
    if (widthOf(textOf(longer)) > width && row.length > 0) {
      rows.push(row)
      row = [' ', ...part]
    } else row = longer
  }
  return row.length === 0 ? rows : [...rows, row]
}

function attentionLines({ attention, chosen }: OverviewModel, width: number): Line[] {
  if (attention.length === 0) return [rule(width, 'Needs attention 0'), [good(' ✓ '), 'nothing']]
  const height = Math.min(attention.length, ATTENTION_ROWS_MAX)
  const from = windowStart({ rows: attention, chosen, height })
  const shown = attention.slice(from, from + height)
  const names = Math.max(...shown.map(({ name }) => widthOf(name)))
  const kinds = Math.max(...shown.map(({ kind }) => widthOf(kind)))
  const rows = shown.map(({ grave, kind, name, what }, i): Line => {
    const mark = from + i === chosen ? accent(' > ') : '   '
    const sign = grave ? bad('✗ FAIL') : warn('! WARN')
    return [mark, sign, ` ${padEnd(kind, kinds)} `, strong(padEnd(name, names)), `  ${what}`]
  })
  return [rule(width, `Needs attention ${attention.length}`, [dim('enter opens')]), ...rows]
}

function cronLines({ health, now }: OverviewModel, { crons }: HealthFacts, width: number): Line[] {
  if (crons.length === 0) return [rule(width, 'Crons 0'), [dim(' none are reported')]]
  const column = Math.floor((width - CRON_COLUMNS) / CRON_COLUMNS)
  const elapsed = health.at === undefined ? 0 : Math.max(0, now - health.at)
  const cells = [...crons].sort(byUrgency).map((cron) => cronCell(cron, elapsed, column))
  const rows = Array.from(
    { length: Math.ceil(cells.length / CRON_COLUMNS) },
    (_, row): Line => cells.slice(row * CRON_COLUMNS, (row + 1) * CRON_COLUMNS).flatMap((cell) => [' ', ...cell]),
  )
  return [rule(width, `Crons ${crons.length}`, cronSummary(crons)), ...rows]
}

function cronSummary(crons: readonly CronFacts[]): Line {
  const of = (...states: string[]) => crons.filter((cron) => states.includes(cronState(cron))).length
  const [waiting, stale, failing] = [of('waiting'), of('stale'), of('failing')]
  return [
    `${of('ok', 'skipped', 'running', 'paused')} ok`,
    ...(waiting === 0 ? [] : [`  ${waiting} not run yet`]),
    ...(stale === 0 ? [] : ['  ', warn(`${stale} stale`)]),
    ...(failing === 0 ? [] : ['  ', bad(`${failing} failing`)]),
  ]
}

function cronCell(cron: CronFacts, elapsedMs: number, width: number): Line {
  const word = cronWord(cron)
  const [sign = ''] = textOf([word]).split(' ')
  const age = cron.ageMs === undefined ? stateOnly(cron) : shortSpan(cron.ageMs + elapsedMs)
  const room = width - widthOf(sign) - widthOf(age) - 4
  const tinted: Piece = typeof word === 'string' ? sign : { ...word, text: sign }
  return [tinted, ` ${padEnd(clip(cron.name, room), room)} `, dim(age), '  ']
}

/** In place of an age: why there is none. */
function stateOnly(cron: CronFacts): string {
  return cronState(cron) === 'skipped' ? 'skipped' : 'never'
}

function eventLines({ events, state }: Stream, { width, height }: ScreenArea): Line[] {
  if (height < 2) return []
  const notes: Readonly<Record<Stream['state'], Line>> = {
    live: [good('● live')],
    waiting: [warn('! reconnecting')],
    denied: [warn('! needs the admin credential')],
  }
  const shown = events.slice(0, height - 1)
  const types = Math.max(...shown.map(({ type }) => widthOf(type)))
  const subjects = Math.max(...shown.map(({ subject }) => widthOf(subject)))
  const rows = shown.map(({ at, type, subject, detail }): Line => {
    const time = at === undefined ? '--:--:--' : clockTime(at)
    const names: Line = [accent(padEnd(type, types)), `  ${padEnd(subject, subjects)}  `]
    return sized([` ${time}  `, ...names, dim(detail)], width)
  })
  const none: Line[] = state === 'live' ? [[dim(' nothing has happened since this was opened')]] : [blank]
  return [rule(width, 'Live events', notes[state]), ...(rows.length === 0 ? none : rows)]
}
