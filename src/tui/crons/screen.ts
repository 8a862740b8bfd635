import type { Facts } from '../../core/filter.ts'
import { clip, padEnd, span, wrap } from '../../text/text.ts'
import { timeNear } from '../../text/time.ts'
import { bad, blank, dim, type Line, lineWidth, rule, sized, spread, warn } from '../parts/line.ts'
import type { ScreenColumn } from '../parts/table.ts'
import { cronPauseDialog, runDialog } from '../shell/act-dialogs.ts'
import { businessNow, useClock } from '../shell/clock.ts'
import {
  byUrgency,
  type CronFacts,
  type CronRunFacts,
  cronState,
  cronStates,
  cronWord,
  lastOk,
  nextRun,
  runStrip,
  runWords,
  stateCounts,
} from '../shell/cron-facts.ts'
import { findingOf, listTable, narrowed, sortActions, sortedWords, typedWords, wordLines } from '../shell/finding.ts'
import { askAll, meant } from '../shell/marks.ts'
import { problemLines, staleness, waitingLines } from '../shell/notice.ts'
import { type Crons, fetchCrons } from '../shell/queries.ts'
import { type Query, useQuery } from '../shell/query.ts'
import { listOf } from '../shell/rows.ts'
import { type Face, type Host, type Screen, type ScreenArea, type View, WIDE_COLUMNS } from '../shell/screen.ts'
import { chosenIndex, type Ui } from '../shell/ui.ts'

const RUNS_SHOWN = 12
const RUNS_SHOWN_WIDE = 20
const DRAWER_LINES_MAX = 12
/** Above a drawer, the list keeps at least this share of the height. */
const LIST_SHARE = 0.6
const LEAST_DRAWER_LINES = 4

export const cronsScreen: Screen = { id: 'crons', digit: '5', title: 'Crons', short: 'Cron', use: useCrons }

function useCrons(host: Host, view: View): ReturnType<Screen['use']> {
  const listed = useQuery(fetchCrons(host.link), { name: 'crons', every: host.refreshMs })
  const clock = useClock(host)
  const shown = cronsShown(listed, view)
  const finding = findingOf(view.ui, 'crons', cronFields)
  const here = { fields: cronFields, factsOf, now: businessNow(clock, view.now) ?? view.now }
  const crons = narrowed(shown.crons.toSorted(byUrgency), finding, here)
  const ids = crons.map(({ name }) => name)
  const model: CronsModel = {
    ...shown,
    crons,
    total: shown.crons.length,
    chosen: chosenIndex(view.ui, ids),
    now: businessNow(clock, view.now),
    ui: view.ui,
  }
  const actions = { ...sortActions(host, 'crons', cronFields), ...actionsOn(host, crons) }
  const list = listOf({ columns: columnsOf(model, view.area.width), rows: crons, idOf: ({ name }) => name })
  return { ids, problem: finding.problem, list, draw: (area) => cronLines(model, area), actions }
}

const cronFields = {
  name: { kind: 'text' },
  state: { kind: 'choice', choices: cronStates },
  age: { kind: 'age' },
} as const

function factsOf(cron: CronFacts): Facts<typeof cronFields> {
  return { name: cron.name, state: cronState(cron), age: cron.lastSuccess ?? null }
}

/** The chosen row is looked up when the key is pressed, since an earlier key may have moved the cursor. */
function actionsOn(host: Host, crons: readonly CronFacts[]): Face['actions'] {
  const onChosen = (specOf: typeof runDialog) => () => {
    const rows = meant(host.ui.get(), crons, ({ name }) => name)
    askAll(
      host,
      rows.map((cron) => specOf(host, cron)),
    )
  }
  return { runCron: onChosen(runDialog), pauseCron: onChosen(cronPauseDialog) }
}

type Shown = Pick<Crons, 'crons' | 'automatic'> & {
  /** When the data was fetched. Ages are measured from it. */
  readonly at: number | undefined
  readonly source: Query<unknown>
  readonly stale: string | undefined
}

/** The operator's list if it is available, else the crons of `/health`. */
function cronsShown(listed: Query<Crons>, { health, now }: View): Shown {
  if (listed.value !== undefined) {
    return { ...listed.value, at: listed.at, source: listed, stale: staleness(listed, now) }
  }
  return {
    crons: health.value?.crons ?? [],
    automatic: true,
    at: health.at,
    source: listed.problem === undefined ? health : listed,
    stale: staleness(health, now),
  }
}

export type CronsModel = Shown & {
  readonly total: number
  readonly chosen: number
  /** Business time. */
  readonly now: number | undefined
  readonly ui: Ui
}

export function cronLines(model: CronsModel, area: ScreenArea): Line[] {
  if (model.total === 0) return missingLines(model, area)
  const drawer = model.crons[model.chosen]
  const drawerLines = drawer === undefined ? [] : detailLines(drawer, model, area)
  const top = filterLine(model, area.width)
  const room = area.height - top.length - 2 - drawerLines.length
  const height = Math.min(Math.max(1, model.crons.length), Math.max(1, room))
  const { chosen, crons: rows, ui } = model
  const idOf = ({ name }: CronFacts) => name
  const table = listTable(ui, { columns: columnsOf(model, area.width), rows, idOf, chosen, width: area.width, height })
  return [
    rule(area.width, `Crons ${model.total}`, [dim(stateCounts(model.crons))]),
    ...top,
    table.head,
    ...(drawer === undefined ? wordLines('no such cron: esc clears the filter', area.width) : table.body),
    ...drawerLines,
  ]
}

