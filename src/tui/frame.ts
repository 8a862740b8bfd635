import { clip, count, firstThatFits, padEnd, tail, take, widthOf, wrap } from '../text/text.ts'
import { clockTime } from '../text/time.ts'
import { listsPlaces } from './elsewhere.ts'
import { headerLine, hintLine, stateWords, tabLine } from './header.ts'
import { briefNeed } from './overview/inbox.ts'
import { writtenLine } from './parts/keys.ts'
import {
  accent,
  bad,
  blank,
  dim,
  good,
  grounded,
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
import { shownMoney } from './parts/river.ts'
import { type Pick, pickerLines } from './picker.ts'
import { bindingsOn, groups, hintsOn, keyFor, keysLabel, type Where } from './shell/bindings.ts'
import { cancelAt, type Dialog, type Field, lockOf, type Values, verbAt } from './shell/dialog.ts'
import type { River } from './shell/figures.ts'
import { problemLines } from './shell/notice.ts'
import { type FrameView, NARROW_COLUMNS, type ScreenArea, type Size } from './shell/screen.ts'
import type { Picker } from './shell/ui.ts'

export const LEAST_COLUMNS = 60
export const LEAST_ROWS = 18
/** Header and tabs. */
const ROWS_ABOVE = 2
const ROWS_BELOW = 1

export function bodyArea({ columns, rows }: Size): ScreenArea {
  return { width: columns, height: Math.max(0, rows - ROWS_ABOVE - ROWS_BELOW) }
}

export function isTooSmall({ columns, rows }: Size): boolean {
  return columns < LEAST_COLUMNS || rows < LEAST_ROWS
}

export function toHeight(lines: readonly Line[], height: number): Line[] {
  return Array.from({ length: height }, (_, i) => lines[i] ?? blank)
}

export function linesAbove(view: FrameView, size: Size): Line[] {
  return [headerLine(view, size), tabLine(view, size)]
}

export function linesBelow(view: FrameView, { columns }: Size): Line[] {
  return [grounded(sized(keyLine(view, columns), columns), 'bar')]
}

/** Draws the message over the last rows of the body. */
export function withMessage(lines: readonly Line[], view: FrameView, problem?: string): Line[] {
  const { width, height } = view.area
  const message = messageLines(view, width, problem)
  const shown = toHeight(lines, height)
  return [...shown.slice(0, height - message.length), ...message.map((line) => sized(line, width))]
}

/** Where dialogs and pickers are drawn: above the message. */
export function floatArea(view: FrameView, problem?: string): ScreenArea {
  const { width, height } = view.area
  return { width, height: Math.max(1, height - messageLines(view, width, problem).length) }
}

const MESSAGE_ROWS_MAX = 3

/** Wraps a message. Rows beyond the limit are replaced by an ellipsis. */
function wrapped(text: string, width: number): readonly string[] {
  const rows = wrap(text, Math.max(1, width))
  return rows.length <= MESSAGE_ROWS_MAX ? rows : [...rows.slice(0, MESSAGE_ROWS_MAX - 1), '…']
}

const SAME_AS_COLUMNS = 10

/** The last result or problem. If there is neither, the fault in the filter. */
function messageLines(view: FrameView, width: number, problem?: string): Line[] {
  const said = saidLines(view, width)
  return said.length === 0 && problem !== undefined ? [[warn(` ! ${problem}`)]] : said
}

function saidLines({ ui, health }: FrameView, width: number): Line[] {
  if (ui.dialog && !ui.toast)
    return wrapped(ui.dialog.spec.command(ui.dialog.values), width - SAME_AS_COLUMNS).map((text, i) => [
      dim(i === 0 ? ' same as  ' : ' '.repeat(SAME_AS_COLUMNS)),
      text,
    ])
  if (ui.toast) {
    const { text, tone } = ui.toast
    // Two blanks separate the parts of a message. Wrapping loses them, so only long texts are wrapped.
    const rows = widthOf(text) < width ? [text] : wrapped(text, width - 1)
    return rows.map((row) => [{ text: ` ${row}`, tone }])
  }
  if (health.problem === undefined || health.value === undefined) return []
  const [next] = health.problem.next
  return [[bad(` ✗ ${health.problem.sentence}`), ...(next === undefined ? [] : ['  → ', accent(next)])]]
}

function keyLine({ ui, readonly, health, keys, place, where, hints: own }: FrameView, width: number): Line {
  if (ui.dialog) return hintLine(dialogHints(ui.dialog), width)
  if (ui.picker) return hintLine(hintsOf(pickerHints[ui.picker.kind]), width)
  if (ui.typing) return hintLine(hintsOf({ enter: 'keep the filter', esc: 'clear it' }), width)
  if (health.problem?.kind === 'gone' && !readonly && !place.guarded) {
    const { right } = hintsOn({ screen: ui.screen, readonly, keys })
    const hints = [
      { key: keyFor('start', keys), word: 'start it' },
      { key: keyFor('refresh', keys), word: 'try now' },
      { key: '9', word: 'last logs' },
    ]
    return spread(width, hintLine(hints, width), [...hintLine(right, width), ' '])
  }
  const paused = health.value?.paused === true
  const { left, right } = hintsOn({ screen: ui.screen, readonly, paused, keys, admin: where?.admin, hints: own })
  return spread(width, hintLine(left, width - lineWidth(hintLine(right, width)) - 2), [...hintLine(right, width), ' '])
}

/** What each key does in a picker. */
const pickerHints = {
  palette: { enter: 'does it', tab: 'complete', arrows: 'choose', esc: 'close' },
  columns: { enter: 'show or hide', arrows: 'choose', esc: 'close' },
  output: { '^S enter': 'save, open record', esc: 'close' },
  card: { enter: 'open', tab: 'the other party', esc: 'close' },
  save: { enter: 'saves it', arrows: 'choose', esc: 'close' },
  putOff: { enter: 'snoozes it', arrows: 'choose', esc: 'close' },
  help: { type: 'to search', arrows: 'choose', enter: 'does it', esc: 'close' },
} as const

const hintsOf = (words: Readonly<Record<string, string>>) => Object.entries(words).map(([key, word]) => ({ key, word }))

function dialogHints({ busy, focus, spec }: Dialog): { key: string; word: string }[] {
  if (busy) return [{ key: '…', word: 'waiting for the answer' }]
  const yes = focus >= spec.fields.length ? [{ key: 'y', word: spec.verb.toLowerCase() }] : []
  const copies = focus >= spec.fields.length ? [{ key: 'c', word: 'copy command' }] : []
  const many = spec.fields[focus]?.choices?.length
  const picks = many === undefined ? [] : [{ key: `1-${many}`, word: 'pick' }]
  const reads = spec.evidence === undefined ? [] : [{ key: 'PgDn', word: 'read on' }]
  return [...picks, ...reads, { key: 'tab', word: 'next field' }, ...yes, ...copies, { key: 'esc', word: 'cancel' }]
}

const BOX_COLUMNS_MAX = 76
const EVIDENCE_COLUMNS_MAX = 96
const BOX_MARGIN = 4

/** A drawn dialog. `reach`: number of lines by which the `evidence` in it can scroll. */
type DialogBox = { readonly lines: readonly Line[]; readonly reach: number }

/** Draws a dialog. If rows are scarce, drops facts, but never fields or buttons. Evidence scrolls. */
export function dialogBox(dialog: Dialog, area: ScreenArea, evidence: (width: number) => readonly Line[]): DialogBox {
  const { spec } = dialog
  const width = Math.min(spec.evidence ? EVIDENCE_COLUMNS_MAX : BOX_COLUMNS_MAX, area.width - BOX_MARGIN)
  const inner = width - 4
  const facts = factLines(dialog, inner)
  const problem = dialog.problem === undefined ? [] : [...problemLines(dialog.problem, inner), blank]
  const fields = spec.fields.flatMap((_, i) => fieldLines(dialog, i, inner))
  const height = area.height - 2
  const whole = [...facts, blank, ...fields, ...problem, buttonLine(dialog)]
  const title = firstThatFits([spec.heading ?? spec.title], width - 6) || spec.title
  if (spec.evidence === undefined) {
    const content = whole.length <= height ? whole : squeezed({ facts, fields, problem, dialog, height })
    return { lines: boxed({ title, content, width }), reach: 0 }
  }
  const below = [...fields, ...problem.slice(0, 1), buttonLine(dialog)]
  const all = [...evidence(inner), blank, ...facts]
  const room = Math.max(1, height - below.length - 1)
  const reach = Math.max(0, all.length - room)
  const from = Math.min(dialog.scroll, reach)
  const place = reach === 0 ? [] : [dim(`${count(from + 1)}-${count(from + room)} of ${count(all.length)}  PgUp PgDn`)]
  const content = [...all.slice(from, from + room), rule(inner, '', place), ...below]
  return { lines: boxed({ title, content, width }), reach }
}

const CHOICE_COLUMNS = 14
/** Columns of a value that stands beside its label. */
const VALUE_COLUMNS = 16

function factLines({ spec, values }: Dialog, width: number): Line[] {
  const facts = spec.facts(values)
  const label = Math.max(...facts.map(([name]) => widthOf(name))) + 2
  return facts.flatMap(([name, value]) =>
    wrap(value, width - label).map((text, i): Line => [dim(padEnd(i === 0 ? name : '', label)), text]),
  )
}

type DialogLines = {
  readonly facts: readonly Line[]
  readonly fields: readonly Line[]
  readonly problem: readonly Line[]
  readonly dialog: Dialog
  readonly height: number
}

function squeezed({ facts, fields, problem, dialog, height }: DialogLines): Line[] {
  const filled = (lines: readonly Line[]) => lines.filter((line) => textOf(line).trim() !== '')
  const below = [...filled(fields), ...filled(problem).slice(0, 1), buttonLine(dialog)]
  return [...filled(facts).slice(0, Math.max(0, height - below.length)), ...below]
}

function fieldLines(dialog: Dialog, at: number, width: number): Line[] {
  const { spec, values, focus, cursor, busy } = dialog
  const field = spec.fields[at]
  if (field === undefined) return []
  const here = focus === at && !busy
  const value = values[field.name] ?? ''
  if (field.choices) return choiceLines(field, { here, values, width })
  const written = (room: number) => (here ? writtenLine({ text: value, cursor }, room) : [tail(value, room - 2)])
  if (spec.evidence === undefined)
    return [[field.label], [here ? accent('> ') : dim('> '), ...written(width - 2)], blank]
  const head = ` ${clip(field.label, width - VALUE_COLUMNS)} > `
  return [[here ? accent(head) : dim(head), ...written(width - widthOf(head))]]
}

type ShownField = { readonly here: boolean; readonly values: Values; readonly width: number }

function choiceLines({ name, label, choices = [], wordsOf }: Field, { here, values, width }: ShownField): Line[] {
  const toned = here ? accent : dim
  const shown = (choice: string) => (choice === values[name] ? strong(` [${choice}]`) : dim(`  ${choice} `))
  if (wordsOf === undefined) return [[label], [toned('>'), ...choices.map(shown), here ? dim('   ← →') : ''], blank]
  return choices.map((choice, i): Line => {
    const words = firstThatFits(wordsOf(choice, values), width - CHOICE_COLUMNS)
    return [...sized([toned(` ${i + 1}`), shown(choice)], CHOICE_COLUMNS), words]
  })
}

function buttonLine(dialog: Dialog): Line {
  const { spec, focus, busy } = dialog
  if (busy) return [warn(`${spec.verb}: waiting for the answer…`)]
  const lock = lockOf(dialog)
  const button = (text: string, at: number): Piece => (focus === at ? strong(`[>${text} ]`) : dim(`[ ${text} ]`))
  const verb = lock === undefined ? `${spec.verb}  y` : `${spec.verb} – ${lock}`
  return ['  ', button('Cancel  esc', cancelAt(dialog)), '    ', button(verb, verbAt(dialog))]
}

type Box = { readonly title: string; readonly content: readonly Line[]; readonly width: number }

function boxed({ title, content, width }: Box): Line[] {
  const head = clip(title, width - 6)
  const bar = '─'.repeat(Math.max(0, width - widthOf(head) - 5))
  return [
    [dim('╭─ '), strong(head), dim(` ${bar}╮`)],
    ...content.map((line): Line => [dim('│ '), ...sized(line, width - 4), dim(' │')]),
    [dim(`╰${'─'.repeat(width - 2)}╯`)],
  ]
}

/** Draws a picker: the typed text, and the choices below it. */
export function pickerBox(picker: Picker, picks: readonly Pick[], area: ScreenArea): Line[] {
  const width = Math.min(PICKER_COLUMNS_MAX, area.width - BOX_MARGIN)
  const height = Math.min(area.height, Math.max(PICKER_ROWS_LEAST, Math.ceil(area.height * PICKER_SHARE))) - 2
  const lines = pickerLines(picker, picks, { width: width - 4, height: Math.max(1, height) })
  // The box keeps its height, so the typed text does not move as choices disappear. Marketplaces are few.
  const isSearch = ['palette', 'help', 'output'].includes(picker.kind) && !listsPlaces(picker)
  return boxed({
    title: picker.title ?? titles[picker.kind],
    content: isSearch ? toHeight(lines, height) : lines,
    width,
  })
}

const titles = {
  ...{ palette: 'Go or do', help: 'Keys', columns: 'Columns', putOff: 'Snooze', output: 'Output', card: 'Person' },
  save: 'Save this screen',
} as const
const PICKER_COLUMNS_MAX = 96
/** Share of the body's height that a picker takes, but at least `PICKER_ROWS_LEAST` rows. */
const PICKER_SHARE = 0.7
const PICKER_ROWS_LEAST = 14

const HELP_COLUMNS = { group: 6, keys: 11 } as const

type Help = { readonly where: Where; readonly title: string /** Rows scrolled down. */; readonly at: number }

/** Draws the keys of a screen, grouped by purpose and scrolled by `at` rows. */
export function helpBox({ where, title, at }: Help, area: ScreenArea): Line[] {
  const width = Math.min(BOX_COLUMNS_MAX, area.width - BOX_MARGIN)
  // Narrow windows have no room for group names.
  const isNarrow = area.width < NARROW_COLUMNS
  const columns = isNarrow ? 1 : 2
  // Leaves room for the typed text above and, if possible, a note below.
  const height = Math.max(1, area.height - 3)
  const count = bindingsOn(where).length
  const isWhole = count <= columns * height
  const room = isWhole ? count : columns * (height - 1)
  const from = Math.min(columns * at, Math.max(0, count - room))
  // If not all keys fit, the groups are in reverse order, so that the movement keys come last.
  const rows = helpRows(where, {
    order: isWhole ? groups : groups.toReversed(),
    group: isNarrow ? 0 : HELP_COLUMNS.group,
  })
  const listed = inColumns(rows.slice(from, from + room), { columns, width: width - 4 })
  const note = isWhole
    ? 'A capital letter changes data and asks first.'
    : `${from + 1}–${from + room} of ${count}, arrows move`
  const search: Line = [accent('?'), accent('▏'), dim('type to search')]
  const content = [search, ...listed, ...(listed.length < height ? [[dim(note)]] : [])]
  return boxed({ title: `Keys for ${title}`, content, width })
}

type HelpForm = { readonly order: readonly (typeof groups)[number][]; readonly group: number }

function helpRows(where: Where, { order, group }: HelpForm): Line[] {
  const valid = bindingsOn(where)
  return order.flatMap((name) =>
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
}

function inColumns(lines: readonly Line[], { columns, width }: { columns: 1 | 2; width: number }): Line[] {
  if (columns === 1) return lines.map((line) => sized(line, width))
  const half = Math.ceil(lines.length / 2)
  const column = Math.floor((width - 1) / 2)
  return Array.from({ length: half }, (_, i) => [
    ...sized(lines[i] ?? blank, column),
    ' ',
    ...sized(lines[half + i] ?? blank, column),
  ])
}

/** Shown in windows that are too small: state, most serious problem, and the size needed. */
export function cardLines(view: FrameView, river: River | undefined, { columns, rows }: Size): Line[] {
  const { value } = view.needs
  const [gravest] = value?.items ?? []
  const waits = value === undefined ? blank : waitingLine(value.total)
  const lines: Line[] = [
    [' ', strong('souk'), '  ', ...stateWords(view), `  ${clockTime(view.now)}`],
    waits,
    gravest === undefined ? blank : [' ', ...briefNeed(gravest, columns - 2)],
    ...(river === undefined ? [] : dayLines(river)),
    [dim(` enlarge to ${LEAST_COLUMNS}x${LEAST_ROWS}`)],
    [accent(` ${keyFor('quit', view.keys)}`), ' quit'],
  ]
  return toHeight(lines, rows).map((line) => sized(line, columns))
}

/** Today's money. */
function dayLines({ paid_in: paid, held, agrees }: River): Line[] {
  const books = agrees ? good('books agree') : bad('✗ books do not agree')
  return [
    [' ', strong(shownMoney(paid)), ' in today'],
    [' ', strong(shownMoney(held)), ' held, ', books],
  ]
}

function waitingLine(total: number): Line {
  return total === 0 ? [good(' ✓ no problems')] : [warn(` ! ${total} open problems`)]
}
