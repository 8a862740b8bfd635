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
