import { at } from '../../core/record.ts'
import { lex, type Token, unsupported } from './lex.ts'

/** Nesting limit. */
const DEPTH_MAX = 100

export type Binary = '+' | '-' | '*' | '/' | '%' | '==' | '!=' | '<' | '<=' | '>' | '>=' | 'and' | 'or' | '//'

export type FilterNode =
  | { readonly kind: 'identity' }
  | { readonly kind: 'recurse' }
  | { readonly kind: 'empty_array' }
  | { readonly kind: 'empty_object' }
  | { readonly kind: 'literal'; readonly value: string | number | boolean | null }
  | { readonly kind: 'text'; readonly parts: readonly (string | FilterNode)[] }
  | { readonly kind: 'index'; readonly of: FilterNode; readonly key: FilterNode }
  | {
      readonly kind: 'slice'
      readonly of: FilterNode
      readonly from: FilterNode | null
      readonly to: FilterNode | null
    }
  | { readonly kind: 'iterate'; readonly of: FilterNode }
  | { readonly kind: 'optional'; readonly of: FilterNode }
  | { readonly kind: 'array'; readonly of: FilterNode }
  | { readonly kind: 'negate'; readonly of: FilterNode }
  | { readonly kind: 'object'; readonly members: readonly (readonly [key: FilterNode, value: FilterNode])[] }
  | { readonly kind: 'pipe'; readonly left: FilterNode; readonly right: FilterNode }
  | { readonly kind: 'comma'; readonly left: FilterNode; readonly right: FilterNode }
  | { readonly kind: 'binary'; readonly operator: Binary; readonly left: FilterNode; readonly right: FilterNode }
  | { readonly kind: 'if'; readonly condition: FilterNode; readonly then: FilterNode; readonly otherwise: FilterNode }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly FilterNode[]; readonly at: number }
  | { readonly kind: 'format'; readonly name: string; readonly at: number }

type Reader = { readonly tokens: readonly Token[]; next: number; depth: number }

const identity: FilterNode = { kind: 'identity' }

/** Parses an expression. @throws CliError `usage` at the first unknown token */
export function parse(text: string): FilterNode {
  return parseTokens(lex(text), 0)
}

function parseTokens(tokens: readonly Token[], depth: number): FilterNode {
  const reader: Reader = { tokens, next: 0, depth }
  const node = pipe(reader)
  const rest = peek(reader)
  if (rest.kind !== 'end') throw unsupported(rest.text, rest.at)
  return node
}

function peek(reader: Reader): Token {
  return at(reader.tokens, Math.min(reader.next, reader.tokens.length - 1))
}

function is(reader: Reader, ...texts: readonly string[]): boolean {
  const token = peek(reader)
  return (token.kind === 'punctuation' || token.kind === 'name') && texts.includes(token.text)
}

function take(reader: Reader): Token {
  const token = peek(reader)
  reader.next += 1
  return token
}

function accept(reader: Reader, text: string): boolean {
  if (!is(reader, text)) return false
  reader.next += 1
  return true
}

function expect(reader: Reader, text: string): void {
  const token = peek(reader)
  if (!accept(reader, text)) throw unsupported(token.text, token.at)
}

function pipe(reader: Reader): FilterNode {
  reader.depth += 1
  if (reader.depth > DEPTH_MAX) throw unsupported(peek(reader).text, peek(reader).at)
  const left = comma(reader)
  const node: FilterNode = accept(reader, '|') ? { kind: 'pipe', left, right: pipe(reader) } : left
  reader.depth -= 1
  return node
}

function comma(reader: Reader): FilterNode {
  let left = binary(reader, 0)
  while (accept(reader, ',')) left = { kind: 'comma', left, right: binary(reader, 0) }
  return left
}

/** Loosest first. */
const levels: readonly { readonly operators: readonly Binary[]; readonly joins: 'left' | 'right' | 'never' }[] = [
  { operators: ['//'], joins: 'right' },
  { operators: ['or'], joins: 'left' },
  { operators: ['and'], joins: 'left' },
  { operators: ['==', '!=', '<', '<=', '>', '>='], joins: 'never' },
  { operators: ['+', '-'], joins: 'left' },
  { operators: ['*', '/', '%'], joins: 'left' },
]

function binary(reader: Reader, level: number): FilterNode {
  const rule = levels[level]
  if (rule === undefined) return accept(reader, '-') ? { kind: 'negate', of: postfix(reader) } : postfix(reader)
  let left = binary(reader, level + 1)
  while (is(reader, ...rule.operators)) {
    const operator = take(reader).text as Binary
    const right = binary(reader, rule.joins === 'right' ? level : level + 1)
    left = { kind: 'binary', operator, left, right }
    if (rule.joins === 'never') break
  }
  return left
}

function postfix(reader: Reader): FilterNode {
  let node = term(reader)
  for (;;) {
    const token = peek(reader)
    if (token.kind === 'field') {
      reader.next += 1
      node = fieldOf(node, token.text.slice(1))
    } else if (accept(reader, '?')) node = { kind: 'optional', of: node }
    else if (is(reader, '[')) node = bracket(reader, node)
    else if (is(reader, '.') && canFollowDot(reader)) {
      reader.next += 1
      node = afterDot(reader, node)
    } else return node
  }
}

function fieldOf(of: FilterNode, name: string): FilterNode {
  return { kind: 'index', of, key: { kind: 'literal', value: name } }
}

