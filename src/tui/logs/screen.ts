import { type LogLevel, logLevels } from '../../model/log.ts'
import { clockTime, count, wrap } from '../../text/text.ts'
import { accent, bad, dim, type Line, type Piece, rule, spread, warn } from '../parts/line.ts'
import { type ScreenColumn, tableLines } from '../parts/table.ts'
import { staleness, waitingLines } from '../shell/notice.ts'
import { SLOW_EVERY_MS } from '../shell/queries.ts'
import type { Query } from '../shell/query.ts'
import type { Face, Host, Screen, ScreenArea, View } from '../shell/screen.ts'
import { chosenIndex, passes, type Ui } from '../shell/ui.ts'
import { useQuery } from '../shell/use-query.ts'
import { useSettled } from '../shell/use-settled.ts'
import { fetchLogs, type LogFacts, type Logs } from './record.ts'
import { fetchRequests, fetchStory, requestLines } from './requests.ts'

const DRAWER_LINES = 3

export const logsScreen: Screen = { id: 'logs', digit: '9', title: 'Logs', short: 'Logs', use: useLogs }

/** A hook: the log, or the requests with what followed from each. */
function useLogs(host: Host, view: View): ReturnType<Screen['use']> {
  const { ui } = view
  const isRequests = ui.logs.requests
  const logs = useQuery(fetchLogs(host.link), { name: 'logs', every: host.refreshMs })
  const asked = { name: `requests ${isRequests}`, every: host.refreshMs }
  const requests = useQuery(fetchRequests(host.link, isRequests), asked)
  const filter = ui.filters.logs ?? ''
  const rows = (requests.value ?? []).filter((one) => passes(filter, Object.values(one).join(' ')))
  const records = shown(logs.value?.records ?? [], ui)
  const ids = isRequests ? rows.map(({ id }) => id) : records.map(({ id }) => id)
  // Followed, the newest row is the chosen one.
  const chosen = ui.logs.follow ? Math.min(0, ids.length - 1) : chosenIndex(ui, ids)
  const wanted = useSettled(isRequests ? (ids[chosen] ?? '') : '', host.clock)
  const story = useQuery(fetchStory(host.link, wanted), { name: `story ${wanted}`, every: SLOW_EVERY_MS })
  const draw = isRequests
    ? (area: ScreenArea) => requestLines({ requests, rows, chosen, story: story.value, filter }, area)
    : (area: ScreenArea) => logLines({ logs, records, chosen, view }, area)
  return { ids, draw, actions: actionsOf(host, ids) }
}

function actionsOf(host: Host, ids: readonly string[]): Face['actions'] {
  const change = (next: Partial<Ui['logs']>) =>
    host.ui.set({ ...host.ui.get(), logs: { ...host.ui.get().logs, ...next } })
  return {
    view: () => change({ requests: !host.ui.get().logs.requests, follow: true }),
    level() {
      const { level } = host.ui.get().logs
      change({ level: logLevels[(logLevels.indexOf(level) + 1) % logLevels.length] ?? 'debug' })
    },
    follow() {
      const ui = host.ui.get()
      const follow = !ui.logs.follow
      const first = ids[0]
      host.ui.set({
        ...ui,
        logs: { ...ui.logs, follow },
        chosen: first === undefined ? ui.chosen : { ...ui.chosen, logs: first },
      })
    },
  }
}

/** Newest first. */
function shown(records: readonly LogFacts[], { logs, filters }: Ui): readonly LogFacts[] {
  const least = logLevels.indexOf(logs.level)
  const filter = filters.logs ?? ''
  return records
    .filter((one) => logLevels.indexOf(one.level) >= least)
    .filter(({ source, message, detail }) => passes(filter, `${source} ${message} ${detail}`))
    .toReversed()
}

type Model = {
  readonly logs: Query<Logs>
  readonly records: readonly LogFacts[]
  readonly chosen: number
  readonly view: View
}

export function logLines(model: Model, area: ScreenArea): Line[] {
  const { logs, records, chosen } = model
  if (logs.value === undefined) return waitingLines(logs, area.width)
  const record = records[chosen]
  const drawer = record === undefined ? [] : detailLines(record, area.width)
  const height = Math.max(1, area.height - 2 - drawer.length)
  const table = tableLines({ columns, rows: records, chosen, width: area.width, height })
  return [rule(area.width, 'Log'), statusLine(model, area.width), ...table.body, ...drawer]
}

function statusLine({ logs, records, view }: Model, width: number): Line {
  const { ui, now } = view
  const filter = ui.filters.logs ?? ''
  const typed = ui.typing || filter !== '' ? `   /${filter}${ui.typing ? '▏' : ''}` : ''
  const stale = staleness(logs, now)
  const all = logs.value?.records.length ?? 0
  const dropped = logs.value?.dropped ? dim(`  ${count(logs.value.dropped)} older are gone`) : ''
  return spread(
    width,
    [` level ≥ ${ui.logs.level}${typed}`],
    [
      ...(stale ? [warn(`! ${stale}  `)] : []),
      `${count(records.length)} of ${count(all)}`,
      dropped,
      ui.logs.follow ? '   ● follow ' : '   – held ',
    ],
  )
}

const tints: Readonly<Record<LogLevel, (text: string) => Piece>> = { debug: dim, info: accent, warn, error: bad }

const columns: readonly ScreenColumn<LogFacts>[] = [
  { title: 'TIME', value: ({ at }) => (at === undefined ? '--:--:--' : clockTime(at)) },
  { title: 'LEVEL', value: ({ level }) => tints[level](level) },
  { title: 'SOURCE', value: ({ source }) => source, drop: 1 },
  { title: 'MESSAGE', value: ({ message }) => message, min: 20 },
  { title: 'DETAIL', value: ({ detail }) => dim(detail), min: 10, drop: 2 },
]

function detailLines({ source, message, detail }: LogFacts, width: number): Line[] {
  const words = wrap(`${message} ${detail}`, width - 2).slice(0, DRAWER_LINES)
  return [rule(width, source), ...words.map((text): Line => [' ', text])]
}
