import type { Place } from '../client/link.ts'
import { clip, clockTime, padEnd, span, tail, take, widthOf, wrap } from '../text/text.ts'
import {
  accent,
  bad,
  blank,
  dim,
  good,
  type Line,
  lineWidth,
  type Piece,
  rule,
  sized,
  spread,
  strong,
  textOf,
  warn,
} from './parts/line.ts'
import { tabs } from './screens.ts'
import { bindingsOn, groups, hintsOn, keysLabel, type Where } from './shell/bindings.ts'
import { cancelAt, type Dialog, lockOf, verbAt } from './shell/dialog.ts'
import { problemLines, staleness } from './shell/notice.ts'
import { NARROW_COLUMNS, type ScreenArea, type View, WIDE_COLUMNS } from './shell/screen.ts'
import type { Ui } from './shell/ui.ts'

export const LEAST_COLUMNS = 60
export const LEAST_ROWS = 18
/** Header, tabs and rule above the body; rule, message and keys below it. */
const ROWS_ABOVE = 3
const ROWS_BELOW = 3

export type Size = { readonly columns: number; readonly rows: number }

export type FrameView = View & {
  readonly place: Place
  readonly refreshMs: number
  readonly readonly: boolean
}

/** What is left for the screen. */
export function bodyArea({ columns, rows }: Size): ScreenArea {
  return { width: columns, height: Math.max(0, rows - ROWS_ABOVE - ROWS_BELOW) }
}

export function isTooSmall({ columns, rows }: Size): boolean {
  return columns < LEAST_COLUMNS || rows < LEAST_ROWS
}

/** Exactly as many rows as asked for: cut, or filled with empty ones. */
export function toHeight(lines: readonly Line[], height: number): Line[] {
  return Array.from({ length: height }, (_, i) => lines[i] ?? blank)
}

export function linesAbove(view: FrameView, { columns }: Size): Line[] {
  return [headerLine(view, columns), tabLine(view.ui, columns), rule(columns)]
}

export function linesBelow(view: FrameView, { columns }: Size): Line[] {
  return [rule(columns), messageLine(view, columns), keyLine(view, columns)]
}

function headerLine(view: FrameView, width: number): Line {
  const { place, where, readonly, now } = view
  const actor = where === undefined || where.admin ? 'admin' : 'no admin key'
  const left: Line = [
    ' ',
    strong('souk'),
    `  ${place.name}  ${actor}${readonly ? ' (read-only)' : ''}  `,
    ...stateWords(view),
  ]
  return spread(width, left, [...refreshWords(view), `  ${clockTime(now)} UTC `])
}

/** What is known of the instance's state; what is not is said, never assumed. */
function stateWords({ health, now }: FrameView): Line {
  const stale = staleness(health, now)
  if (health.problem?.kind === 'gone') {
    const since = health.at === undefined ? '' : ` for ${span(now - health.at)}`
    return [bad(`✗ not reached${since}`)]
  }
  if (stale !== undefined) return [warn(`! ${stale}`)]
  if (health.value === undefined) return health.problem ? [bad('✗ unreadable')] : [dim('asking…')]
  if (!health.value.paused) return [good('● live')]
  const { pausedAt } = health.value
  return [warn(`‖ PAUSED${pausedAt === undefined ? '' : ` since ${clockTime(pausedAt).slice(0, 5)}`}`)]
}

const MS_PER_SECOND = 1_000

function refreshWords({ health, ui, now, refreshMs }: FrameView): Line {
  if (ui.frozen) return [warn('‖ frozen')]
  // The time shown is up to a second old; a wait is never longer than the whole of it.
  const leftMs = Math.min(health.nextAt === undefined ? 0 : Math.max(0, health.nextAt - now), refreshMs)
  return [dim(`⟳ ${span(refreshMs)}  next ${Math.ceil(leftMs / MS_PER_SECOND)}s`)]
}

