import type { Facts } from '../../core/filter.ts'
import { type LogLevel, logLevels } from '../../model/log.ts'
import { microOf } from '../../text/money.ts'
import { count, wrap } from '../../text/text.ts'
import { clockTime } from '../../text/time.ts'
import { toItsJob } from '../jobs/its-job.ts'
import { accent, bad, dim, type Line, type Piece, rule, strong, warn } from '../parts/line.ts'
import type { ScreenColumn } from '../parts/table.ts'
import { findingOf, listHead, listTable, narrowed, sortActions, titlesOf, viewWords } from '../shell/finding.ts'
import { staleness, waitingLines } from '../shell/notice.ts'
import { SLOW_EVERY_MS } from '../shell/queries.ts'
import type { Query } from '../shell/query.ts'
import type { Face, Host, Screen, ScreenArea, View } from '../shell/screen.ts'
import { chosenIndex, type Ui } from '../shell/ui.ts'
import { useQuery } from '../shell/use-query.ts'
import { useSettled } from '../shell/use-settled.ts'
import { fetchLogs, type LogFacts, type Logs } from './record.ts'
import { type AskedFacts, fetchRequests, fetchStory, requestLines, requestTitles } from './requests.ts'

const DRAWER_LINES = 3

export const logsScreen: Screen = { id: 'logs', digit: '9', title: 'Logs', short: 'Logs', use: useLogs }

/** A hook: the log, or the requests with what followed from each. */
function useLogs(host: Host, view: View): ReturnType<Screen['use']> {
  const { ui } = view
  const isRequests = ui.logs.requests
  const logs = useQuery(fetchLogs(host.link), { name: 'logs', every: host.refreshMs })
  const asked = { name: `requests ${isRequests}`, every: host.refreshMs }
  const requests = useQuery(fetchRequests(host.link, isRequests), asked)
  const fields = isRequests ? askedFields : recordFields
  const finding = findingOf(ui, 'logs', fields)
  const rows = narrowed(requests.value ?? [], finding, { fields: askedFields, factsOf: askedOf, now: view.now })
  const newest = shown(logs.value?.records ?? [], ui)
  const records = narrowed(newest, finding, { fields: recordFields, factsOf: recordOf, now: view.now })
  const ids = isRequests ? rows.map(({ id }) => id) : records.map(({ id }) => id)
  // Followed, the newest row is the chosen one.
  const chosen = ui.logs.follow ? Math.min(0, ids.length - 1) : chosenIndex(ui, ids)
  const wanted = useSettled(isRequests ? (ids[chosen] ?? '') : '', host.clock)
  const story = useQuery(fetchStory(host.link, wanted), { name: `story ${wanted}`, every: SLOW_EVERY_MS })
  const draw = isRequests
    ? (area: ScreenArea) => requestLines({ requests, rows, chosen, story: story.value, view }, area)
    : (area: ScreenArea) => logLines({ logs, records, chosen, view }, area)
  const steps = story.value !== undefined && story.value.id === ids[chosen] ? story.value.steps : []
  const told = isRequests
    ? [rows[chosen]?.jobId, rows[chosen]?.path, ...steps.map(({ id }) => id ?? '')]
    : [records[chosen]?.message, records[chosen]?.detail]
  const itsJob = () => toItsJob(host, told)
  const actions = { ...sortActions(host, 'logs', fields), ...actionsOf(host, ids), itsJob }
  return { ids, problem: finding.problem, columns: isRequests ? requestTitles : titlesOf(columns), draw, actions }
}

const recordFields = {
  level: { kind: 'choice', choices: logLevels },
  source: { kind: 'text' },
  message: { kind: 'text' },
  detail: { kind: 'text' },
  age: { kind: 'age' },
} as const

function recordOf({ level, source, message, detail, at }: LogFacts): Facts<typeof recordFields> {
  return { level, source, message, detail, age: at ?? null }
}

const askedFields = {
  method: { kind: 'text' },
  path: { kind: 'text' },
  status: { kind: 'text' },
  ms: { kind: 'count' },
  who: { kind: 'text' },
  price: { kind: 'money' },
  code: { kind: 'text' },
  request: { kind: 'text' },
  age: { kind: 'age' },
} as const

function askedOf({ id, method, path, status, ms, who, price, code, at }: AskedFacts): Facts<typeof askedFields> {
  return {
    method,
    path,
    status: status === null ? null : String(status),
    ms: ms === null ? null : BigInt(ms),
    who,
    price: microOf(price) ?? null,
    code,
    request: id,
    age: at,
  }
}

function actionsOf(host: Host, ids: readonly string[]): Face['actions'] {
  const change = (next: Partial<Ui['logs']>) =>
    host.ui.set({ ...host.ui.get(), logs: { ...host.ui.get().logs, ...next } })
  return {
    view() {
      // What the one is sorted by, the other may not have.
      host.ui.set({ ...host.ui.get(), sorts: { ...host.ui.get().sorts, logs: undefined } })
      change({ requests: !host.ui.get().logs.requests, follow: true })
    },
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
function shown(records: readonly LogFacts[], { logs }: Ui): readonly LogFacts[] {
  const least = logLevels.indexOf(logs.level)
  return records.filter((one) => logLevels.indexOf(one.level) >= least).toReversed()
}

type Model = {
  readonly logs: Query<Logs>
  readonly records: readonly LogFacts[]
  readonly chosen: number
  readonly view: View
}

export function logLines(model: Model, area: ScreenArea): Line[] {
  const { logs, records, chosen, view } = model
  if (logs.value === undefined) return waitingLines(logs, area.width)
  const record = records[chosen]
  const drawer = record === undefined ? [] : detailLines(record, area.width)
  const height = Math.max(1, area.height - 2 - drawer.length)
  const list = { columns, rows: records, idOf: ({ id }: LogFacts) => id, chosen }
  const table = listTable(view.ui, { ...list, width: area.width, height })
  return [...headLines(model, area.width), ...table.body, ...drawer]
}

function headLines({ logs, records, view }: Model, width: number): Line[] {
  const { ui, now, keys } = view
  const all = logs.value?.records.length ?? 0
  const dropped = logs.value?.dropped ? `, ${count(logs.value.dropped)} older are gone` : ''
  return listHead(width, {
    title: 'Log',
    place: `${count(records.length)} of ${count(all)}${dropped}`,
    stale: staleness(logs, now),
    views: [...viewWords(['log', 'requests'], 'log'), strong(`   level ≥ ${ui.logs.level}`)],
    ui,
    screen: 'logs',
    keys,
    order: 'newest first',
    note: ui.logs.follow ? [accent('●'), dim(' follow   ')] : [dim('– held   ')],
  })
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
