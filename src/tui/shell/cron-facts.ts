import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import { shortSpan } from '../../text/text.ts'
import { bad, dim, good, type Piece, warn } from '../parts/line.ts'
import { text, time } from './read.ts'

const MS_PER_SECOND = 1_000

type Listed = WireAnswer<Api['listCrons']>['crons'][number]

/** What is shown of a cron. Times are business time. */
export type CronFacts = ReturnType<typeof readCronFacts>

/** @param cron - from `/health`, or from the operator's list, which has more members */
export function readCronFacts(name: string, cron: WireAnswer<Api['getHealth']>['crons'][string] | Listed) {
  const { age_seconds: age } = cron
  return {
    name: text(name),
    lastSuccess: time(cron.last_success),
    lastSkipped: time(cron.last_skipped),
    lastFailure: time(cron.last_failure),
    /** Milliseconds from the last success to the daemon's response. */
    ageMs: age === null ? undefined : age * MS_PER_SECOND,
    stale: cron.stale,
    skipReason: text(cron.skip_reason),
    /** Undefined unless the cron comes from the operator's list. */
    more: 'schedule' in cron ? readMore(cron) : undefined,
  }
}

function readMore(cron: Listed) {
  return {
    schedule: text(cron.schedule),
    intervalMs: cron.interval_seconds * MS_PER_SECOND,
    paused: cron.paused,
    running: cron.running,
    nextRun: time(cron.next_run),
    /** Newest first. */
    runs: cron.runs.map(readRun),
  }
}

export type CronRunFacts = ReturnType<typeof readRun>

function readRun({ at, result, took_ms, trigger, reason }: Listed['runs'][number]) {
  return { at: time(at), result, tookMs: took_ms, trigger, reason: text(reason) }
}

export const cronStates = ['failing', 'stale', 'running', 'paused', 'waiting', 'skipped', 'ok'] as const
export type CronState = (typeof cronStates)[number]

/** State of a cron. If several states apply, the one that is checked first counts. */
export function cronState(cron: CronFacts): CronState {
  const last = Math.max(cron.lastSuccess ?? 0, cron.lastSkipped ?? 0)
  if (cron.more?.running) return 'running'
  if ((cron.lastFailure ?? 0) > last) return 'failing'
  if (cron.more?.paused) return 'paused'
  if (cron.stale) return 'stale'
  if (last === 0) return 'waiting'
  return (cron.lastSkipped ?? 0) > (cron.lastSuccess ?? 0) ? 'skipped' : 'ok'
}

const words: Readonly<Record<CronState, Exclude<Piece, string>>> = {
  failing: bad('✗ failing'),
  stale: warn('! late'),
  running: good('● running'),
  paused: warn('‖ paused'),
  waiting: dim('○ not yet'),
  skipped: dim('– not in use'),
  ok: good('✓ ok'),
}

/** State of a cron as symbol and word: `✓ ok`. */
export function cronWord(cron: CronFacts): Piece {
  return words[cronState(cron)]
}

/** Result of a run as symbol and word. */
export const runWords: Readonly<Record<CronRunFacts['result'], Piece>> = {
  success: good('✓ ran'),
  failed: bad('✗ failed'),
  skipped: dim('– skipped'),
}

const runSigns = { success: '▪', failed: '✗', skipped: '–' } as const

/** The latest runs, a symbol for each. The newest is last. */
export function runStrip(runs: readonly CronRunFacts[], count: number): string {
  const signs = runs.slice(0, count).map(({ result }) => runSigns[result])
  return signs.reverse().join('')
}

const urgency: Readonly<Partial<Record<CronState, number>>> = { failing: 0, stale: 1 }
const NOT_URGENT = 2

/** Compares two crons: failing and late ones first, then by name. */
export function byUrgency(a: CronFacts, b: CronFacts): number {
  const rank = (cron: CronFacts) => urgency[cronState(cron)] ?? NOT_URGENT
  return rank(a) - rank(b) || (a.name < b.name ? -1 : 1)
}

/** Order in which the states are counted. */
const counted: readonly CronState[] = ['ok', 'running', 'stale', 'failing', 'paused', 'waiting', 'skipped']

/** How many crons are in each state: `6 ok  1 late`. */
export function stateCounts(crons: readonly CronFacts[]): string {
  const all = counted.flatMap((state) => {
    const many = crons.filter((cron) => cronState(cron) === state).length
    return many === 0 ? [] : [`${many} ${words[state].text.slice(2)}`]
  })
  return all.join('  ')
}

/** Time since the last success. If business time is unknown, the age that the daemon reported. */
export function lastOk({ lastSuccess, ageMs }: CronFacts, now: number | undefined): string {
  if (lastSuccess === undefined) return 'not yet'
  if (now === undefined) return ageMs === undefined ? '—' : shortSpan(ageMs)
  return shortSpan(Math.max(0, now - lastSuccess))
}

export function nextRun({ more }: Pick<CronFacts, 'more'>, now: number | undefined): string {
  if (more?.nextRun === undefined || now === undefined) return '—'
  return more.nextRun <= now ? 'now' : shortSpan(more.nextRun - now)
}
