import { type AppError, invalidField } from '../../src/core/error.ts'
import { MAX_JSON_DEPTH, MAX_JSON_VALUES } from '../../src/core/limits.ts'

/**
 * Refuses what JSON may hold and nothing behind it should have to: nesting deeper than a schema should walk, and text
 * that is no Unicode, which no file can keep. Iterative, so it cannot overflow.
 * @throws AppError 400 that names the member, or the body
 */
export function checkJson(document: unknown): void {
  let level: unknown[] = [document]
  for (let depth = 0; level.length > 0; depth++) {
    if (level.some(isIllFormed)) throw invalidField(pathOfIllFormed(document) ?? 'body', 'is not well-formed Unicode')
    const nested = level.filter(isNested)
    if (depth >= MAX_JSON_DEPTH && nested.length > 0) {
      throw invalidField('body', `is nested more than ${MAX_JSON_DEPTH} levels deep`)
    }
    level = nested.flatMap((node) => (Array.isArray(node) ? node : [...Object.keys(node), ...Object.values(node)]))
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** Every value but the first of its list or object follows a comma, the first an opening bracket. */
const BEFORE_A_VALUE: ReadonlySet<number> = new Set([0x2c, 0x5b, 0x7b])

/** Whether a text holds more values than anybody should have to parse: counted before it is, outside of strings. */
export function hasTooManyValues(text: Uint8Array): boolean {
  if (text.length <= MAX_JSON_VALUES) return false
  let values = 0
  for (let at = 0; at < text.length && values <= MAX_JSON_VALUES; at += 1) {
    const byte = text[at] as number
    if (byte === QUOTE) at = endOfText(text, at + 1)
    else if (BEFORE_A_VALUE.has(byte)) values += 1
  }
  return values > MAX_JSON_VALUES
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

export function tooManyValues(): AppError {
  return invalidField('body', `holds more than ${MAX_JSON_VALUES} values`)
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function isIllFormed(value: unknown): boolean {
  return typeof value === 'string' && !value.isWellFormed()
}

/** Looks no deeper than may be; undefined where the name of a member is at fault. */
function pathOfIllFormed(node: unknown, depth = 0): string | undefined {
  if (!isNested(node) || depth > MAX_JSON_DEPTH) return undefined
  for (const [name, value] of Object.entries(node)) {
    if (isIllFormed(value)) return name.toWellFormed()
    const below = pathOfIllFormed(value, depth + 1)
    if (below !== undefined) return `${name.toWellFormed()}.${below}`
  }
  return undefined
}
