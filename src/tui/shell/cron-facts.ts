import type { WireAnswer } from '../../api/index.ts'
import { SECOND_MS } from '../../core/time.ts'
import { stateOfRuns } from '../../model/state-words.ts'
import { shortSpan } from '../../text/text.ts'
import { bad, dim, good, type Piece, warn } from '../parts/line.ts'
import { time } from './read.ts'

type Reported = WireAnswer<'getHealth'>['crons'][string]
type Listed = WireAnswer<'listCrons'>['crons'][number]

/** A cron as `/health` reports it, or as the operator's list does, which knows more. Times are business time. */
export type ListedCron = Reported & Pick<Listed, 'name'> & Partial<Omit<Listed, keyof Reported | 'name'>>
export type ReportedRun = Listed['runs'][number]

export const cronStates = ['failing', 'stale', 'running', 'paused', 'waiting', 'skipped', 'ok'] as const
export type CronState = (typeof cronStates)[number]

/** State of a cron. If several states apply, the one that is checked first counts. */
export function cronState(cron: ListedCron): CronState {
  if (cron.running) return 'running'
  const state = stateOfRuns(cron)
  return cron.paused && state !== 'failing' ? 'paused' : state
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
export function cronWord(cron: ListedCron): Piece {
  return words[cronState(cron)]
}

/** Result of a run as symbol and word. */
export const runWords: Readonly<Record<ReportedRun['result'], Piece>> = {
  success: good('✓ ran'),
  failed: bad('✗ failed'),
  skipped: dim('– skipped'),
}

const runSigns = { success: '▪', failed: '✗', skipped: '–' } as const

/** The latest runs, a symbol for each. The newest is last. */
export function runStrip(runs: readonly ReportedRun[], count: number): string {
  const signs = runs.slice(0, count).map(({ result }) => runSigns[result])
  return signs.reverse().join('')
}

const urgency: Readonly<Partial<Record<CronState, number>>> = { failing: 0, stale: 1 }
const NOT_URGENT = 2

/** Compares two crons: failing and late ones first, then by name. */
export function byUrgency(a: ListedCron, b: ListedCron): number {
  const rank = (cron: ListedCron) => urgency[cronState(cron)] ?? NOT_URGENT
  return rank(a) - rank(b) || (a.name < b.name ? -1 : 1)
}

/** Order in which the states are counted. */
const counted: readonly CronState[] = ['ok', 'running', 'stale', 'failing', 'paused', 'waiting', 'skipped']

/** How many crons are in each state: `6 ok  1 late`. */
export function stateCounts(crons: readonly ListedCron[]): string {
  const all = counted.flatMap((state) => {
    const many = crons.filter((cron) => cronState(cron) === state).length
    return many === 0 ? [] : [`${many} ${words[state].text.slice(2)}`]
  })
  return all.join('  ')
}

/** Time since the last success. If business time is unknown, the age that the daemon reported. */
export function lastOk({ last_success: at, age_seconds: age }: ListedCron, now: number | undefined): string {
  if (at === null) return 'not yet'
  if (now === undefined) return age === null ? '—' : shortSpan(age * SECOND_MS)
  return shortSpan(Math.max(0, now - Date.parse(at)))
}

export function nextRun(cron: ListedCron | undefined, now: number | undefined): string {
  const at = time(cron?.next_run)
  if (at === undefined || now === undefined) return '—'
  return at <= now ? 'now' : shortSpan(at - now)
}
