import type { Outcome, Problem } from '../../client/link.ts'
import { safe } from '../../text/text.ts'
import { atEnd, type Cursor, edited, inserted, type Key, type Written } from '../parts/keys.ts'
import type { Line } from '../parts/line.ts'
import type { Tone } from '../parts/palettes.ts'

const FIELD_CHARS_MAX = 500

export type Field = {
  readonly name: string
  readonly label: string
  /** Choices of a field whose value is selected, not typed. Arrow keys or a first letter select one. */
  readonly choices?: readonly string[]
  /** Texts that say what a choice does; the first that fits is shown. If set, each choice has its own row. */
  readonly wordsOf?: (choice: string, values: Values) => readonly string[]
  /** @returns what is wrong with the value, undefined if nothing is */
  readonly check: (value: string, values: Values) => string | undefined
}

/** A field that must not be empty. `needs` completes its error message, such as `needs a reason`. */
export function needed(field: Omit<Field, 'check'>, needs: string): Field {
  return { ...field, check: (value) => (value.trim() === '' ? `needs ${needs}` : undefined) }
}

export const reasonField = (label: string): Field => needed({ name: 'reason', label }, 'a reason')

export type Values = Readonly<Record<string, string>>

/** What a decision rests on. `name` is the name of the query that fetches it. */
export type DialogEvidence = {
  readonly name: string
  readonly fetch: (signal: AbortSignal) => Promise<Outcome<(width: number) => readonly Line[]>>
}

/** A change that a dialog asks about, with the shell command that does the same. */
export type DialogSpec = {
  readonly title: string
  /** What is changed, in one line, for dialogs about several changes. */
  readonly about?: string
  readonly amount?: string
  /** Title of a dialog about one change (default: `title`). */
  readonly heading?: string
  /** Shown above the facts. The page keys scroll it. */
  readonly evidence?: DialogEvidence
  readonly next?: () => Promise<DialogSpec | undefined>
  /** The acting user (default: the administrator). */
  readonly as?: string
  /** Facts shown below the rows for marketplace and user. The facts depend on the typed values. */
  readonly facts: (values: Values) => readonly (readonly [label: string, text: string])[]
  readonly fields?: readonly Field[]
  /** Button text. */
  readonly verb: string
  readonly command: (values: Values) => string
  /** Makes the change. @returns a message, or the failure */
  readonly send: (values: Values) => Promise<Outcome<Told>>
}

/** Message after a change. A message with a tone reports trouble and stays until the user presses esc. */
export type Told = string | { readonly text: string; readonly tone: Tone }

/** A change whose dialog is open. */
export type OpenSpec = DialogSpec & Required<Pick<DialogSpec, 'fields'>>

export type Dialog = {
  readonly spec: OpenSpec
  readonly values: Values
  /** Index of the focus: the fields come first, then Cancel, then the button that confirms. */
  readonly focus: number
  /** Text cursor in the focused field. */
  readonly cursor: Cursor
  /** First visible line of the evidence. */
  readonly scroll: number
  readonly busy: boolean
  readonly problem: Problem | undefined
}

/** Opens a dialog with the focus on its first field, or on Cancel if the dialog has no field. */
export function openDialog(spec: OpenSpec): Dialog {
  const values = Object.fromEntries(spec.fields.map(({ name }) => [name, '']))
  return { spec, values, focus: 0, cursor: atEnd, scroll: 0, busy: false, problem: undefined }
}

export const cancelAt = ({ spec }: Dialog): number => spec.fields.length
export const verbAt = ({ spec }: Dialog): number => spec.fields.length + 1