function missingLines(model: CronsModel, { width }: ScreenArea): Line[] {
  if (model.source.value === undefined) return waitingLines(model.source, width)
  return [[dim(' This daemon has no crons.')]]
}

function filterLine({ ui, crons, total, stale, automatic }: CronsModel, width: number): Line[] {
  const filter = ui.filters.crons ?? ''
  const notes = [
    ...(automatic ? [] : [warn('! crons do not run automatically here')]),
    ...(stale === undefined ? [] : [warn(`! ${stale}`)]),
  ]
  if (filter === '' && !ui.typing && notes.length === 0 && ui.sorts.crons === undefined) return []
  const typed: Line = [typedWords(ui, 'crons').slice(2)]
  const found = filter === '' ? [] : [`${crons.length} of ${total} `]
  return [spread(width, typed, [...notes, '  ', ...sortedWords(ui, 'crons'), ...found])]
}

const MS_PER_SECOND = 1_000

function tookWord(run: CronRunFacts | undefined): string {
  if (run === undefined) return '—'
  return run.tookMs < MS_PER_SECOND ? `${run.tookMs} ms` : `${(run.tookMs / MS_PER_SECOND).toFixed(1)} s`
}

function columnsOf(model: CronsModel, width: number): ScreenColumn<CronFacts>[] {
  const runs = width >= WIDE_COLUMNS ? RUNS_SHOWN_WIDE : RUNS_SHOWN
  return [
    { title: 'STATE', value: cronWord },
    { title: 'NAME', value: ({ name }) => name, exact: true },
    { title: `LAST ${runs} RUNS`, value: ({ more }) => (more ? runStrip(more.runs, runs) : ''), drop: 3, exact: true },
    { title: 'TOOK', value: ({ more }) => tookWord(more?.runs[0]), align: 'right', drop: 2 },
    { title: 'OK', value: (cron) => lastOk(cron, model.now), align: 'right' },
    { title: 'NEXT', value: (cron) => nextRun(cron, model.now), align: 'right', drop: 1 },
  ]
}

function detailLines(cron: CronFacts, model: CronsModel, { width, height }: ScreenArea): Line[] {
  const failed = cron.lastFailure === undefined ? '' : `last failure ${timeNear(cron.lastFailure, model.now)}`
  const head = rule(width, cron.name, failed === '' ? [] : [dim(failed)])
  const [last, ...before] = cron.more?.runs ?? []
  const lines = [
    ...scheduleLine(cron),
    ...troubleLines(cron, width),
    ...lastRunLine(last, model.now),
    ...runLines(before, model.now, width),
  ]
  const rest = height - Math.min(model.crons.length, Math.ceil(height * LIST_SHARE)) - 3
  const most = Math.max(LEAST_DRAWER_LINES, Math.min(DRAWER_LINES_MAX, rest))
  if (cron.more === undefined && model.source.problem) lines.push(...problemLines(model.source.problem, width))
  return [head, ...lines.slice(0, most), ...(lines.length === 0 ? [blank] : [])]
}

function scheduleLine({ more }: CronFacts): Line[] {
  if (more === undefined) return []
  const every = more.intervalMs === undefined ? '' : `   every ${span(more.intervalMs)}`
  return [[dim(' schedule  '), more.schedule, dim(every)]]
}

function troubleLines(cron: CronFacts, width: number): Line[] {
  const state = cronState(cron)
  const why = cron.more?.runs.find(({ result }) => result === 'failed')?.reason
  if (state === 'failing' && why)
    return wrap(why, width - 11).map((text, i) => [bad(i === 0 ? ' error     ' : '           '), text])
  if (state === 'stale') return [[warn(' stale     '), 'no success for three times its interval']]
  return cron.skipReason === '' ? [] : [[dim(' skipped   '), cron.skipReason]]
}

/** Formats the latest runs. Runs on earlier days show their date. */
function runLines(runs: readonly CronRunFacts[], now: number | undefined, width: number): Line[] {
  const times = runs.map(({ at }) => timeNear(at, now))
  const most = Math.max(...times.map((time) => time.length))
  return runs.map((run, i) => runLine(run, padEnd(times[i] ?? '', most), width))
}

/** `– skipped` */
const RESULT_COLUMNS = 9

function runLine({ result, tookMs, trigger, reason }: CronRunFacts, when: string, width: number): Line {
  const took = `${tookMs} ms`.padStart(9)
  const left: Line = [dim(` ${when}  `), ...sized([runWords[result]], RESULT_COLUMNS), dim(`${took}  ${trigger}`)]
  return reason === '' ? left : [...left, '  ', clip(reason, Math.max(1, width - lineWidth(left) - 3))]
}

function lastRunLine(run: CronRunFacts | undefined, now: number | undefined): Line[] {
  if (run === undefined) return []
  const when = run.at === undefined || now === undefined ? '' : ` ${span(now - run.at)} ago`
  return [
    [dim(' last run  '), `${run.result ?? 'unknown'}${when}, took ${run.tookMs ?? 0} ms`, dim(` by ${run.trigger}`)],
  ]
}
