// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is what this expression is for
const CONTROLS = /[\u0000-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069\uFDD0-\uFDEF\uFFFE\uFFFF]/g
const REPLACEMENT = '\uFFFD'

/** One line of foreign text, fit for a terminal: white space as blanks, control and direction characters and noncharacters replaced. */
export function safe(text: string): string {
  return text.toWellFormed().replace(/\s+/g, ' ').replace(CONTROLS, REPLACEMENT).trim()
}

const WIDE =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]|\p{Emoji_Presentation}/u
const ZERO = /\p{M}|[\u200B-\u200D]/u
/** Below this code every printable character takes one column. */
const FIRST_COMBINING = '\u0300'

function charWidth(char: string): number {
  if (char < FIRST_COMBINING) return 1
  if (ZERO.test(char)) return 0
  return WIDE.test(char) ? 2 : 1
}

/** Columns that a text takes on a terminal. */
export function widthOf(text: string): number {
  let width = 0
  for (const char of text) width += charWidth(char)
  return width
}

/** The beginning of a text that fits a width. */
export function take(text: string, width: number): string {
  let kept = ''
  let used = 0
  for (const char of text) {
    used += charWidth(char)
    if (used > width) break
    kept += char
  }
  return kept
}

/** Cuts a text to a width, the last column an ellipsis. */
export function clip(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  return width > 0 ? `${take(text, width - 1)}…` : ''
}

/** The end of a text that fits a width: what is typed stays in sight. */
export function tail(text: string, width: number): string {
  let kept = ''
  for (const char of [...text].reverse()) {
    if (widthOf(kept) + charWidth(char) > width) break
    kept = char + kept
  }
  return kept
}

export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}

export function padStart(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - widthOf(text))) + text
}

/** Breaks a text into lines of at most a width, between words where it can. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (widthOf(longer) <= width) {
      line = longer
      continue
    }
    if (line !== '') lines.push(line)
    line = clip(word, width)
  }
  return [...lines, line]
}

const MINUTE_S = 60
const HOUR_S = 60 * MINUTE_S
const DAY_S = 24 * HOUR_S

/** A span of milliseconds, two units at most: `41s`, `2h 10m`, `3d 4h`. */
export function span(ms: number): string {
  const total = Math.max(0, Math.floor(ms / 1_000))
  if (total < MINUTE_S) return `${total}s`
  if (total < HOUR_S) return units([Math.floor(total / MINUTE_S), 'm'], [total % MINUTE_S, 's'])
  if (total < DAY_S) return units([Math.floor(total / HOUR_S), 'h'], [Math.floor((total % HOUR_S) / MINUTE_S), 'm'])
  return units([Math.floor(total / DAY_S), 'd'], [Math.floor((total % DAY_S) / HOUR_S), 'h'])
}

/** A span in its largest unit alone: `41s`, `2h`, `3d`. */
export function shortSpan(ms: number): string {
  return span(ms).split(' ')[0] ?? ''
}

function units(...parts: readonly [number, string][]): string {
  return parts
    .filter(([count], i) => i === 0 || count > 0)
    .map(([count, unit]) => `${count}${unit}`)
    .join(' ')
}

/** `14:03:07` of an instant, UTC. */
export function clockTime(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19)
}

/** `2026-11-21 14:03` of an instant, UTC. */
export function dateTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace('T', ' ')
}

/** A whole number with its thousands apart: `4,120`. */
export function count(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** An address or id in the middle: `0x70c2…9f1a`. */
export function shortAddress(address: string): string {
  return address.length > 12 ? `${address.slice(0, 6)}…${address.slice(-4)}` : address
}
