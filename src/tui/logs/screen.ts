import { deliveryFields } from '../../api/endpoint/list-fields.ts'
import type { WireAnswer } from '../../api/index.ts'
import type { Link } from '../../client/link.ts'
import type { Facts, SortWord } from '../../core/filter.ts'
import { MAX_PAGE } from '../../core/limits.ts'
import { type LogLevel, logLevels } from '../../model/words.ts'
import { type Delivery, delivery } from '../../nouns/deliveries.ts'
import { count, safe, wrap } from '../../text/text.ts'
import { clockTime, timeOrDay } from '../../text/time.ts'
import { screenColumns } from '../list/columns.ts'
import { facedRows, localRows } from '../list/rows.ts'
import { jsonLines } from '../parts/json-lines.ts'
import { accent, bad, columnsAt, dim, type Line, type Piece, type ScreenColumn, strong, warn } from '../parts/line.ts'
import { replayDialog, replayOf } from '../shell/act-dialogs.ts'
import { refuse, toItsJob } from '../shell/ask.ts'
import { keyFor } from '../shell/bindings.ts'
import { businessNow, useClock } from '../shell/clock.ts'
import { type ReportedRun, runWords } from '../shell/cron-facts.ts'
import { findingOf, type ListQueryAsked, useListQuery } from '../shell/finding.ts'
import { askEach, meant } from '../shell/marks.ts'
import { fetchCrons, fetching, LOG_RECORDS, SLOW_EVERY_MS } from '../shell/queries.ts'
import { useQuery } from '../shell/query.ts'
import { number, text, word } from '../shell/read.ts'
import type { Host, Screen, View } from '../shell/screen.ts'
import { after, type LogPart, type LogTab, logPart, logTabs, type Ui } from '../shell/ui.ts'
import { chosenIn, type Listed, listedFace, logsList, tabIn, titleIn } from './listed.ts'
import { useAsked } from './requests.ts'
import { storyLines, useStory } from './story.ts'

const SHOWN_ELSEWHERE = new Set(['time', 'level', 'source', 'msg'])

type LogFacts = ReturnType<typeof readLogRecord>

/** A log record as shown. Its members may be any JSON. */
function readLogRecord(record: WireAnswer<'getLogs'>['records'][number]) {
  const { time } = record
  const at = typeof time === 'number' ? time : Date.parse(String(time))
  return {
    /** Records have no id, so time, message and request id identify them. */
    id: `${String(time)} ${word(record.msg)} ${word(record.request_id)}`,
    at: number(at),
    level: logLevels.find((level) => level === record.level) ?? 'info',
    source: word(record.source),
    message: word(record.msg),
    /** The members that are not shown elsewhere, as `name=value`. */
    detail: Object.entries(record)
      .filter(([name]) => !SHOWN_ELSEWHERE.has(name))
      .map(([name, member]) => safe(`${name}=${typeof member === 'string' ? member : JSON.stringify(member)}`))
      .join(' '),
    raw: record,
  }
}

type Logs = {
  readonly records: readonly LogFacts[]
  /** Number of older records that the instance has dropped. */
  readonly dropped: number
}

const fetchLogs = fetching('getLogs', { query: { limit: String(LOG_RECORDS) } }, ({ records, dropped }): Logs => {
  return { records: records.map(readLogRecord), dropped }
})

const DRAWER_LINES = 3
/** A log record has no trace, so JSON is its only tab. */
const tabs: readonly LogTab[] = ['json']

