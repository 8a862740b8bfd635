import { type CliError, usage } from '../exit.ts'

const EXPRESSION_CHARS_MAX = 10_000

export type Token =
  | { readonly kind: 'name' | 'field' | 'format' | 'punctuation'; readonly text: string; readonly at: number }
  | { readonly kind: 'number'; readonly value: number; readonly text: string; readonly at: number }
  /** String with interpolation. Its parts alternate: for `"a\(.b)c"` they are `a`, the tokens of `.b`, and `c`. */
  | {
      readonly kind: 'string'
      readonly parts: readonly (string | readonly Token[])[]
      readonly text: string
      readonly at: number
    }
  | { readonly kind: 'end'; readonly text: string; readonly at: number }

/** The error for an unsupported part of an expression; `at` is its position. */
export function unsupported(text: string, at: number): CliError {
  const shown = text === '' ? 'the end of the expression' : `"${text}"`
  return usage(`--jq stops at ${shown}, character ${at + 1}: souk does not support this part of jq.`, {
    next: ['souk help formatting'],
  })
}

const PUNCTUATION = /\/\/|\.\.|==|!=|<=|>=|[.[\]{}(),:;|<>+\-*/%?]/y
const patterns: readonly (readonly [kind: 'name' | 'field' | 'format' | 'punctuation', pattern: RegExp])[] = [
  ['field', /\.[A-Za-z_]\w*/y],
  ['format', /@[a-z]\w*/y],
  ['name', /[A-Za-z_]\w*/y],
  ['punctuation', PUNCTUATION],
]
const NUMBER = /\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/** Tokens of an expression. @throws CliError `usage` at the first invalid character */
export function lex(text: string): readonly Token[] {
  if (text.length > EXPRESSION_CHARS_MAX) throw usage(`--jq takes at most ${EXPRESSION_CHARS_MAX} characters.`)
  const tokens: Token[] = []
  let at = skipBlanks(text, 0)
  while (at < text.length) {
    const { token, end } = text[at] === '"' ? readString(text, at) : readWord(text, at)
    tokens.push(token)
    at = skipBlanks(text, end)
  }
  return [...tokens, { kind: 'end', text: '', at: text.length }]
}

function skipBlanks(text: string, from: number): number {
  let at = from
  while (/\s/.test(text[at] ?? '')) at += 1
  return at
}

type Read = { token: Token; end: number }

function readWord(text: string, at: number): Read {
  const number = match(NUMBER, text, at)
  if (number !== undefined) {
    return { token: { kind: 'number', value: Number(number), text: number, at }, end: at + number.length }
  }
  for (const [kind, pattern] of patterns) {
    const found = match(pattern, text, at)
    if (found !== undefined) return { token: { kind, text: found, at }, end: at + found.length }
  }
  throw unsupported(text[at] ?? '', at)
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  '/': '/',
  '\\': '\\',
  '"': '"',
}
const UNICODE_DIGITS = 4

function readString(text: string, start: number): Read {
  const parts: (string | readonly Token[])[] = []
  let literal = ''
  let at = start + 1
  while (text[at] !== '"') {
    if (at >= text.length) throw unsupported(text.slice(start), start)
    if (text[at] !== '\\') {
      literal += text[at]
      at += 1
      continue
    }
    const escaped = readEscape(text, at)
    if (typeof escaped.value === 'string') literal += escaped.value
    else {
      parts.push(literal, escaped.value)
      literal = ''
    }
    at = escaped.end
  }
  const end = at + 1
  return { token: { kind: 'string', parts: [...parts, literal], text: text.slice(start, end), at: start }, end }
}

function readEscape(text: string, at: number): { value: string | readonly Token[]; end: number } {
  const letter = text[at + 1] ?? ''
  if (letter === '(') {
    const end = closing(text, at + 1)
    // The padding gives the tokens their positions in the whole expression.
    return { value: lex(' '.repeat(at + 2) + text.slice(at + 2, end)), end: end + 1 }
  }
  const plain = ESCAPES[letter]
  if (plain !== undefined) return { value: plain, end: at + 2 }
  const digits = text.slice(at + 2, at + 2 + UNICODE_DIGITS)
  if (letter !== 'u' || !/^[0-9a-fA-F]{4}$/.test(digits)) throw unsupported(`\\${letter}`, at)
  return { value: String.fromCharCode(Number.parseInt(digits, 16)), end: at + 2 + UNICODE_DIGITS }
}

function closing(text: string, open: number): number {
  let depth = 0
  for (let at = open; at < text.length; at += 1) {
    if (text[at] === '(') depth += 1
    if (text[at] === ')') depth -= 1
    if (depth === 0) return at
  }
  throw unsupported(text.slice(open), open)
}
