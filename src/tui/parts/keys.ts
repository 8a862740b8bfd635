import { tail, take, widthOf } from '../../text/text.ts'
import { accent, type Line } from './line.ts'

/** A key: a character, or `up`, `enter`, `ctrl-r`, … */
export type Key = string

/** Flags by which Ink marks special keys. */
export type KeyFlags = Readonly<
  Partial<
    Record<
      | 'upArrow'
      | 'downArrow'
      | 'leftArrow'
      | 'rightArrow'
      | 'pageUp'
      | 'pageDown'
      | 'home'
      | 'end'
      | 'return'
      | 'escape'
      | 'tab'
      | 'backspace'
      | 'delete'
      | 'shift'
      | 'ctrl'
      | 'meta',
      boolean
    >
  >
>

const named = [
  ['upArrow', 'up'],
  ['downArrow', 'down'],
  ['leftArrow', 'left'],
  ['rightArrow', 'right'],
  ['pageUp', 'pageup'],
  ['pageDown', 'pagedown'],
  ['home', 'home'],
  ['end', 'end'],
  ['return', 'enter'],
  ['escape', 'esc'],
  ['backspace', 'backspace'],
  ['delete', 'delete'],
] as const satisfies readonly (readonly [keyof KeyFlags, Key])[]

const CONTROLS_END = 0x20
const DELETE_CODE = 0x7f
/** A control character plus this offset is its letter: 1 is `a`. */
const CTRL_OFFSET = 0x60
const singles: Readonly<Record<string, Key>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\t': 'tab',
  '\b': 'backspace',
  '\u001B': 'esc',
  ' ': 'space',
  '\u001F': 'ctrl-_',
}

/** The keys in a chunk of input. A chunk has several if a key is held down or the connection is slow. */
export function keysOf(input: string, flags: KeyFlags): Key[] {
  // Terminals send alt-x as esc and x. No action uses alt, so these are read as two keys.
  if (flags.meta) return ['esc', ...keysOf(input, { ...flags, meta: false })]
  const name = named.find(([flag]) => flags[flag])?.[1]
  if (name !== undefined) return [name]
  if (flags.tab) return [flags.shift ? 'shift-tab' : 'tab']
  if (flags.ctrl) return input === '' ? [] : [`ctrl-${input === ' ' ? 'space' : input}`]
  return [...input].flatMap(keyOf)
}

function keyOf(char: string): Key[] {
  const single = singles[char]
  if (single !== undefined) return [single]
  const code = char.codePointAt(0) ?? 0
  if (code === DELETE_CODE) return ['backspace']
  return code < CONTROLS_END ? [`ctrl-${String.fromCharCode(code + CTRL_OFFSET)}`] : [char]
}

/** Ctrl keys that terminals send as another key. */
export const neverArrives: Readonly<Record<Key, Key>> = {
  'ctrl-h': 'backspace',
  'ctrl-i': 'tab',
  'ctrl-j': 'enter',
  'ctrl-m': 'enter',
}

/** Whether a terminal can send a key. */
export function pressable(key: Key): boolean {
  if (neverArrives[key] !== undefined) return false
  if (key === 'space' || key === 'tab' || key === 'shift-tab' || /^ctrl-[a-z]$/.test(key)) return true
  return named.some(([, name]) => name === key) || (/^[\p{L}\p{N}\p{P}\p{S}]$/u.test(key) && typed(key) !== undefined)
}

/** The text that a key types. Undefined for keys that type nothing. */
export function typed(key: Key): string | undefined {
  if (key === 'space') return ' '
  return [...key].length === 1 ? key : undefined
}

const shown: Readonly<Record<Key, string>> = {
  up: '↑',
  down: '↓',
  left: '←',
  right: '→',
  pageup: 'PgUp',
  pagedown: 'PgDn',
}

/** Name of a key as shown: `^R`, `PgUp`, `enter`. */
export function keyLabel(key: Key): string {
  const letter = /^ctrl-(\w)$/.exec(key)?.[1]
  return letter === undefined ? (shown[key] ?? key) : `^${letter.toUpperCase()}`
}

/** The cursor in an edited text, and the text's earlier versions for undo. */
export type Cursor = {
  /** Number of characters to the right of the cursor; 0 at the end of the text. */
  readonly after: number
  readonly undo: readonly string[]
}

export const atEnd: Cursor = { after: 0, undo: [] }

export type Written = { readonly text: string; readonly cursor: Cursor }

const UNDO_MAX = 100

/** The characters before the cursor and behind it. */
type Parts = readonly [before: readonly string[], after: readonly string[]]

const SPACES = /\s+$/u
const LAST_WORD = /\S+\s*$/u

/** Editing keys as in a shell. Some terminals send `delete` for backspace, so both keys delete backwards. */
const acts: Readonly<Record<Key, (before: readonly string[], after: readonly string[]) => Parts>> = {
  left: (before, after) => [before.slice(0, -1), [...before.slice(-1), ...after]],
  right: (before, after) => [[...before, ...after.slice(0, 1)], after.slice(1)],
  home: (before, after) => [[], [...before, ...after]],
  end: (before, after) => [[...before, ...after], []],
  backspace: (before, after) => [before.slice(0, -1), after],
  delete: (before, after) => [before.slice(0, -1), after],
  'ctrl-d': (before, after) => [before, after.slice(1)],
  'ctrl-k': (before) => [before, []],
  'ctrl-u': (_before, after) => [[], after],
  'ctrl-w': (before, after) => [[...before.join('').replace(SPACES, '').replace(LAST_WORD, '')], after],
}

const synonyms: Readonly<Record<Key, Key>> = { 'ctrl-a': 'home', 'ctrl-e': 'end', 'ctrl-b': 'left', 'ctrl-f': 'right' }

const partsOf = ({ text, cursor }: Written): Parts => {
  const chars = [...text]
  const at = chars.length - Math.min(cursor.after, chars.length)
  return [chars.slice(0, at), chars.slice(at)]
}

/** Applies one key to an edited text; keys that edit nothing leave it unchanged. */
export function edited(written: Written, key: Key, charsMax: number): Written {
  if (key === 'ctrl-_') return undone(written)
  const act = acts[synonyms[key] ?? key]
  if (act === undefined) return inserted(written, typed(key) ?? '', charsMax)
  const [before, after] = act(...partsOf(written))
  return changed(written, before, after)
}

/** Inserts typed or pasted text at the cursor, cut to `charsMax`. */
export function inserted(written: Written, text: string, charsMax: number): Written {
  const [before, after] = partsOf(written)
  const room = Math.max(0, charsMax - before.length - after.length)
  return changed(written, [...before, ...[...text].slice(0, room)], after)
}

function changed({ text, cursor }: Written, before: readonly string[], after: readonly string[]): Written {
  const next = [...before, ...after].join('')
  const undo = next === text ? cursor.undo : [...cursor.undo, text].slice(-UNDO_MAX)
  return { text: next, cursor: { after: after.length, undo } }
}

function undone(written: Written): Written {
  const { undo } = written.cursor
  const text = undo.at(-1)
  return text === undefined ? written : { text, cursor: { after: 0, undo: undo.slice(0, -1) } }
}

/** The text with its cursor, in at most `width` columns. A longer text is cut to the part around the cursor. */
export function writtenLine(written: Written, width: number): Line {
  const [before, after] = partsOf(written).map((part) => part.join(''))
  const room = Math.max(0, width - 1)
  const behind = take(after ?? '', Math.max(Math.floor(room / 2), room - widthOf(before ?? '')))
  return [tail(before ?? '', room - widthOf(behind)), accent('▏'), behind]
}