/** Why the verb cannot be pressed yet: what the first faulty field needs. Undefined if all fields are valid. */
export function lockOf({ spec, values }: Dialog): string | undefined {
  for (const { name, check } of spec.fields) {
    const wrong = check(values[name] ?? '', values)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

export type DialogStep =
  | { readonly to: 'stay'; readonly dialog: Dialog }
  | { readonly to: 'close' }
  | { readonly to: 'send' }

/** Lines that a page key scrolls. */
const scrolls: Readonly<Partial<Record<Key, number>>> = { pageup: -5, pagedown: 5 }

/**
 * What a key does in a dialog. While a request runs, keys do nothing.
 * @param reach - how far the evidence scrolls, in lines
 */
export function dialogKey(dialog: Dialog, key: Key, reach = 0): DialogStep {
  if (dialog.busy) return { to: 'stay', dialog }
  const by = scrolls[key]
  if (by !== undefined) {
    return { to: 'stay', dialog: { ...dialog, scroll: Math.max(0, Math.min(dialog.scroll + by, reach)) } }
  }
  if (key === 'esc') return { to: 'close' }
  if (key === 'tab' || key === 'down') return moved(dialog, 1)
  if (key === 'shift-tab' || key === 'up') return moved(dialog, -1)
  const field = dialog.spec.fields[dialog.focus]
  return field === undefined ? onButtons(dialog, key) : inField(dialog, field, key)
}

export function dialogPaste(dialog: Dialog, text: string): Dialog {
  const field = dialog.spec.fields[dialog.focus]
  if (dialog.busy || field === undefined || field.choices) return dialog
  return written(dialog, field.name, inserted(writtenIn(dialog, field), safe(text), FIELD_CHARS_MAX))
}

function moved(dialog: Dialog, by: number): DialogStep {
  const places = verbAt(dialog) + 1
  return { to: 'stay', dialog: { ...dialog, cursor: atEnd, focus: (dialog.focus + by + places) % places } }
}

function inField(dialog: Dialog, field: Field, key: Key): DialogStep {
  if (key === 'enter') return moved(dialog, 1)
  const numbered = field.choices?.[Number(key) - 1]
  if (numbered !== undefined) return { to: 'stay', dialog: toNextNeeded(chosen(dialog, field, numbered)) }
  const before = writtenIn(dialog, field)
  const after = field.choices
    ? { ...before, text: picked(field.choices, before.text, key) }
    : edited(before, key, FIELD_CHARS_MAX)
  return { to: 'stay', dialog: written(dialog, field.name, after) }
}

const chosen = (dialog: Dialog, { name }: Field, text: string): Dialog => written(dialog, name, { text, cursor: atEnd })

/** Moves the focus to the first field that is not valid yet, or to Cancel if all are. */
function toNextNeeded(dialog: Dialog): Dialog {
  const { spec, values } = dialog
  const next = spec.fields.findIndex(({ name, check }) => check(values[name] ?? '', values) !== undefined)
  return { ...dialog, focus: next < 0 ? cancelAt(dialog) : next }
}

const writtenIn = ({ values, cursor }: Dialog, { name }: Field): Written => ({ text: values[name] ?? '', cursor })

function picked(choices: readonly string[], value: string, key: Key): string {
  const by = { right: 1, space: 1, left: -1 }[key]
  if (by === undefined) {
    const named = choices.filter((choice) => choice.startsWith(key))
    return named[(named.indexOf(value) + 1) % named.length] ?? value
  }
  const at = choices.indexOf(value) + by
  return choices.at(at % choices.length) ?? value
}

function written(dialog: Dialog, name: string, { text, cursor }: Written): Dialog {
  return { ...dialog, cursor, values: { ...dialog.values, [name]: text } }
}

function onButtons(dialog: Dialog, key: Key): DialogStep {
  if (key === 'n' || (key === 'enter' && dialog.focus === cancelAt(dialog))) return { to: 'close' }
  if (key === 'left' || key === 'right') {
    const focus = dialog.focus === cancelAt(dialog) ? verbAt(dialog) : cancelAt(dialog)
    return { to: 'stay', dialog: { ...dialog, focus } }
  }
  const meant = key === 'y' || (key === 'enter' && dialog.focus === verbAt(dialog))
  return meant && lockOf(dialog) === undefined ? { to: 'send' } : { to: 'stay', dialog }
}
