import type { WireAnswer } from '../../api/index.ts'
import type { Link, Outcome } from '../../client/link.ts'
import type { Facts } from '../../core/filter.ts'
import { DAY_MS, HOUR_MS } from '../../core/time.ts'
import { microOf } from '../../text/columns.ts'
import { count, shortAddress, shortSpan, span } from '../../text/text.ts'
import { dateTime, zonedTime } from '../../text/time.ts'
import { accent, bad, blank, dim, good, type Line, rule, type ScreenColumn, strong, warn } from '../parts/line.ts'
import { askUser, refuse, shellCommand } from '../shell/ask.ts'
import { keyFor } from '../shell/bindings.ts'
import type { ListedCron } from '../shell/cron-facts.ts'
import { type DialogSpec, needed, type Told, type Values } from '../shell/dialog.ts'
import { findingOf, listTable, narrowed, sortActions, sortedWords, typedWords, wordLines } from '../shell/finding.ts'
import { staleness, waitingLines } from '../shell/notice.ts'
import { ask, fetchCrons, fetching, SLOW_EVERY_MS } from '../shell/queries.ts'
import { type Query, useQuery } from '../shell/query.ts'
import { text, time } from '../shell/read.ts'
import { listOf } from '../shell/rows.ts'
import type { Host, Screen, ScreenArea, View } from '../shell/screen.ts'
import { chosenIndex } from '../shell/ui.ts'

export const screen: Screen = { title: 'Clock', use: useClockScreen }

function useClockScreen(host: Host, view: View): ReturnType<Screen['use']> {
  const { link, refreshMs } = host
  const clock = useQuery(fetchClockNow(link), { name: 'clock facts', every: refreshMs })
  const crons = useQuery(fetchCrons(link), { name: 'crons', every: refreshMs })
  const due = useQuery(fetchDue(link), { name: 'due', every: SLOW_EVERY_MS })
  const finding = findingOf(view.ui, 'clock', dueFields)
  const all = [...(due.value?.rows ?? []), ...dueCrons(crons.value?.crons ?? [])]
  const rows = narrowed(
    all.toSorted((one, other) => one.at - other.at || (one.id < other.id ? -1 : 1)),
    finding,
    { fields: dueFields, factsOf, now: view.now },
  )
  const ids = rows.map(({ id }) => id)
  const model: Model = { clock, due, rows, chosen: chosenIndex(view.ui, ids), view }
  const onClock = (specOf: (host: Host, clock: Clock) => DialogSpec) => () => change(host, clock, specOf)
  return {
    ids,
    problem: finding.problem,
    list: listOf({ columns: columnsOf(view.now), rows, idOf: ({ id }) => id }),
    draw: (area) => clockLines(model, area),
    actions: { ...sortActions(host, 'clock', dueFields), add: onClock(moveDialog), pauseCron: onClock(freezeDialog) },
  }
}

const dueKinds = ['cron', 'hold', 'payout'] as const
const dueFields = {
  kind: { kind: 'choice', choices: dueKinds },
  what: { kind: 'text' },
  whose: { kind: 'text' },
  amount: { kind: 'money' },
  id: { kind: 'text' },
} as const

function factsOf({ kind, what, whose, amount, id }: DueFacts): Facts<typeof dueFields> {
  return { kind, what, whose, amount: microOf(amount) ?? null, id }
}

function change(host: Host, { value }: Query<Clock>, specOf: (host: Host, clock: Clock) => DialogSpec): void {
  if (value === undefined) refuse(host, 'The business time is not known yet.')
  else if (value.movable) askUser(host, specOf(host, value))
  else refuse(host, 'With real money the clock cannot be moved.')
}

type Model = {
  readonly clock: Query<Clock>
  readonly due: Query<Due>
  readonly rows: readonly DueFacts[]
  readonly chosen: number
  readonly view: View
}

function clockLines(model: Model, area: ScreenArea): Line[] {
  const { clock, due, rows, chosen, view } = model
  const { width, height } = area
  if (clock.value === undefined) return [rule(width, 'Clock'), ...waitingLines(clock, width)]
  const now = nowOf(clock, view.now)
  const above = [
    ...faceLines(clock.value, now, { width, keys: view.keys, stale: staleness(clock, view.now) }),
    dueRule(model, width),
  ]
  if (rows.length === 0) {
    if (due.value === undefined) return [...above, ...waitingLines(due, width)]
    return [
      ...above,
      ...wordLines(
        view.ui.filters.clock
          ? 'nothing matches the filter: esc clears it'
          : 'nothing is due: jobs, payouts and crons put their deadlines here',
        width,
      ),
    ]
  }
  const list = { columns: columnsOf(now), rows, idOf: ({ id }: DueFacts) => id, chosen }
  const table = listTable(view.ui, { ...list, width, height: height - above.length - 1 })
  return [...above, table.head, ...table.body]
}

