import type { Outcome, Problem } from '../../client/link.ts'
import { safe } from '../../text/text.ts'
import { atEnd, type Cursor, edited, inserted, type Written } from '../parts/edit.ts'
import type { Key } from '../parts/keys.ts'
import type { Tone } from '../parts/palettes.ts'

const FIELD_CHARS_MAX = 500

export type Field = {
  readonly name: string
  readonly label: string
  /** It is one of these: chosen with the arrows, or by its first letter again and again, not typed. */
  readonly choices?: readonly string[]
  /** @returns what is wrong with the value beside the others, or undefined. */
  readonly check: (value: string, values: Values) => string | undefined
}

/** A field that must not stay empty, and what stands in the way until then. */
export function needed(field: Omit<Field, 'check'>, needs: string): Field {
  return { ...field, check: (value) => (value.trim() === '' ? `needs ${needs}` : undefined) }
}

export const reasonField = (label: string): Field => needed({ name: 'reason', label }, 'a reason')

export type Values = Readonly<Record<string, string>>

/** A change of data, before it is made: what it does, to whom, and the same as a shell command. */
export type DialogSpec = {
  readonly title: string
  /** Whom it is about, in one line, and the money that it is about: for many at once. */
  readonly about?: string
  readonly amount?: string
  /** Who acts, where that is not the administrator. */
  readonly as?: string
  /** Label and text, read anew for every frame: the counts are live. Where and as whom stands before them. */
  readonly facts: (values: Values) => readonly (readonly [label: string, text: string])[]
  readonly fields?: readonly Field[]
  /** Word on the button that does it. */
  readonly verb: string
  readonly command: (values: Values) => string
  /** Does it. @returns what to tell, or why it failed. */
  readonly send: (values: Values) => Promise<Outcome<Told>>
}

/** How it went: words where it went well; with a tone, and until esc, where the answer is none to be glad of. */
export type Told = string | { readonly text: string; readonly tone: Tone }

/** A change as it is asked about, with all its fields. */
export type OpenSpec = DialogSpec & Required<Pick<DialogSpec, 'fields'>>

export type Dialog = {
  readonly spec: OpenSpec
  readonly values: Values
  /** Index of a field; behind the fields Cancel, then the verb. */
  readonly focus: number
  /** Where in the field that has the focus the next key writes. */
  readonly cursor: Cursor
  readonly busy: boolean
  /** Why the last attempt failed. */
  readonly problem: Problem | undefined
}

/** The first field has the focus, or Cancel where there is none. */
export function openDialog(spec: OpenSpec): Dialog {
  const values = Object.fromEntries(spec.fields.map(({ name }) => [name, '']))
  return { spec, values, focus: 0, cursor: atEnd, busy: false, problem: undefined }
}

export const cancelAt = ({ spec }: Dialog): number => spec.fields.length
export const verbAt = ({ spec }: Dialog): number => spec.fields.length + 1

/** What still stands in the way of the verb; undefined when nothing does. */
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

/** One key in a dialog. While the request is under way, keys do nothing: its end is what tells how it went. */
export function dialogKey(dialog: Dialog, key: Key): DialogStep {
  if (dialog.busy) return { to: 'stay', dialog }
  if (key === 'esc') return { to: 'close' }
  if (key === 'tab' || key === 'down') return moved(dialog, 1)
  if (key === 'shift-tab' || key === 'up') return moved(dialog, -1)
  const field = dialog.spec.fields[dialog.focus]
  return field === undefined ? onButtons(dialog, key) : inField(dialog, field, key)
}

/** Text that was pasted, into the field that has the focus: it is never taken for keys. */
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
  const before = writtenIn(dialog, field)
  const after = field.choices
    ? { ...before, text: picked(field.choices, before.text, key) }
    : edited(before, key, FIELD_CHARS_MAX)
  return { to: 'stay', dialog: written(dialog, field.name, after) }
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
