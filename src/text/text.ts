/** Words that a shell needs no quotes for. `~` is safe only at the start. */
const PLAIN_WORD = /^~?[\w./:@%+,=\u2026-]+$/

/** A word quoted for a shell if needed. */
export function shellWord(word: string): string {
  return PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** Template tag: builds a shell command and quotes the interpolated words. */
export function shellLine(texts: TemplateStringsArray, ...words: readonly string[]): string {
  return texts.map((text, at) => text + (at < words.length ? shellWord(words[at] ?? '') : '')).join('')
}

// In texts, styles are Unicode noncharacters; `printable` turns them into escape sequences. So every real control
// character is untrusted and can be replaced.
const OFF = '\uFDD0'
const styles = { bold: '\uFDD1', dim: '\uFDD2', red: '\uFDD3', green: '\uFDD4', yellow: '\uFDD5', cyan: '\uFDD6' }
const sequences: Readonly<Record<string, string>> = {
  [OFF]: '\u001B[0m',
  [styles.bold]: '\u001B[1m',
  [styles.dim]: '\u001B[2m',
  [styles.red]: '\u001B[31m',
  [styles.green]: '\u001B[32m',
  [styles.yellow]: '\u001B[33m',
  [styles.cyan]: '\u001B[36m',
}

/** Palettes: `cb` uses blue and orange; `mono` uses only bold and underline. */
export const palettes = ['default', 'cb', 'mono'] as const
export type PaletteName = (typeof palettes)[number]

/** Styles in which a palette differs from `default`. */
const otherwise: Readonly<Record<PaletteName, Readonly<Record<string, string>>>> = {
  default: {},
  cb: { [styles.green]: '\u001B[94m', [styles.red]: '\u001B[38;5;208m' },
  mono: { [styles.red]: '\u001B[1m', [styles.green]: '', [styles.yellow]: '\u001B[1m', [styles.cyan]: '\u001B[4m' },
}

const mark = (style: keyof typeof styles) => (text: string) => (text === '' ? '' : styles[style] + text + OFF)
export const bold = mark('bold')
export const dim = mark('dim')
export const red = mark('red')
export const green = mark('green')
export const yellow = mark('yellow')
export const cyan = mark('cyan')

const MARKS = /[\uFDD0-\uFDEF\uFFFE\uFFFF]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is what this expression is for
const CONTROLS = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/g
const REPLACEMENT = '\uFFFD'

/** Replaces style markers in untrusted text. */
export function withoutMarks(text: string): string {
  return text.replace(MARKS, REPLACEMENT)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: - breaks are what has to be found
const LINE_BREAKS = /\r\n|[\n\r\u000B\u000C\u0085\u2028\u2029]/g
const BREAK_SIGN = '↵'

/** Untrusted text as one line. Line breaks become `↵`. */
export function harmless(text: string): string {
  return withoutMarks(text).replace(LINE_BREAKS, BREAK_SIGN)
}

/** Splits text from `harmless` into lines again. Callers must indent the lines that they show. */
export function linesOf(text: string): readonly string[] {
  return text.split(BREAK_SIGN)
}

/** Puts souk's own styled text on one line. Line breaks become `↵`. */
export function unbroken(text: string): string {
  return text.replace(LINE_BREAKS, BREAK_SIGN)
}

/** Text for a terminal: control characters replaced, styles applied or dropped. */
export function printable(text: string, palette?: PaletteName): string {
  const safe = text.replaceAll('\r\n', '\n').replace(CONTROLS, REPLACEMENT)
  const own = palette && otherwise[palette]
  return safe.replace(MARKS, (found) => (own === undefined ? '' : (own[found] ?? sequences[found] ?? '')))
}

/** Untrusted text as one line. Whitespace becomes single blanks. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** Makes untrusted text safe for a screen cell: one line, without control characters and style markers. */
export function safe(text: string): string {
  return text.toWellFormed().replace(/\s+/g, ' ').replace(CONTROLS, REPLACEMENT).replace(MARKS, REPLACEMENT).trim()
}

// C1 controls and direction marks, which JSON.stringify leaves as they are.
const JSON_UNSAFE = /[\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069\uFDD0-\uFDEF\uFFFE\uFFFF]/g

/** JSON text without raw control characters; bigint as decimal text. */
export function jsonText(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, (_key, member) => (typeof member === 'bigint' ? String(member) : member), indent)
  return (text ?? 'null').replace(JSON_UNSAFE, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const WIDE =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{17000}-\u{18DFF}\u{1B000}-\u{1B2FF}\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation}/u
/** Characters without width, including style markers. */
const ZERO = /\p{M}|[\u200B-\u200D\uFDD0-\uFDD6]/u
/** Common single-column characters. */
const NARROW = /^[ -~\u00A1-\u00AC\u00AE-\u02FF\u2010-\u2027\u2190-\u21FF\u2500-\u25FC\u2713\u2717]*$/
/** Every printable character below this one takes one column. */
const FIRST_COMBINING = '\u0300'

function charWidth(char: string): number {
  if (char < FIRST_COMBINING) return 1
  if (ZERO.test(char)) return 0
  return WIDE.test(char) ? 2 : 1
}

/** Whether every character takes one column, so that width equals length. */
export function isNarrow(text: string): boolean {
  return NARROW.test(text)
}

/** Width of a text in terminal columns. */
export function widthOf(text: string): number {
  if (isNarrow(text)) return text.length
  let width = 0
  for (const char of text) width += charWidth(char)
  return width
}

/** Longest prefix that fits into a width. */
export function take(text: string, width: number): string {
  if (isNarrow(text)) return text.slice(0, Math.max(0, width))
  let kept = ''
  let used = 0
  for (const char of text) {
    used += charWidth(char)
    if (used > width) break
    kept += char
  }
  return kept
}

/** Cuts a text to a width and marks the cut with an ellipsis. */
export function clip(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  return width > 0 ? `${take(text, width - 1)}…` : ''
}

/** Longest suffix that fits into a width. */
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

/** Wraps between words. A word longer than the width is truncated. */
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

const GAP = '  '
const BELOW = ' '.repeat(6)
/** Divisor of the width: a text stands beside its term if it gets at least a quarter of the width. */
const BESIDE_PARTS = 4

/** A term with its text at the right, or below if there is little room. U+00A0 keeps words together. */
export function hanging(term: string, text: string, width: number): string {
  const beside = width - term.length - GAP.length
  const longest = Math.max(...text.split(' ').map((word) => word.length))
  const isBeside = beside >= Math.min(text.length, Math.max(longest, width / BESIDE_PARTS))
  const indent = isBeside ? ' '.repeat(term.length + GAP.length) : BELOW
  const lines = wrap(text, width - indent.length).map((line, at) => (at === 0 && isBeside ? term + GAP : indent) + line)
  return (isBeside ? lines : [term.trimEnd(), ...lines]).join('\n').replaceAll('\u00A0', ' ')
}

/** Wraps a page of help. Text after two blanks is wrapped within its column. */
export function fitted(page: string, width: number): string {
  const lines = page.split('\n').map((line) => {
    if (line.length <= width) return line
    const [, term, text] = /^(\s*\S.*?)\s{2,}(\S.*)$/.exec(line) ?? []
    if (term === undefined || text === undefined) return wrap(line, width).join('\n')
    return hanging(line.slice(0, line.length - text.length - GAP.length), text, width)
  })
  return lines.join('\n')
}

const MINUTE_S = 60
const HOUR_S = 60 * MINUTE_S
const DAY_S = 24 * HOUR_S

/** A duration in at most two units: `41s`, `2h 10m`, `3d 4h`. */
export function span(ms: number): string {
  const total = Math.max(0, Math.floor(ms / 1_000))
  if (total < MINUTE_S) return `${total}s`
  if (total < HOUR_S) return parts([Math.floor(total / MINUTE_S), 'm'], [total % MINUTE_S, 's'])
  if (total < DAY_S) return parts([Math.floor(total / HOUR_S), 'h'], [Math.floor((total % HOUR_S) / MINUTE_S), 'm'])
  return parts([Math.floor(total / DAY_S), 'd'], [Math.floor((total % DAY_S) / HOUR_S), 'h'])
}

function parts(...units: readonly [number, string][]): string {
  return units
    .filter(([count], i) => i === 0 || count > 0)
    .map(([count, unit]) => `${count}${unit}`)
    .join(' ')
}

const DEADLINE_WHOLE_MS = 3 * 3_600_000

/** Time left: `1h 50m` below three hours, `2d` above. */
export function deadlineSpan(ms: number): string {
  return ms < DEADLINE_WHOLE_MS ? span(ms) : shortSpan(ms)
}

/** A duration in its largest unit: `41s`, `2h`, `3d`. */
export function shortSpan(ms: number): string {
  return span(ms).split(' ')[0] ?? ''
}

/** A difference such as `+18 %`; one decimal below 10. */
export function percentChange(percent: number): string {
  const size = Math.abs(percent)
  const shown = size < 10 && !Number.isInteger(size) ? size.toFixed(1) : count(Math.round(size))
  return `${percent > 0 ? '+' : ''}${percent < 0 ? '-' : ''}${shown} %`
}

/** A number with thousands separators: `4,120`. */
export function count(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** A shortened address: `0x70c2…9f1a`. */
export function shortAddress(address: string): string {
  return address.length > 12 ? `${address.slice(0, 6)}…${address.slice(-4)}` : address
}

const BYTES_PER_STEP = 1_024

/** `14.2 MB`. */
export function byteSize(bytes: number): string {
  const steps = ['B', 'kB', 'MB', 'GB']
  let size = bytes
  let step = 0
  while (size >= BYTES_PER_STEP && step < steps.length - 1) {
    size /= BYTES_PER_STEP
    step += 1
  }
  return `${step === 0 ? size : size.toFixed(1)} ${steps[step]}`
}

/** Optimal string alignment distance. */
export function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i += 1) rows.push(nextRow(a, b, { i, above: rows[i - 1] ?? [], before: rows[i - 2] }))
  return rows[a.length]?.[b.length] ?? 0
}

function nextRow(a: string, b: string, at: { i: number; above: number[]; before: number[] | undefined }): number[] {
  const { i, above, before } = at
  const row = [i]
  for (let j = 1; j <= b.length; j += 1) {
    const same = a[i - 1] === b[j - 1] ? 0 : 1
    const plain = Math.min((above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (above[j - 1] ?? 0) + same)
    const swapped = before !== undefined && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
    row.push(swapped ? Math.min(plain, (before[j - 2] ?? 0) + 1) : plain)
  }
  return row
}

const SUGGESTION_DISTANCE_MAX = 3

/** The most similar known word: at most 3 edits away, and at most two thirds of the longer word's length. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((name) => ({ name, edits: distance(word.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, edits }) => {
      return edits <= SUGGESTION_DISTANCE_MAX && edits * 3 <= Math.max(word.length, name.length) * 2
    })
    .sort((a, b) => a.edits - b.edits)
  return ranked[0]?.name
}

/** ` (did you mean NAME?)`; empty if no known word is similar. */
export function didYouMean(word: string, known: readonly string[]): string {
  const near = nearest(word, known)
  return near === undefined ? '' : ` (did you mean ${near}?)`
}

/** `saveDir` → `save-dir`. */
export function kebab(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** Symbols of the product, each with an ASCII replacement of equal width. */
const plainSigns: Readonly<Record<string, string>> = Object.fromEntries(
  [
    "●*○o‖H×x✓v✗X–-—-−-↩<▪v◆&─-│|═=║|╔+╗+╚+╝+┌+┐+└+┘+…~·.→}←{↑^↓V▲^▼V▏_▌>≠!’'↵\\",
    '━=╸-┃|┳+┣+┗+┻+┛+▸}╭+╮+╰+╯+┬+┼+┴+├+┤|▁.▂-▃:▄=▅+▆#▇#█#',
  ].flatMap((signs) => [...signs].flatMap((sign, i, all) => (i % 2 === 0 ? [[sign, all[i + 1] ?? '?']] : []))),
)
/** Characters without an ASCII form. Style markers and line breaks are kept. */
const NOT_ASCII = /[^\n\t\u0020-\u007E\uFDD0-\uFDEF]/gu

/**
 * ASCII form of equal width. Characters without a replacement become question marks. The keys `←→` are left out, since
 * `{}` would be other keys.
 */
export function inAscii(text: string): string {
  return text.replaceAll('←→', '  ').replace(NOT_ASCII, (char) => plainSigns[char] ?? '?'.repeat(widthOf(char)))
}

/** The first text that fits; empty if none does. */
export function firstThatFits(wishes: readonly string[], room: number): string {
  return wishes.find((words) => widthOf(words) <= room) ?? ''
}
