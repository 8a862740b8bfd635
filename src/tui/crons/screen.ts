import type { Problem } from '../../client/link.ts'
import type { Facts } from '../../core/filter.ts'
import { SECOND_MS } from '../../core/time.ts'
import { clip, padEnd, span, wrap } from '../../text/text.ts'
import { timeNear } from '../../text/time.ts'
import { listFace } from '../list/nouns.ts'
import { localRows } from '../list/rows.ts'
import { bad, dim, type Line, lineWidth, rule, type ScreenColumn, sized, warn } from '../parts/line.ts'
import { cronPauseDialog, runDialog } from '../shell/act-dialogs.ts'
import { businessNow, useClock } from '../shell/clock.ts'
import {
  byUrgency,
  cronState,
  cronStates,
  cronWord,
  type ListedCron,
  lastOk,
  nextRun,
  type ReportedRun,
  runStrip,
  runWords,
  stateCounts,
} from '../shell/cron-facts.ts'
import { askEach, meant } from '../shell/marks.ts'
import { problemLines } from '../shell/notice.ts'
import { fetchCrons } from '../shell/queries.ts'
import { useQuery } from '../shell/query.ts'
import { text, time } from '../shell/read.ts'
import { type Face, type Host, type Screen, type View, WIDE_COLUMNS } from '../shell/screen.ts'

const RUNS_SHOWN = 12
const RUNS_SHOWN_WIDE = 20

export const screen: Screen = { title: 'Crons', short: 'Cron', use: useCrons }

function useCrons(host: Host, view: View): ReturnType<Screen['use']> {
  const asked = useQuery(fetchCrons(host.link), { name: 'crons', every: host.refreshMs })
  const now = businessNow(useClock(host), view.now)
  const { health, area } = view
  // The operator's list if it is available, else the crons of `/health`.
  const listed = asked.value === undefined && health.value !== undefined ? health : asked
  const all = (asked.value ?? health.value)?.crons.toSorted(byUrgency) ?? []
  const list = { id: 'crons', noun: cronNoun, fields: cronFields } as const
  const columns = columnsOf(now, area.width)
  const shown = localRows(host, view, { list, columns, listed, all, factsOf, now })
  return listFace(host, {
    title: 'Crons',
    place: `${shown.rows.length} of ${all.length}`,
    order: 'trouble first',
    shown,
    view,
    viewsOf: () => [dim(` ${stateCounts(shown.rows)}`)],
    foot: () => (asked.value?.automatic === false ? [[warn(' ! crons do not run automatically here')]] : []),
    // The list has many columns, so the drawer is always below it.
    sideOf: () => 0,
    drawer: (cron, { width }) => detailLines(cron, { now, width, problem: asked.problem }),
    actions: actionsOn(host, shown.rows),
  })
}

const cronNoun = {
  name: 'cron',
  plural: 'crons',
  source: ['the daemon has them all', 'souk crons list'],
  idOf: ({ name }: ListedCron) => name,
} as const

const cronFields = {
  name: { kind: 'text' },
  state: { kind: 'choice', choices: cronStates },
  age: { kind: 'age' },
} as const

function factsOf(cron: ListedCron): Facts<typeof cronFields> {
  return { name: cron.name, state: cronState(cron), age: time(cron.last_success) ?? null }
}

/** The chosen row is looked up when the key is pressed, since an earlier key may have moved the cursor. */
function actionsOn(host: Host, crons: readonly ListedCron[]): Face['actions'] {
  const onChosen = (specOf: typeof runDialog) => () => askEach(host, meant(host.ui.get(), crons, cronNoun.idOf), specOf)
  return { runCron: onChosen(runDialog), pauseCron: onChosen(cronPauseDialog) }
}

function tookWord(run: ReportedRun | undefined): string {
  if (run === undefined) return '—'
  return run.took_ms < SECOND_MS ? `${run.took_ms} ms` : `${(run.took_ms / SECOND_MS).toFixed(1)} s`
}

function columnsOf(now: number | undefined, width: number): ScreenColumn<ListedCron>[] {
  const runs = width >= WIDE_COLUMNS ? RUNS_SHOWN_WIDE : RUNS_SHOWN
  return [
    { title: 'STATE', value: cronWord },
    { title: 'NAME', value: ({ name }) => name, exact: true },
    { title: `LAST ${runs} RUNS`, value: (cron) => runStrip(cron.runs ?? [], runs), drop: 3, exact: true },
    { title: 'TOOK', value: (cron) => tookWord(cron.runs?.[0]), align: 'right', drop: 2 },
    { title: 'OK', value: (cron) => lastOk(cron, now), align: 'right' },
    { title: 'NEXT', value: (cron) => nextRun(cron, now), align: 'right', drop: 1 },
  ]
}

type DetailAt = {
  readonly now: number | undefined
  readonly width: number
  /** Why only `/health` told of the crons. */
  readonly problem: Problem | undefined
}

function detailLines(cron: ListedCron, { now, width, problem }: DetailAt): Line[] {
  const failed = cron.last_failure === null ? [] : [dim(`last failure ${timeNear(time(cron.last_failure), now)}`)]
  const [last, ...before] = cron.runs ?? []
  return [
    rule(width, cron.name, failed),
    ...scheduleLine(cron),
    ...troubleLines(cron, width),
    ...lastRunLine(last, now),
    ...runLines(before, now, width),
    ...(cron.runs === undefined && problem ? problemLines(problem, width) : []),
  ]
}

function scheduleLine({ schedule, interval_seconds: seconds = 0 }: ListedCron): Line[] {
  return schedule === undefined
    ? []
    : [[dim(' schedule  '), text(schedule), dim(`   every ${span(seconds * SECOND_MS)}`)]]
}

function troubleLines(cron: ListedCron, width: number): Line[] {
  const state = cronState(cron)
  const why = text(cron.runs?.find(({ result }) => result === 'failed')?.reason)
  if (state === 'failing' && why)
    return wrap(why, width - 11).map((text, i) => [bad(i === 0 ? ' error     ' : '           '), text])
  if (state === 'stale') return [[warn(' stale     '), 'no success for three times its interval']]
  const skipped = text(cron.skip_reason)
  return skipped === '' ? [] : [[dim(' skipped   '), skipped]]
}

/** Formats the latest runs. Runs on earlier days show their date. */
function runLines(runs: readonly ReportedRun[], now: number | undefined, width: number): Line[] {
  const times = runs.map(({ at }) => timeNear(Date.parse(at), now))
  const most = Math.max(...times.map((time) => time.length))
  return runs.map((run, i) => runLine(run, padEnd(times[i] ?? '', most), width))
}

/** `– skipped` */
const RESULT_COLUMNS = 9

function runLine({ result, took_ms, trigger, reason }: ReportedRun, when: string, width: number): Line {
  const took = `${took_ms} ms`.padStart(9)
  const left: Line = [dim(` ${when}  `), ...sized([runWords[result]], RESULT_COLUMNS), dim(`${took}  ${trigger}`)]
  return reason === null ? left : [...left, '  ', clip(text(reason), Math.max(1, width - lineWidth(left) - 3))]
}

function lastRunLine(run: ReportedRun | undefined, now: number | undefined): Line[] {
  if (run === undefined) return []
  const when = now === undefined ? '' : ` ${span(now - Date.parse(run.at))} ago`
  return [[dim(' last run  '), `${run.result}${when}, took ${run.took_ms} ms`, dim(` by ${run.trigger}`)]]
}