/** A hook that shows the log records of the chosen level and above. */
export function useRecords(host: Host, view: View): ReturnType<Screen['use']> {
  const { ui } = view
  const query = useQuery(fetchLogs(host.link), { name: 'logs', every: host.refreshMs })
  const all = newestOf(query.value?.records ?? [], ui)
  const list = logsList(recordFields)
  const found = { list, columns: recordColumns, listed: query, all, factsOf: recordFactsOf, now: view.now, chosenIn }
  const shown = localRows<LogFacts>(host, view, found)
  const { row } = shown
  const isOpen = ui.pane.open !== 'beside' && row !== undefined
  const drawer = (width: number): readonly Line[] => (isOpen ? jsonLines(row.raw) : detailLines(row, width))
  const dropped = query.value?.dropped ? `, ${count(query.value.dropped)} older are gone` : ''
  const listed: Listed<LogFacts> = {
    shown,
    titleOf: ({ source }) => source,
    of: `${count(query.value?.records.length ?? 0)}${dropped}`,
    empty: `nothing of level ${ui.logs.level} or above was logged: l changes the level`,
    drawer,
    tabs,
    more: [strong(`   level ${ui.logs.level} or above`)],
    view,
  }
  return listedFace(host, listed, {
    level: () => nextLevel(host),
    itsJob: () => toItsJob(host, [row?.message, row?.detail]),
  })
}

function nextLevel({ ui }: Host): void {
  const { logs } = ui.get()
  ui.set({ ...ui.get(), logs: { ...logs, level: after(logLevels, logs.level) } })
}

const recordFields = {
  level: { kind: 'choice', choices: logLevels },
  source: { kind: 'text' },
  message: { kind: 'text' },
  detail: { kind: 'text' },
  age: { kind: 'age' },
} as const

function recordFactsOf({ level, source, message, detail, at }: LogFacts): Facts<typeof recordFields> {
  return { level, source, message, detail, age: at ?? null }
}

/** Newest first. */
function newestOf(records: readonly LogFacts[], { logs }: Ui): readonly LogFacts[] {
  const least = logLevels.indexOf(logs.level)
  return records.filter((one) => logLevels.indexOf(one.level) >= least).toReversed()
}

const tints: Readonly<Record<LogLevel, (text: string) => Piece>> = { debug: dim, info: accent, warn, error: bad }

const recordColumns: readonly ScreenColumn<LogFacts>[] = [
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

/** A cron run. Runs come from the list of crons, because the log has only failed runs. */
type Run = ReportedRun & { readonly id: string; readonly cron: string }

const runFields = {
  cron: { kind: 'text' },
  result: { kind: 'choice', choices: ['success', 'skipped', 'failed'] },
  trigger: { kind: 'text' },
  why: { kind: 'text' },
  ms: { kind: 'count' },
  age: { kind: 'age' },
} as const

function factsOf({ cron, result, trigger, reason, took_ms, at }: Run): Facts<typeof runFields> {
  return { cron, result, trigger, why: text(reason), ms: BigInt(took_ms), age: Date.parse(at) }
}

/** A React hook that returns the latest runs of all crons, newest first. */
export function useRuns(host: Host, view: View): ReturnType<Screen['use']> {
  const { ui } = view
  const now = businessNow(useClock(host), view.now) ?? view.now
  const query = useQuery(fetchCrons(host.link), { name: 'crons', every: host.refreshMs })
  const all = (query.value?.crons ?? [])
    .flatMap(({ name: cron, runs = [] }) => runs.map((run): Run => ({ ...run, cron, id: `${cron} ${run.at}` })))
    .toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))
  const found = { list: logsList(runFields), columns: columnsOf(now), listed: query, all, factsOf, now, chosenIn }
  const shown = localRows<Run>(host, view, found)
  const { row } = shown
  const drawer = (width: number): readonly Line[] => drawn(row, tabIn(ui, logTabs) === 'json', width)
  const listed: Listed<Run> = {
    shown,
    titleOf: ({ cron }) => cron,
    of: count(all.length),
    empty: 'no cron has run yet: 5 shows when each is due',
    drawer,
    tabs: logTabs,
    view,
  }
  return listedFace(host, listed, { itsJob: () => toItsJob(host, [text(row?.reason)]) })
}

function drawn(row: Run | undefined, isJson: boolean, width: number): readonly Line[] {
  if (row === undefined) return []
  const { id: _, ...run } = row
  const { result, took_ms, trigger, reason } = run
  if (isJson) return jsonLines(run)
  const words = text(reason) || 'it ran without a problem'
  return [
    [' ', runWords[result], dim(`  in ${count(took_ms)} ms, by ${trigger.replaceAll('_', ' ')}`)],
    ...wrap(words, width - 2).map((text): Line => [' ', text]),
  ]
}