function tabLine({ screen: current }: Ui, width: number): Line {
  const titles = (long: boolean): Line => [
    ' ',
    ...tabs.map(({ id, digit, title, short }): Piece => {
      const name = `${digit} ${long ? title : short}`
      return id === current ? strong(`[${name}]`) : dim(` ${name} `)
    }),
  ]
  const long: Line = titles(width >= WIDE_COLUMNS)
  if (width >= NARROW_COLUMNS) return sized(long, width)
  const narrow = titles(false)
  return sized(
    lineWidth(narrow) <= width ? narrow : [strong(`[${tabs.find(({ id }) => id === current)?.title ?? ''}]`)],
    width,
  )
}

const SAME_AS_COLUMNS = 10

function messageLine({ ui, health }: FrameView, width: number): Line {
  if (ui.dialog) return [dim(' same as: '), clip(ui.dialog.spec.command(ui.dialog.values), width - SAME_AS_COLUMNS)]
  if (ui.toast) return [{ text: ` ${ui.toast.text}`, tone: ui.toast.tone }]
  if (health.problem === undefined) return blank
  const [next] = health.problem.next
  return [bad(` ✗ ${health.problem.sentence}`), ...(next === undefined ? [] : ['  → ', accent(next)])]
}

function keyLine({ ui, readonly, health }: FrameView, width: number): Line {
  if (ui.dialog) return hintLine(dialogHints(ui.dialog), width)
  if (ui.help)
    return hintLine(
      [
        { key: 'esc', word: 'close' },
        { key: 'any other key', word: 'does what it says' },
      ],
      width,
    )
  if (ui.typing)
    return hintLine(
      [
        { key: 'enter', word: 'keep the filter' },
        { key: 'esc', word: 'clear it' },
      ],
      width,
    )
  const paused = health.value?.paused === true
  const { left, right } = hintsOn({ screen: ui.screen, readonly, paused })
  return spread(width, hintLine(left, width - lineWidth(hintLine(right, width)) - 2), [...hintLine(right, width), ' '])
}

function dialogHints({ busy, focus, spec }: Dialog): { key: string; word: string }[] {
  if (busy) return [{ key: '…', word: 'waiting for the answer' }]
  const yes = focus >= spec.fields.length ? [{ key: 'y', word: spec.verb.toLowerCase() }] : []
  return [{ key: 'tab', word: 'next field' }, ...yes, { key: 'esc', word: 'cancel' }]
}

/** As many hints as fit, whole ones only. */
function hintLine(hints: readonly { readonly key: string; readonly word: string }[], width: number): Line {
  let line: Line = []
  for (const { key, word } of hints) {
    const longer: Line = [...line, line.length === 0 ? ' ' : '  ', accent(key), ` ${word}`]
    if (lineWidth(longer) > width) break
    line = longer
  }
  return line
}

const BOX_COLUMNS_MAX = 76
const BOX_MARGIN = 4

/** The dialog in the middle of an otherwise empty body. Where it is too low, facts give way, never fields or buttons. */
export function dialogLines(dialog: Dialog, area: ScreenArea): Line[] {
  const width = Math.min(BOX_COLUMNS_MAX, area.width - BOX_MARGIN)
  const inner = width - 4
  const facts = factLines(dialog, inner)
  const problem = dialog.problem === undefined ? [] : [...problemLines(dialog.problem, inner), blank]
  const fields = dialog.spec.fields.flatMap((_, i) => fieldLines(dialog, i, inner))
  const height = area.height - 2
  const whole = [...facts, blank, ...fields, ...problem, buttonLine(dialog)]
  const content = whole.length <= height ? whole : squeezed({ facts, fields, problem, dialog, height })
  return boxed({ title: dialog.spec.title, content, width, indent: Math.floor((area.width - width) / 2) })
}

function factLines({ spec, values }: Dialog, width: number): Line[] {
  const facts = spec.facts(values)
  const label = Math.max(...facts.map(([name]) => widthOf(name))) + 2
  return facts.flatMap(([name, value]) =>
    wrap(value, width - label).map((text, i): Line => [dim(padEnd(i === 0 ? name : '', label)), text]),
  )
}

type Parts = {
  readonly facts: readonly Line[]
  readonly fields: readonly Line[]
  readonly problem: readonly Line[]
  readonly dialog: Dialog
  readonly height: number
}

function squeezed({ facts, fields, problem, dialog, height }: Parts): Line[] {
  const filled = (lines: readonly Line[]) => lines.filter((line) => textOf(line).trim() !== '')
  const below = [...filled(fields), ...filled(problem).slice(0, 1), buttonLine(dialog)]
  return [...filled(facts).slice(0, Math.max(0, height - below.length)), ...below]
}

