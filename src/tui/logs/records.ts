import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import type { Link } from '../../client/link.ts'
import type { Facts } from '../../core/filter.ts'
import { type LogLevel, logLevels } from '../../model/words.ts'
import { count, safe, wrap } from '../../text/text.ts'
import { clockTime } from '../../text/time.ts'
import { jsonLines } from '../parts/json-lines.ts'
import { accent, bad, dim, type Line, type Piece, strong, warn } from '../parts/line.ts'
import type { ScreenColumn } from '../parts/table.ts'
import { toItsJob } from '../shell/ask.ts'
import { findingOf, narrowed } from '../shell/finding.ts'
import { ask, LOG_RECORDS } from '../shell/queries.ts'
import { useQuery } from '../shell/query.ts'
import { number, word } from '../shell/read.ts'
import type { Host, Screen, View } from '../shell/screen.ts'
import type { LogTab, Ui } from '../shell/ui.ts'
import { chosenIn, type Listed, listedFace } from './listed.ts'

/** One line of the instance's log. */
type LogFacts = {
  /** Records carry no id of their own: time, message and request stand for one. */
  readonly id: string
  readonly at: number | undefined
  readonly level: LogLevel
  readonly source: string
  readonly message: string
  /** The other members as `name=value`. */
  readonly detail: string
  readonly raw: unknown
}

const SHOWN_ELSEWHERE = new Set(['time', 'level', 'source', 'msg'])

/** Members of a record are any JSON: each part of the daemon logs its own. */
function readLogRecord(record: WireAnswer<Api['getLogs']>['records'][number]): LogFacts {
  const { time } = record
  const at = typeof time === 'number' ? time : Date.parse(String(time))
  return {
    id: `${String(time)} ${word(record.msg)} ${word(record.request_id)}`,
    at: number(at),
    level: logLevels.find((level) => level === record.level) ?? 'info',
    source: word(record.source),
    message: word(record.msg),
    detail: Object.entries(record)
      .filter(([name]) => !SHOWN_ELSEWHERE.has(name))
      .map(([name, member]) => safe(`${name}=${typeof member === 'string' ? member : JSON.stringify(member)}`))
      .join(' '),
    raw: record,
  }
}

type Logs = {
  readonly records: readonly LogFacts[] /** Older records that the instance let go. */
  readonly dropped: number
}

const fetchLogs = (link: Link) => (signal: AbortSignal) => {
  const asked = { query: { limit: String(LOG_RECORDS) }, signal }
  return ask(
    link,
    { name: 'getLogs', asked },
    ({ records, dropped }): Logs => ({
      records: records.map(readLogRecord),
      dropped,
    }),
  )
}

const DRAWER_LINES = 3
/** A line of the log has no story, and is JSON by itself. */
const tabs: readonly LogTab[] = ['json']

/** A hook: what the daemon logged, from a level on. */
export function useRecords(host: Host, view: View): ReturnType<Screen['use']> {
  const { ui } = view
  const query = useQuery(fetchLogs(host.link), { name: 'logs', every: host.refreshMs })
  const finding = findingOf(ui, 'logs', recordFields)
  const newest = shown(query.value?.records ?? [], ui)
  const rows = narrowed(newest, finding, { fields: recordFields, factsOf, now: view.now })
  const ids = rows.map(({ id }) => id)
  const chosen = chosenIn(ui, ids)
  const row = rows[chosen]
  const isOpen = ui.pane.open !== 'beside' && row !== undefined
  const drawer = (width: number): readonly Line[] => (isOpen ? jsonLines(row.raw) : detailLines(row, width))
  const dropped = query.value?.dropped ? `, ${count(query.value.dropped)} older are gone` : ''
  const listed: Listed<LogFacts> = {
    query,
    columns,
    rows,
    idOf: ({ id }) => id,
    titleOf: ({ source }) => source,
    chosen,
    of: `${count(query.value?.records.length ?? 0)}${dropped}`,
    empty: `nothing of level ${ui.logs.level} or above was logged: l shows the others`,
    drawer,
    tabs,
    more: [strong(`   level ≥ ${ui.logs.level}`)],
    view,
  }
  return listedFace(host, listed, {
    fields: recordFields,
    problem: finding.problem,
    actions: { level: () => nextLevel(host), itsJob: () => toItsJob(host, [row?.message, row?.detail]) },
  })
}

function nextLevel({ ui }: Host): void {
  const { logs } = ui.get()
  const level = logLevels[(logLevels.indexOf(logs.level) + 1) % logLevels.length] ?? 'debug'
  ui.set({ ...ui.get(), logs: { ...logs, level } })
}

const recordFields = {
  level: { kind: 'choice', choices: logLevels },
  source: { kind: 'text' },
  message: { kind: 'text' },
  detail: { kind: 'text' },
  age: { kind: 'age' },
} as const

function factsOf({ level, source, message, detail, at }: LogFacts): Facts<typeof recordFields> {
  return { level, source, message, detail, age: at ?? null }
}

/** Newest first. */
function shown(records: readonly LogFacts[], { logs }: Ui): readonly LogFacts[] {
  const least = logLevels.indexOf(logs.level)
  return records.filter((one) => logLevels.indexOf(one.level) >= least).toReversed()
}

const tints: Readonly<Record<LogLevel, (text: string) => Piece>> = { debug: dim, info: accent, warn, error: bad }

const columns: readonly ScreenColumn<LogFacts>[] = [
  { title: 'TIME', value: ({ at }) => (at === undefined ? '--:--:--' : clockTime(at)) },
  { title: 'LEVEL', value: ({ level }) => tints[level](level) },
  { title: 'SOURCE', value: ({ source }) => source, drop: 1 },
  { title: 'MESSAGE', value: ({ message }) => message, min: 20 },
  { title: 'DETAIL', value: ({ detail }) => dim(detail), min: 10, drop: 2 },
]

function detailLines(row: LogFacts | undefined, width: number): Line[] {
  if (row === undefined) return []
  return wrap(`${row.message} ${row.detail}`, width - 2)
    .slice(0, DRAWER_LINES)
    .map((text): Line => [' ', text])
}
