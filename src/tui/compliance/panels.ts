import { HOUR_MS } from '../../core/time.ts'
import { clip, count, shortAddress, shortSpan, widthOf } from '../../text/text.ts'
import { monthDay } from '../../text/time.ts'
import { bar } from '../parts/charts.ts'
import { accent, bad, dim, good, type Line, type Piece, placed, rule, strong, warn } from '../parts/line.ts'
import { joinedPanels } from '../parts/panels.ts'
import { shownMoney } from '../parts/river.ts'
import { keyFor } from '../shell/bindings.ts'
import type { HealthFacts, NamedCounts } from '../shell/health.ts'
import { waitingLines } from '../shell/notice.ts'
import type { Query } from '../shell/query.ts'
import { text, time } from '../shell/read.ts'
import type { ScreenArea, View } from '../shell/screen.ts'
import type { Kept, KeptFacts, ReadFacts, ReadLog, SanctionsList } from './watch.ts'

const PANES_FROM = 80
const BAR_COLUMNS = 14
const COUNT_COLUMNS = 6
/** Rows reserved for the identity checks. */
const LEAST_BELOW = 6
/** The panel of refusal reasons takes at most a quarter of the height. */
const REFUSALS_SHARE = 4
/** Names per row. */
const NAMED = 3
const LEAST_NAME = 4
/** Ages up to this many hours are shown in hours. */
const HOURS_UNTIL = 72

export type PanelsModel = {
  readonly sanctions: Query<SanctionsList>
  readonly kept: Query<Kept>
  /** Sum of all payouts kept back, in decimal USDC. Undefined until known. */
  readonly keptSum: string | undefined
  readonly reads: Query<ReadLog>
  readonly exports: Query<readonly ReadFacts[]>
  readonly now: number | undefined
  readonly view: View
}

/** Draws the panels in pairs, or stacked if the window is narrow. If rows are scarce, drops the last panels first. */
export function panelLines(model: PanelsModel, { width, height }: ScreenArea): Line[] {
  const { health } = model.view
  const shelved = health.value?.shelved ?? []
  const isSplit = width >= PANES_FROM
  const split = isSplit ? Math.round(width / 2) : width
  const side = isSplit ? width - split - 1 : width
  const list = sanctionLines(model, split)
  const most = Math.max(list.length - 1, Math.floor(height / REFUSALS_SHARE))
  // Unknown until `/health` has answered once.
  const refused =
    health.value === undefined
      ? [rule(side, REFUSED), ...waitingLines(health, side)]
      : refusedLines(health.value.refusals, { width: side, most })
  const [kept, reads] = [keptLines(model, split), readLines(model, side)]
  const off = shelved.length === 0 ? [] : [[shelvedLines(shelved, width)]]
  const room = height - LEAST_BELOW
  if (!isSplit) return fitting([[list], [refused], [kept], [reads], ...off], room).flat(2)
  const blocks = fitting([even(list, refused), even(kept, reads), ...off], room)
  const pairs = blocks.filter(([, other]) => other !== undefined)
  const [left, right] = [pairs.flatMap(([one = []]) => one), pairs.flatMap(([, other = []]) => other)]
  const below = blocks.flatMap(([one = [], other]) => (other === undefined ? one : []))
  return [...joinedPanels(left, right, { width, split, height: left.length }), ...below]
}

/** One panel, or two side by side. */
type Block = readonly (readonly Line[])[]

function even(one: readonly Line[], other: readonly Line[]): Block {
  const height = Math.max(one.length, other.length)
  const filled = (lines: readonly Line[]) => Array.from({ length: height }, (_, row) => lines[row] ?? [])
  return [filled(one), filled(other)]
}

/** The blocks that fit into `room` rows. The first is always kept. */
function fitting(blocks: readonly Block[], room: number): readonly Block[] {
  let used = 0
  return blocks.filter(([{ length } = []], i) => {
    if (i > 0 && used + length > room) return false
    used += length
    return true
  })
}

function sanctionLines({ sanctions, kept, now, view }: PanelsModel, width: number): Line[] {
  const { value } = sanctions
  if (value === undefined) return [rule(width, 'Sanctions list'), ...waitingLines(sanctions, width)]
  const checkedAt = time(value.last_checked)
  const isChecked = checkedAt !== undefined && now !== undefined
  const age = isChecked ? hoursOf(Math.max(0, now - checkedAt)) : ''
  const mark: Line = value.stale ? [warn(isChecked ? `! ${age} old` : '! not yet read')] : [good('✓ fresh')]
  const problem: Piece = value.last_status === 'ok' ? '' : bad(`  ${text(value.last_status)}`)
  return [
    rule(width, 'Sanctions list', mark),
    [
      dim(' checked    '),
      isChecked ? `${age} ago` : 'not yet',
      dim('   '),
      accent(keyFor('runCron', view.keys)),
      dim(' fetch now'),
    ],
    [dim(' published  '), text(value.ofac_publish_date) || 'not known', problem],
    [dim(' wallets    '), strong(count(value.total)), dim(`, ${count(value.manual_only)} of them by hand`)],
    [dim(' hit        '), ...hitWords(view.health.value, kept.value)],
  ]
}

function hoursOf(ms: number): string {
  const hours = Math.floor(ms / HOUR_MS)
  return hours >= 1 && hours < HOURS_UNTIL ? `${hours}h` : shortSpan(ms)
}

/** What the sanctions list caused: refused calls, and payouts that are kept back. */
function hitWords(health: HealthFacts | undefined, kept: Kept | undefined): Line {
  if (health === undefined || kept === undefined) return [dim('…')]
  const [, refused = 0] = health.refusals.find(([reason]) => reason === 'sanctioned') ?? []
  const payouts = `${count(kept.total)} ${kept.total === 1 ? 'payout' : 'payouts'} kept`
  return [`${count(refused)} refused in 24 h, `, kept.total === 0 ? payouts : warn(payouts)]
}

