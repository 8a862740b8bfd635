/*
 * Indexed texts as PostgreSQL stores them. Its order is by code point and the engine's by UTF-16 unit, it has no NUL and
 * no lone surrogates, and it sorts null apart. So strings are mapped, in order and one to one; those without rare
 * characters stay as they are.
 */

/** Stands for null, before every text. */
export const NULL_TEXT = ''
const EMPTY_TEXT = '\u0001'
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are the characters that PostgreSQL lacks
const RARE = /[\u0000\u0001\uD800-\uFFFF]/
const FIRST_SURROGATE = 0xd800
const AFTER_SURROGATES = 0xe000
/** Surrogates move here, and the units after them behind. */
const MOVED_SURROGATES = 0xe000
const MOVED_REST = 0x10000

export function storedText(text: string | null): string {
  if (text === null) return NULL_TEXT
  if (text === '') return EMPTY_TEXT
  if (!RARE.test(text)) return text
  let stored = ''
  for (let at = 0; at < text.length; at += 1) stored += storedUnit(text.charCodeAt(at))
  return stored
}

function storedUnit(unit: number): string {
  if (unit < 2) return `\u0001${String.fromCharCode(unit + 1)}`
  if (unit < FIRST_SURROGATE) return String.fromCharCode(unit)
  if (unit < AFTER_SURROGATES) return String.fromCodePoint(MOVED_SURROGATES + unit - FIRST_SURROGATE)
  return String.fromCodePoint(MOVED_REST + unit - AFTER_SURROGATES)
}
