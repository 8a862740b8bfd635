/** A key by its name: a character as it is, or `up`, `enter`, `ctrl-r`, … */
export type Key = string

/** How Ink tells keys that are no characters. */
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
/** Ctrl and a letter arrive as the letter's place in the alphabet. */
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

/**
 * The keys in what arrived at once. A held key or a slow line delivers `jjj` as one piece: every character in it is
 * a key of its own, control characters in between included.
 */
export function keysOf(input: string, flags: KeyFlags): Key[] {
  // Esc and a key typed right after it look like alt and that key. No alt is bound: nothing that was typed gets lost.
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

/** Keys of ctrl that a terminal sends as another key. */
export const neverArrives: Readonly<Record<Key, Key>> = {
  'ctrl-h': 'backspace',
  'ctrl-i': 'tab',
  'ctrl-j': 'enter',
  'ctrl-m': 'enter',
}

/** Whether a key of this name can come from a terminal. */
export function pressable(key: Key): boolean {
  if (neverArrives[key] !== undefined) return false
  if (key === 'space' || key === 'tab' || key === 'shift-tab' || /^ctrl-[a-z]$/.test(key)) return true
  return named.some(([, name]) => name === key) || (/^[\p{L}\p{N}\p{P}\p{S}]$/u.test(key) && typed(key) !== undefined)
}

/** The text that a key types into a field; undefined for keys that type none. */
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

/** A key as help and key row name it: `^R`, `PgUp`, `enter`. */
export function keyLabel(key: Key): string {
  const letter = /^ctrl-(\w)$/.exec(key)?.[1]
  return letter === undefined ? (shown[key] ?? key) : `^${letter.toUpperCase()}`
}
