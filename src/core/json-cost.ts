import { MAX_JSON_DIGITS, MAX_JSON_VALUES } from './limits.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** Every value but the first of its list or object follows a comma, the first an opening bracket. */
const BEFORE_A_VALUE: ReadonlySet<number> = new Set([0x2c, 0x5b, 0x7b])
const ZERO = 0x30
const NINE = 0x39

/**
 * What a text of JSON holds that nobody should have to parse, looked for before it is parsed, outside of strings:
 * too many values, or a number of too many digits.
 */
export function costlyPart(text: Uint8Array, maxValues = MAX_JSON_VALUES): string | undefined {
  if (text.length <= maxValues) return undefined
  let values = 0
  for (let at = 0; at < text.length && values <= maxValues; at += 1) {
    const end = endOfPart(text, at)
    if (end - at >= MAX_JSON_DIGITS && text[at] !== QUOTE)
      return `holds a number of more than ${MAX_JSON_DIGITS} digits`
    if (BEFORE_A_VALUE.has(text[at] as number)) values += 1
    at = end
  }
  return values > maxValues ? `holds more than ${maxValues} values` : undefined
}

/** Where the last byte is of a text or a row of digits that begins somewhere; that place itself where none does. */
function endOfPart(text: Uint8Array, from: number): number {
  if (text[from] === QUOTE) return endOfText(text, from + 1)
  let end = from
  while (isDigit(text[end])) end += 1
  return Math.max(from, end - 1)
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE
}

/** Bytes of a text that are looked at one by one before its end is searched for: that costs more, and then is fast. */
const SHORT_TEXT_BYTES = 256

/** Where the quote is that ends a text, or the end of all. */
function endOfText(text: Uint8Array, from: number): number {
  for (let at = from; at < text.length; ) {
    at = walked(text, at)
    if (text[at] === QUOTE) return at
    const quote = text.indexOf(QUOTE, at)
    const end = quote < 0 ? text.length : quote
    if (!isEscaped(text, end, at)) return end
    at = end + 1
  }
  return text.length
}

/** Goes on inside of a text: to its end, or for as long as short ones are. */
function walked(text: Uint8Array, from: number): number {
  const end = Math.min(text.length, from + SHORT_TEXT_BYTES)
  let at = from
  while (at < end && text[at] !== QUOTE) at += text[at] === BACKSLASH ? 2 : 1
  return at
}

/** Whether an odd number of backslashes stands before a byte, none of them before `from`. */
function isEscaped(text: Uint8Array, at: number, from: number): boolean {
  let first = at
  while (first > from && text[first - 1] === BACKSLASH) first -= 1
  return (at - first) % 2 === 1
}