function fieldLines({ spec, values, focus, busy }: Dialog, at: number, width: number): Line[] {
  const field = spec.fields[at]
  if (field === undefined) return []
  const here = focus === at && !busy
  const value = tail(values[field.name] ?? '', width - 4)
  if (field.choices) {
    const pieces = field.choices.map((choice) => (choice === value ? strong(` [${choice}]`) : dim(`  ${choice} `)))
    return [[field.label], [here ? accent('>') : dim('>'), ...pieces, here ? dim('   ← →') : ''], blank]
  }
  return [[field.label], [here ? accent('> ') : dim('> '), value, here ? accent('▏') : ''], blank]
}

function buttonLine(dialog: Dialog): Line {
  const { spec, focus, busy } = dialog
  if (busy) return [warn(`${spec.verb}: waiting for the answer…`)]
  const lock = lockOf(dialog)
  const button = (text: string, at: number): Piece => (focus === at ? strong(`[>${text}<]`) : dim(`[ ${text} ]`))
  const verb = lock === undefined ? `${spec.verb}  y` : `${spec.verb} – ${lock}`
  return ['  ', button('Cancel  esc', cancelAt(dialog)), '    ', button(verb, verbAt(dialog))]
}

type Box = {
  readonly title: string
  readonly content: readonly Line[]
  readonly width: number
  readonly indent: number
}

function boxed({ title, content, width, indent }: Box): Line[] {
  const margin = ' '.repeat(indent)
  const bar = '═'.repeat(Math.max(0, width - widthOf(title) - 5))
  return [
    [margin, dim('╔═ '), strong(title), dim(` ${bar}╗`)],
    ...content.map((line): Line => [margin, dim('║ '), ...sized(line, width - 4), dim(' ║')]),
    [margin, dim(`╚${'═'.repeat(width - 2)}╝`)],
  ]
}

const HELP_COLUMNS = { group: 6, keys: 11 } as const

/** The keys that hold on the screen behind it, by what they are for. */
export function helpLines(where: Where, title: string, area: ScreenArea): Line[] {
  const width = Math.min(BOX_COLUMNS_MAX, area.width - BOX_MARGIN)
  // In a narrow window the labels need the room more than the groups do.
  const group = area.width < NARROW_COLUMNS ? 0 : HELP_COLUMNS.group
  const valid = bindingsOn(where)
  const rows = groups.flatMap((name) =>
    valid
      .filter((binding) => binding.group === name)
      .map(
        (binding, i): Line => [
          accent(take(padEnd(i === 0 ? name : '', group), group)),
          padEnd(keysLabel(binding), HELP_COLUMNS.keys),
          binding.label,
        ],
      ),
  )
  // Where it is too low, the keys that every program has go first.
  const height = Math.max(0, area.height - 2)
  const listed = twoColumns(rows.slice(-2 * height), width - 4)
  const note: Line[] = listed.length < height ? [[dim('A capital letter changes data and asks first.')]] : []
  const content = [...listed, ...note]
  return boxed({ title: `Keys for ${title}`, content, width, indent: Math.floor((area.width - width) / 2) })
}

function twoColumns(lines: readonly Line[], width: number): Line[] {
  const half = Math.ceil(lines.length / 2)
  const column = Math.floor((width - 1) / 2)
  return Array.from({ length: half }, (_, i) => [
    ...sized(lines[i] ?? blank, column),
    ' ',
    ...sized(lines[half + i] ?? blank, column),
  ])
}

/** Below the least size: how the instance is, and how large the window must be. */
export function cardLines(view: FrameView, { columns, rows }: Size, attention: number | undefined): Line[] {
  const lines: Line[] = [
    [' ', strong('souk'), ` ${view.place.name}`],
    [' ', ...stateWords(view)],
    attention === undefined ? blank : [` needs attention: ${attention}`],
    [dim(` enlarge to ${LEAST_COLUMNS}x${LEAST_ROWS}`)],
    [dim(' q quits')],
  ]
  return toHeight(lines, rows).map((line) => sized(line, columns))
}
