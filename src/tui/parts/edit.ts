import { tail, take, widthOf } from '../../text/text.ts'
import { type Key, typed } from './keys.ts'
import { accent, type Line } from './line.ts'

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
