import type { Facts } from '../../core/filter.ts'
import { count, wrap } from '../../text/text.ts'
import { timeOrDay } from '../../text/time.ts'
import { toItsJob } from '../jobs/its-job.ts'
import { jsonLines } from '../parts/json-lines.ts'
import { bad, dim, good, type Line, type Piece } from '../parts/line.ts'
import { columnsAt } from '../parts/table.ts'
import { businessNow, useClock } from '../shell/clock.ts'
import type { CronRunFacts } from '../shell/cron-facts.ts'
import { findingOf, narrowed } from '../shell/finding.ts'
import { fetchCrons } from '../shell/queries.ts'
import { useQuery } from '../shell/query.ts'
import type { Host, Screen, View } from '../shell/screen.ts'
import { logTabs } from '../shell/ui.ts'
import { chosenIn, type Listed, listedFace, tabIn } from './listed.ts'

/** One run of one of the crons; the log keeps the failed ones alone. */
type RunFacts = CronRunFacts & { readonly id: string; readonly cron: string }

const results: Readonly<Record<CronRunFacts['result'], Piece>> = {
  success: good('✓ ran'),
  skipped: dim('– not in use'),
  failed: bad('✗ failed'),
}

const runFields = {
  cron: { kind: 'text' },
  result: { kind: 'choice', choices: ['success', 'skipped', 'failed'] },
  trigger: { kind: 'text' },
  why: { kind: 'text' },
  ms: { kind: 'count' },
  age: { kind: 'age' },
} as const

function factsOf({ cron, result, trigger, reason, tookMs, at }: RunFacts): Facts<typeof runFields> {
  return { cron, result, trigger, why: reason, ms: BigInt(tookMs), age: at ?? null }
}

/** A hook: the runs that are remembered of all crons, the newest first. */
export function useRuns(host: Host, view: View): ReturnType<Screen['use']> {
  const { ui } = view
  const now = businessNow(useClock(host), view.now) ?? view.now
  const query = useQuery(fetchCrons(host.link), { name: 'crons', every: host.refreshMs })
  const all = (query.value?.crons ?? [])
    .flatMap(({ name: cron, more }) =>
      (more?.runs ?? []).map((run): RunFacts => ({ ...run, cron, id: `${cron} ${run.at ?? ''}` })),
    )
    .toSorted((a, b) => (b.at ?? 0) - (a.at ?? 0))
  const finding = findingOf(ui, 'logs', runFields)
  const rows = narrowed(all, finding, { fields: runFields, factsOf, now })
  const ids = rows.map(({ id }) => id)
  const chosen = chosenIn(ui, ids)
  const row = rows[chosen]
  const drawer = (width: number): readonly Line[] => drawn(row, tabIn(ui, logTabs) === 'json', width)
  const columns = columnsOf(now)
  const listed: Listed<RunFacts> = {
    query,
    columns,
    rows,
    idOf: ({ id }) => id,
    titleOf: ({ cron }) => cron,
    chosen,
    of: count(all.length),
    empty: 'no cron has run yet: 5 shows when each is due',
    drawer,
    tabs: logTabs,
    view,
  }
  return listedFace(host, listed, {
    fields: runFields,
    problem: finding.problem,
    actions: { itsJob: () => toItsJob(host, [row?.reason]) },
  })
}

function drawn(row: RunFacts | undefined, isJson: boolean, width: number): readonly Line[] {
  if (row === undefined) return []
  const { cron, at, result, tookMs, trigger, reason } = row
  if (isJson)
    return jsonLines({
      cron,
      at: at === undefined ? null : new Date(at).toISOString(),
      took_ms: tookMs,
      trigger,
      result,
      reason,
    })
  const words = reason === '' ? 'it did what it is for' : reason
  return [
    [' ', results[result], dim(`  in ${count(tookMs)} ms, by ${trigger.replaceAll('_', ' ')}`)],
    ...wrap(words, width - 2).map((text): Line => [' ', text]),
  ]
}

const columnsOf = columnsAt<RunFacts>((now) => [
  { title: 'TIME', value: ({ at }) => (at === undefined ? '--:--:--' : timeOrDay(at, now ?? at)) },
  { title: 'WHAT', value: ({ result }) => results[result] ?? result },
  { title: 'CRON', value: ({ cron }) => cron, min: 16 },
  { title: 'TOOK', value: ({ tookMs }) => `${count(tookMs)} ms`, align: 'right', drop: 1 },
  { title: 'BY', value: ({ trigger }) => trigger.replaceAll('_', ' '), drop: 2 },
  { title: 'WHY', value: ({ reason }) => dim(reason), min: 10, drop: 3 },
])