function canFollowDot(reader: Reader): boolean {
  const after = reader.tokens[reader.next + 1]
  return after?.kind === 'string' || (after?.kind === 'punctuation' && after.text === '[')
}

/** After a dot: `."name"`, `.[…]`. */
function afterDot(reader: Reader, of: FilterNode): FilterNode {
  const token = peek(reader)
  if (token.kind !== 'string') return bracket(reader, of)
  reader.next += 1
  return { kind: 'index', of, key: textNode(token.parts, reader.depth) }
}

function bracket(reader: Reader, of: FilterNode): FilterNode {
  expect(reader, '[')
  if (accept(reader, ']')) return { kind: 'iterate', of }
  if (accept(reader, ':')) {
    const to = pipe(reader)
    expect(reader, ']')
    return { kind: 'slice', of, from: null, to }
  }
  const key = pipe(reader)
  if (!accept(reader, ':')) {
    expect(reader, ']')
    return { kind: 'index', of, key }
  }
  const to = is(reader, ']') ? null : pipe(reader)
  expect(reader, ']')
  return { kind: 'slice', of, from: key, to }
}

function term(reader: Reader): FilterNode {
  const token = take(reader)
  switch (token.kind) {
    case 'number':
      return { kind: 'literal', value: token.value }
    case 'string':
      return textNode(token.parts, reader.depth)
    case 'field':
      return fieldOf(identity, token.text.slice(1))
    case 'format':
      return { kind: 'format', name: token.text, at: token.at }
    case 'name':
      return named(reader, token)
    case 'punctuation':
      return punctuated(reader, token)
    case 'end':
      throw unsupported('', token.at)
  }
}

function textNode(parts: readonly (string | readonly Token[])[], depth: number): FilterNode {
  if (parts.length === 1 && typeof parts[0] === 'string') return { kind: 'literal', value: parts[0] }
  return { kind: 'text', parts: parts.map((part) => (typeof part === 'string' ? part : parseTokens(part, depth))) }
}

function punctuated(reader: Reader, token: Token): FilterNode {
  switch (token.text) {
    case '.':
      return canFollow(reader) ? afterDot(reader, identity) : identity
    case '..':
      return { kind: 'recurse' }
    case '(': {
      const node = pipe(reader)
      expect(reader, ')')
      return node
    }
    case '[': {
      if (accept(reader, ']')) return { kind: 'empty_array' }
      const of = pipe(reader)
      expect(reader, ']')
      return { kind: 'array', of }
    }
    case '{':
      return object(reader)
    default:
      throw unsupported(token.text, token.at)
  }
}

function canFollow(reader: Reader): boolean {
  const token = peek(reader)
  return token.kind === 'string' || (token.kind === 'punctuation' && token.text === '[')
}

const constants: Readonly<Record<string, boolean | null>> = { true: true, false: false, null: null }
/** Unsupported keywords of jq. */
const RESERVED = [
  'as',
  'def',
  'reduce',
  'foreach',
  'try',
  'catch',
  'label',
  'import',
  'include',
  'then',
  'elif',
  'else',
  'end',
  'and',
  'or',
]

function named(reader: Reader, token: Token): FilterNode {
  const { text: name, at } = token
  if (Object.hasOwn(constants, name)) return { kind: 'literal', value: constants[name] ?? null }
  if (name === 'if') return conditional(reader)
  if (RESERVED.includes(name)) throw unsupported(name, at)
  if (!accept(reader, '(')) return { kind: 'call', name, args: [], at }
  const args = [pipe(reader)]
  while (accept(reader, ';')) args.push(pipe(reader))
  expect(reader, ')')
  return { kind: 'call', name, args, at }
}

function conditional(reader: Reader): FilterNode {
  const condition = pipe(reader)
  expect(reader, 'then')
  const then = pipe(reader)
  if (accept(reader, 'elif')) return { kind: 'if', condition, then, otherwise: conditional(reader) }
  const otherwise = accept(reader, 'else') ? pipe(reader) : identity
  expect(reader, 'end')
  return { kind: 'if', condition, then, otherwise }
}

function object(reader: Reader): FilterNode {
  if (accept(reader, '}')) return { kind: 'empty_object' }
  const members = [member(reader)]
  while (accept(reader, ',')) members.push(member(reader))
  expect(reader, '}')
  return { kind: 'object', members }
}

/** A member of an object: `a: …`, `"a": …`, `(…): …`, or `a` alone, which means `a: .a`. */
function member(reader: Reader): readonly [FilterNode, FilterNode] {
  const token = take(reader)
  const key = memberKey(reader, token)
  if (accept(reader, ':')) return [key, objectValue(reader)]
  if (token.kind === 'punctuation') throw unsupported(peek(reader).text, peek(reader).at)
  return [key, { kind: 'index', of: identity, key }]
}

function memberKey(reader: Reader, token: Token): FilterNode {
  if (token.kind === 'name') return { kind: 'literal', value: token.text }
  if (token.kind === 'string') return textNode(token.parts, reader.depth)
  if (token.text !== '(') throw unsupported(token.text, token.at)
  const key = pipe(reader)
  expect(reader, ')')
  return key
}

/** A value ends at a comma, but may contain pipes. */
function objectValue(reader: Reader): FilterNode {
  const left = binary(reader, 0)
  return accept(reader, '|') ? { kind: 'pipe', left, right: objectValue(reader) } : left
}
