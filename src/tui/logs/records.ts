import type { Facts } from '../../core/filter.ts'
import { type LogLevel, logLevels } from '../../model/log.ts'
import { count, wrap } from '../../text/text.ts'
import { clockTime } from '../../text/time.ts'
import { toItsJob } from '../jobs/its-job.ts'
import { jsonLines } from '../parts/json-lines.ts'
import { accent, bad, dim, type Line, type Piece, strong, warn } from '../parts/line.ts'
import type { ScreenColumn } from '../parts/table.ts'
import { findingOf, narrowed } from '../shell/finding.ts'
import type { Host, Screen, View } from '../shell/screen.ts'
import type { LogTab, Ui } from '../shell/ui.ts'
import { useQuery } from '../shell/use-query.ts'
import { chosenIn, type Listed, listedFace } from './listed.ts'
import { fetchLogs, type LogFacts } from './record.ts'

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
