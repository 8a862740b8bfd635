import type { WireAnswer } from '../api/index.ts'
import { count } from '../text/text.ts'

/* Bars of the work and strips of the crons on the overview, made anew from what was answered. */

type River = WireAnswer<'getRiver'>
type Cron = WireAnswer<'listCrons'>['crons'][number]

/** Beside a bar stand its sign, its word and its count. */
const BESIDE_BAR = 24
const STRIP_RUNS = 12
const runSigns = { success: '▪', failed: '✗', skipped: '–' } as const

/** Open jobs by their status, as lists of the interface count them. */
export type OpenJobs = Readonly<Record<'created' | 'dispatched' | 'in_progress' | 'disputed', number>>

/** What the panel does not say: each count, and a bar of half columns, the greatest as long as there is room. */
export function workLacks(
  panel: readonly string[],
  width: number,
  { open, river }: { readonly open: OpenJobs; readonly river: River },
): readonly string[] {
  const sent = open.created + open.dispatched
  const waits = river.held_jobs - sent - open.in_progress - open.disputed
  const counts = { sent, 'at work': open.in_progress, delivered: Math.max(0, waits), disputed: open.disputed }
  const most = Math.max(1, ...Object.values(counts))
  const halves = (n: number) => (n === 0 ? 0 : Math.max(1, Math.round((2 * n * (width - BESIDE_BAR)) / most)))
  const barOf = (n: number) => '━'.repeat(Math.trunc(halves(n) / 2)) + '╸'.repeat(halves(n) % 2)
  const rows = Object.entries(counts).map(([word, n]) =>
    `${word.padEnd(10)}${count(n).padStart(7)}  ${barOf(n)}`.trimEnd(),
  )
  const { good, failed, refunded } = river.ended ?? { good: 0, failed: 0, refunded: 0 }
  const ended = `done today ${count(good)} good, ${count(failed)} failed, ${count(refunded)} refunded`
  return [...rows, ended].filter((row) => !panel.some((line) => line.trimEnd().endsWith(row)))
}

/** What the strips do not say: of each cron in sight its last runs, the newest at the right. */
export function stripLacks(panel: readonly string[], crons: readonly Cron[]): readonly string[] {
  const shown = panel.slice(1).filter((line) => line.trim() !== '')
  if (shown.length === 0) return ['a cron']
  return shown.flatMap((line) => {
    const cron = crons.find(({ name }) => line.includes(` ${name} `))
    if (cron === undefined) return [`a cron in ${line}`]
    const signs = cron.runs.slice(0, STRIP_RUNS).map(({ result }) => runSigns[result])
    const strip = signs.toReversed().join('').padStart(STRIP_RUNS)
    return line.includes(` ${strip} `) ? [] : [`${strip} in ${line}`]
  })
}