/** Business time now: that of the last response, plus the time since then if the clock is not frozen. */
function nowOf({ value, at }: Query<Clock>, wall: number): number {
  if (value === undefined) return wall
  const now = Date.parse(value.now)
  return value.state === 'frozen' || at === undefined ? now : now + Math.max(0, wall - at)
}

type Head = { readonly width: number; readonly keys: View['keys']; readonly stale: string | undefined }

function faceLines(clock: Clock, now: number, { width, stale, keys: bound }: Head): Line[] {
  const { offset_ms: ahead, next_cron: next } = clock
  const aheadWords = ahead === 0 ? dim('same as this machine') : warn(`${span(ahead)} ahead of the machine`)
  const isFrozen = clock.state === 'frozen'
  const state = isFrozen ? warn('‖ frozen') : good('● running')
  const keys: Line = clock.movable
    ? [
        ' ',
        accent(keyFor('add', bound)),
        ' 1 h, 1 d or to the next cron  ',
        accent(keyFor('pauseCron', bound)),
        isFrozen ? ' resume it' : ' stop it',
      ]
    : [dim(' real money: the clock cannot be moved')]
  return [
    rule(width, 'Clock', [stale === undefined ? state : warn(`! ${stale}`)]),
    [dim(' business  '), strong(zonedTime(now)), '  ', aheadWords],
    [dim(' machine   '), zonedTime(Date.parse(clock.wall))],
    [
      dim(' next cron '),
      ...(next === null ? [dim('none')] : [text(next.name), dim(`  in ${leftOf(Date.parse(next.at), now)}`)]),
    ],
    keys,
    blank,
  ]
}

function dueRule({ rows, due, view: { ui } }: Model, width: number): Line {
  const unseen = due.value?.unseen ?? 0
  const note: Line = [
    typedWords(ui, 'clock'),
    '  ',
    ...sortedWords(ui, 'clock'),
    ...(unseen > 0 ? [warn(`${count(unseen)} more held amounts are not shown`)] : []),
  ]
  return rule(width, `Due next ${count(rows.length)}`, note)
}

function leftOf(at: number, now: number): string {
  return at <= now ? 'now' : span(at - now)
}

function columnsOf(now: number): readonly ScreenColumn<DueFacts>[] {
  return [
    {
      title: 'IN',
      value: ({ at }) => (at < now ? bad(`-${shortSpan(now - at)}`) : shortSpan(at - now)),
      align: 'right',
    },
    { title: 'AT', value: ({ at }) => dim(dateTime(at)), drop: 3 },
    { title: 'KIND', value: ({ kind }) => kind },
    { title: 'WHAT', value: ({ what }) => what, min: 8 },
    { title: 'WHOSE', value: ({ whose }) => whose, exact: true, drop: 2 },
    { title: 'AMOUNT', value: ({ amount }) => strong(amount), align: 'right', exact: true },
    { title: 'ID', value: ({ id, kind }) => (kind === 'cron' ? '' : dim(id)), exact: true, drop: 4 },
  ]
}

/** Long timeout, because moving the clock by a day runs many crons in sequence. */
const MOVE_TIMEOUT_MS = 5 * 60_000
const SNAPSHOT = 'before-clock'

const steps = ['1h', '1d', 'next cron'] as const
const answers = ['yes', 'no'] as const

const step = needed({ name: 'step', label: 'How far', choices: steps }, 'how far')
const keeping = `Save a snapshot of the store first as ${SNAPSHOT} (replaces the previous one)`
const snapshot = needed({ name: 'snapshot', label: keeping, choices: answers }, 'yes or no')

type Move = NonNullable<ReturnType<typeof moveOf>>

function moveOf(chosen: string | undefined, { next_cron: next }: Clock) {
  if (chosen === '1h') return { body: { advance_ms: HOUR_MS }, words: ['clock', 'advance', '1h'] }
  if (chosen === '1d') return { body: { advance_ms: DAY_MS }, words: ['clock', 'advance', '1d'] }
  if (chosen !== 'next cron' || next === null) return undefined
  return { body: { set: next.at }, words: ['clock', 'set', next.at] }
}

/** Dialog that advances business time. If the user asks for it, a snapshot is saved first. */
export function moveDialog(host: Host, clock: Clock): DialogSpec {
  const { snapshot: save } = host
  const saves = ({ snapshot: said }: Values) => save !== undefined && said === 'yes'
  return {
    title: 'MOVE THE CLOCK AHEAD',
    facts: ({ step: chosen }) => [
      ['business time', `${zonedTime(Date.parse(clock.now))}${clock.state === 'frozen' ? ', frozen' : ''}`],
      ['What happens', 'due events happen in order: crons, payouts, refunds, renewals'],
      ['No way back', 'time cannot move back; restore a snapshot to return'],
      ...(chosen === 'next cron' ? [['next cron', text(clock.next_cron?.name) || 'there is none'] as const] : []),
    ],
    fields: [step, ...(save === undefined ? [] : [snapshot])],
    verb: 'Move',
    command(values) {
      const move = moveOf(values.step, clock)
      const words = shellCommand(host, move?.words ?? ['clock', 'advance', '…'])
      return saves(values) ? `${shellCommand(host, ['snapshots', 'save', SNAPSHOT, '--force'])} && ${words}` : words
    },
    async send(values) {
      const move = moveOf(values.step, clock)
      if (move === undefined) return { ok: false, problem: nowhere }
      if (saves(values) && save !== undefined) {
        const kept = await save(SNAPSHOT)
        if (!kept.ok) return kept
      }
      return moved(host, move, saves(values))
    },
  }
}

