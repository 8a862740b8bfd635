import { MAX_JSON_DIGITS, MAX_JSON_VALUES } from './limits.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** Bytes that precede a counted value: a comma and the opening brackets. */
const BEFORE_A_VALUE: ReadonlySet<number> = new Set([0x2c, 0x5b, 0x7b])
const ZERO = 0x30
const NINE = 0x39

/** Why a JSON text is too costly to parse: too many values, or a number with too many digits. Else undefined. */
export function costlyPart(text: Uint8Array, maxValues = MAX_JSON_VALUES): string | undefined {
  if (text.length <= maxValues) return undefined
  let values = 0
  for (let at = 0; at < text.length && values <= maxValues; at += 1) {
    const end = endOfPart(text, at)
    if (end - at >= MAX_JSON_DIGITS && text[at] !== QUOTE)
      return `contains a number of more than ${MAX_JSON_DIGITS} digits`
    if (BEFORE_A_VALUE.has(text[at] as number)) values += 1
    at = end
  }
  return values > maxValues ? `contains more than ${maxValues} values` : undefined
}

/** Index of the last byte of the string or number at `from`; `from` itself for any other byte. */
function endOfPart(text: Uint8Array, from: number): number {
  if (text[from] === QUOTE) return endOfText(text, from + 1)
  let end = from
  while (isDigit(text[end])) end += 1
  return Math.max(from, end - 1)
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE
}

/** Number of bytes to scan one by one before a native search, which is faster for long strings only. */
const SHORT_TEXT_BYTES = 256

/** Index of the closing quote; the length of the text if there is none. */
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

/** Index of the closing quote, or where the scan stops after `SHORT_TEXT_BYTES`. */
function walked(text: Uint8Array, from: number): number {
  const end = Math.min(text.length, from + SHORT_TEXT_BYTES)
  let at = from
  while (at < end && text[at] !== QUOTE) at += text[at] === BACKSLASH ? 2 : 1
  return at
}

/** Whether a byte is escaped: an odd number of backslashes, counted back to `from`, precedes it. */
function isEscaped(text: Uint8Array, at: number, from: number): boolean {
  let first = at
  while (first > from && text[first - 1] === BACKSLASH) first -= 1
  return (at - first) % 2 === 1
}