const REFUSED = 'Refused requests'

type Room = { readonly width: number; readonly most: number }

function refusedLines(refusals: NamedCounts, { width, most }: Room): Line[] {
  const sum = refusals.reduce((all, [, one]) => all + one, 0)
  const greatest = Math.max(1, ...refusals.map(([, one]) => one))
  const sorted = refusals.toSorted(([, a], [, b]) => b - a)
  const shown = sorted.length > most ? sorted.slice(0, most - 1) : sorted
  const rest = sorted.slice(shown.length)
  const row = (name: string, one: number, tail: Piece): Line =>
    placed(width, [
      [1, [name]],
      [width - BAR_COLUMNS - COUNT_COLUMNS - 3, [count(one).padStart(COUNT_COLUMNS), '  ', tail]],
    ])
  const others = rest.reduce((all, [, one]) => all + one, 0)
  return [
    rule(width, REFUSED, [dim(`${count(sum)} in 24 h`)]),
    ...(sum === 0 ? [[good(' ✓ '), 'nothing']] : []),
    ...shown.map(([name, one]) => row(name.replaceAll('_', ' '), one, warn(bar(one / greatest, BAR_COLUMNS)))),
    ...(rest.length === 0 ? [] : [row(`${rest.length} more reasons`, others, '')]),
  ]
}

function shelvedLines(shelved: HealthFacts['shelved'], width: number): Line[] {
  const sum = shelved.reduce((all, [, one]) => all + one, 0)
  const rows = shelved
    .toSorted(([, a], [, b]) => b - a)
    .map(([area, one, callers]): Line => {
      const named = namedWords(callers.map(([who, times]) => `${who} ${count(times)}`))
      return [` ${area.replaceAll('_', ' ').padEnd(20)}`, count(one).padStart(COUNT_COLUMNS), '  ', dim(named)]
    })
  return [rule(width, 'Calls to disabled areas', [dim(`${count(sum)} in 24 h`)]), ...rows]
}

const kinds: Readonly<Record<KeptFacts['kind'], string>> = {
  refund: 'refund',
  settlement: 'sales',
  splitter: 'fees',
  referral: 'referrals',
  withdrawal: 'withdrawal',
  cold: 'cold',
}

/** Payouts that are kept back: amount, owner, since when, and why. */
function keptLines({ kept, keptSum, now }: PanelsModel, width: number): Line[] {
  const { value } = kept
  if (value === undefined) return [rule(width, 'Kept back'), ...waitingLines(kept, width)]
  const sum: Line = keptSum === undefined ? [] : [strong(shownMoney(keptSum))]
  if (value.total === 0) return [rule(width, 'Kept back', sum), [good(' ✓ '), 'nothing: no payee is blocked']]
  const why = [...new Set(value.kept.map((one) => one.why))].filter((words) => words !== '')
  const looks = value.kept.flatMap((one) => time(one.next_attempt_at) ?? [])
  const next = looks.length === 0 || now === undefined ? undefined : Math.max(0, Math.min(...looks) - now)
  const more = value.total - value.kept.length
  return [
    rule(width, `Kept back ${count(value.total)}`, sum),
    ...value.kept.map((one) => keptLine(one, width)),
    ...why.map((words): Line => [dim(' why  '), words]),
    ...(next === undefined ? [] : [[dim(` next check in ${shortSpan(next)}`)]]),
    ...(more > 0 ? [[dim(` ${count(more)} more: souk admin payouts --filter blocked:true`)]] : []),
  ]
}

function keptLine({ wallet, amount, name, kind, created_at: since }: KeptFacts, width: number): Line {
  const [left, money] = [` ${shortAddress(wallet)} `, shownMoney(amount)]
  const what = `${kinds[kind]}, since ${monthDay(Date.parse(since))}`
  const room = width - widthOf(left) - widthOf(money) - widthOf(what) - 4
  const whose = name === '' || room < LEAST_NAME ? '' : `${clip(name, room)} `
  return [left, strong(money), `  ${whose}`, dim(what)]
}

/** Lists reads of private data, by administrators and by exports. The last line counts admin actions. */
function readLines({ reads, exports, view }: PanelsModel, width: number): Line[] {
  const { value } = reads
  const head = rule(width, 'Reads of private data', [dim('in 24 h')])
  if (value === undefined) return [head, ...waitingLines(reads, width)]
  const told = value.reads.reduce((all, { times }) => all + times, 0)
  return [
    head,
    ...[...value.reads, ...(exports.value ?? [])].map(readLine),
    ...(value.reads.length === 0 ? [[good(' ✓ '), 'no reads of private data']] : []),
    ...(told < value.total ? [[dim(` and ${count(value.total - told)} earlier reads`)]] : []),
    [
      ' admin acts'.padEnd(NAME_COLUMNS),
      count(value.acts).padStart(COUNT_COLUMNS),
      dim('  → '),
      accent(keyFor('palette', view.keys)),
      dim(' admin log'),
    ],
  ]
}

const NAME_COLUMNS = 19

function readLine({ what, times, who }: ReadFacts): Line {
  return [` ${what}`.padEnd(NAME_COLUMNS), count(times).padStart(COUNT_COLUMNS), dim(`  by ${namedWords(who)}`)]
}

/** The first few of the names, and the number of the others. */
function namedWords(all: readonly string[]): string {
  const rest = all.length - NAMED
  return [...all.slice(0, NAMED), ...(rest > 0 ? [`${rest} more`] : [])].join(', ')
}