const nowhere = {
  kind: 'failed',
  sentence: 'No cron runs automatically.',
  facts: [],
  next: ['souk crons list'],
} as const

async function moved(host: Host, { body }: Move, isKept: boolean): Promise<Outcome<Told>> {
  const answer = await host.link.call('moveClock', { body, timeoutMs: MOVE_TIMEOUT_MS })
  if (!answer.ok) return answer
  const { now, runs_total: runs } = answer.value
  const back = isKept ? `  → back: ${shellCommand(host, ['snapshots', 'restore', SNAPSHOT])}` : ''
  return { ok: true, value: `${dateTime(Date.parse(now))} now, ${count(runs)} cron runs on the way.${back}` }
}

export function freezeDialog(host: Host, clock: Clock): DialogSpec {
  const isFrozen = clock.state === 'frozen'
  return {
    title: isFrozen ? 'RESUME THE CLOCK' : 'STOP THE CLOCK',
    facts: () => [
      isFrozen
        ? ['What it does', 'business time continues from the current time; crons run on schedule again']
        : ['What it does', 'business time is frozen: no deadlines and no crons until you resume it'],
    ],
    verb: isFrozen ? 'Go on' : 'Stop',
    command: () => shellCommand(host, ['clock', isFrozen ? 'run' : 'freeze']),
    send: () =>
      ask(
        host.link,
        { name: 'moveClock', asked: { body: { state: isFrozen ? 'running' : 'frozen' } } },
        ({ state }) => `The clock is ${state}.`,
      ),
  }
}

/** Maximum number of holds, and of payouts, that are fetched. Further holds are only counted. */
const LOOKED_AT = 100
const LOOKED_AT_QUERY = { limit: String(LOOKED_AT) } as const

export const fetchClockNow = fetching('getClock', {}, (clock) => clock)

type Clock = WireAnswer<'getClock'>

/** An automatic event with its time. */
type DueFacts = {
  readonly id: string
  readonly at: number
  readonly kind: (typeof dueKinds)[number]
  readonly what: string
  readonly whose: string
  /** Like `$0.525`; empty without money. */
  readonly amount: string
}

type Due = {
  readonly rows: readonly DueFacts[]
  /** Number of held amounts that were not fetched. */
  readonly unseen: number
}

/** Fetches the held money and the payouts that will move at a known time. */
const fetchDue =
  (link: Link) =>
  async (signal: AbortSignal): Promise<Outcome<Due>> => {
    const asked = { query: LOOKED_AT_QUERY, signal }
    const [holds, payouts] = await Promise.all([
      ask(link, { name: 'getHolds', asked }, (answer) => ({
        rows: answer.holds.flatMap(dueHold),
        unseen: answer.total - answer.holds.length,
      })),
      ask(link, { name: 'getPayouts', asked }, (answer) => ({ rows: answer.payouts.flatMap(duePayout), unseen: 0 })),
    ])
    if (!holds.ok) return holds
    if (!payouts.ok) return payouts
    const rows = [...holds.value.rows, ...payouts.value.rows]
    return { ok: true, value: { rows, unseen: holds.value.unseen } }
  }

function dueHold(hold: WireAnswer<'getHolds'>['holds'][number]): DueFacts[] {
  const at = time(hold.next_event_at)
  if (at === undefined) return []
  const { account, next_event, owner, amount } = hold
  const whose = text(owner?.id)
  return [{ id: text(account), at, kind: 'hold', what: text(next_event), whose, amount: `$${amount}` }]
}

function duePayout(payout: WireAnswer<'getPayouts'>['payouts'][number]): DueFacts[] {
  const at = time(payout.next_attempt_at)
  if (at === undefined) return []
  const { id, wallet, amount, attempts } = payout
  return [{ id, at, kind: 'payout', what: `try ${attempts + 1}`, whose: shortAddress(wallet), amount: `$${amount}` }]
}

/** Next scheduled run of each cron. */
function dueCrons(crons: readonly ListedCron[]): readonly DueFacts[] {
  return crons.flatMap(({ name, next_run }): DueFacts[] => {
    const at = time(next_run)
    return at === undefined ? [] : [{ id: `cron ${name}`, at, kind: 'cron', what: 'runs', whose: name, amount: '' }]
  })
}