const columnsOf = columnsAt<Run>((now) => [
  { title: 'TIME', value: ({ at }) => timeOrDay(Date.parse(at), now ?? Date.parse(at)) },
  { title: 'WHAT', value: ({ result }) => runWords[result] },
  { title: 'CRON', value: ({ cron }) => cron, min: 16 },
  { title: 'TOOK', value: ({ took_ms }) => `${count(took_ms)} ms`, align: 'right', drop: 1 },
  { title: 'BY', value: ({ trigger }) => trigger.replaceAll('_', ' '), drop: 2 },
  { title: 'WHY', value: ({ reason }) => dim(text(reason)), min: 10, drop: 3 },
])

/** Fetches the newest deliveries that match. */
const fetchSent = (link: Link, asked: ListQueryAsked<SortWord<typeof deliveryFields>>) => {
  const query = { limit: String(MAX_PAGE), ...asked }
  return fetching('getWebhooks', { query }, ({ deliveries: rows, total }) => ({ rows, total }))(link)
}

/** A React hook that returns the webhook deliveries with their traces. */
export function useSent(host: Host, view: View): ReturnType<Screen['use']> {
  const { ui } = view
  const finding = findingOf(ui, 'logs', deliveryFields)
  const asked = useListQuery(host, finding, deliveryFields)
  const name = `sent ${JSON.stringify(asked)}`
  const query = useQuery(fetchSent(host.link, asked), { name, every: SLOW_EVERY_MS })
  const { rows, total } = query.value ?? { rows: [], total: 0 }
  const list = { ...logsList(deliveryFields), noun: delivery }
  const columns = sentColumns(businessNow(useClock(host), view.now))
  const found = { list, columns, rows, listed: query, problem: finding.problem, chosenIn }
  const shown = facedRows<Delivery>(host, view, found)
  const { row } = shown
  const story = useStory(host, row?.id ?? '')
  const again: readonly Line[] =
    row?.status === 'dead' && !host.readonly ? [[' ', accent(keyFor('testHook', view.keys)), ' sends it again']] : []
  const drawer = (width: number): readonly Line[] =>
    tabIn(ui, logTabs) === 'json' ? jsonLines(row) : [...again, ...storyLines(story, width)]
  const listed: Listed<Delivery> = {
    shown,
    titleOf: ({ id }) => titleIn(ui, story, id),
    of: count(total),
    empty: `no deliveries yet: ${delivery.source.join(': ')}`,
    drawer,
    tabs: logTabs,
    view,
  }
  return listedFace(host, listed, {
    itsJob: () => toItsJob(host, [row?.job_id ?? '']),
    testHook: () => sendAgain(host, rows),
  })
}

/** Sends the marked deliveries again, or the chosen one: the dead ones of them, else those that were delivered. */
function sendAgain(host: Host, rows: readonly Delivery[]): void {
  const of = Object.groupBy(meant(host.ui.get(), rows, delivery.idOf), ({ status }) => status)
  const again = of.dead ?? of.delivered ?? []
  if (again.length === 0) {
    const why = of.pending ? 'is pending: it is retried automatically' : 'was dropped: its message is obsolete'
    refuse(host, `The selected delivery ${why}.`)
  } else askEach(host, again, (_, one) => replayDialog(host, replayOf(one, safe(one.url))))
}

const sentColumns = columnsAt<Delivery>((now) => screenColumns(delivery, now))

const parts: Readonly<Record<LogPart, Screen['use']>> = {
  requests: useAsked,
  webhooks: useSent,
  crons: useRuns,
  everything: useRecords,
}

export const screen: Screen = { title: 'Logs', part: ({ logs }) => logPart(logs.view), use: useLogs }

/** A hook that returns what the current view shows. Views with different rows have their own hooks. */
function useLogs(host: Host, view: View): ReturnType<Screen['use']> {
  const useShown = parts[logPart(view.ui.logs.view)]
  return useShown(host, view)
}
