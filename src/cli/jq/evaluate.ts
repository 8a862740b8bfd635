import { isObject, type Json, parseJson } from '../../core/json.ts'
import { csvText } from '../../text/columns.ts'
import { jsonText } from '../../text/text.ts'
import { usage } from '../exit.ts'
import { arithmetic, type FilterCall, functions } from './functions.ts'
import { unsupported } from './lex.ts'
import type { FilterNode } from './parse.ts'
import { parse } from './parse.ts'
import { compare, equal, isArray, JqError, objectFrom, shown, truthy, typeOf } from './values.ts'

const RESULTS_MAX = 1_000_000

/** Results of an expression. @throws JqError for a wrong type */
export function evaluate(node: FilterNode, input: Json): Json[] {
  const results: Json[] = []
  for (const result of run(node, input)) {
    if (results.length >= RESULTS_MAX) throw new JqError(`more than ${RESULTS_MAX} results`)
    results.push(result)
  }
  return results
}

/** Checks names before the evaluation. @throws CliError `usage` for an unknown function or format */
export function checkNames(node: FilterNode): void {
  if (node.kind === 'call' && functions[`${node.name}/${node.args.length}`] === undefined) {
    throw unsupported(node.args.length > 0 ? `${node.name}(` : node.name, node.at)
  }
  if (node.kind === 'format' && formats[node.name] === undefined) throw unsupported(node.name, node.at)
  for (const inner of innerNodes(node)) checkNames(inner)
}

function innerNodes(node: FilterNode): readonly FilterNode[] {
  const members: readonly unknown[] = Object.values(node)
  return members
    .flat(2)
    .filter((member): member is FilterNode => typeof member === 'object' && member !== null && 'kind' in member)
}

function* run(node: FilterNode, input: Json): Generator<Json> {
  switch (node.kind) {
    case 'identity':
      yield input
      return
    case 'literal':
      yield node.value
      return
    case 'pipe':
      for (const value of run(node.left, input)) yield* run(node.right, value)
      return
    case 'comma':
      yield* run(node.left, input)
      yield* run(node.right, input)
      return
    case 'call':
      yield* call(node, input)
      return
    case 'if':
      for (const condition of run(node.condition, input))
        yield* run(truthy(condition) ? node.then : node.otherwise, input)
      return
    case 'optional':
      yield* attempt(node.of, input)
      return
    default:
      yield* isPath(node) ? path(node, input) : build(node, input)
  }
}

type PathNode = Extract<FilterNode, { kind: 'index' | 'slice' | 'iterate' | 'recurse' }>

function isPath(node: FilterNode): node is PathNode {
  return ['index', 'slice', 'iterate', 'recurse'].includes(node.kind)
}

function* path(node: PathNode, input: Json): Generator<Json> {
  if (node.kind === 'recurse') {
    yield* descend(input)
    return
  }
  for (const value of run(node.of, input)) yield* step(node, value, input)
}

function* step(node: Exclude<PathNode, { kind: 'recurse' }>, value: Json, input: Json): Generator<Json> {
  if (node.kind === 'iterate') yield* elementsOf(value)
  else if (node.kind === 'index') for (const key of run(node.key, input)) yield at(value, key)
  else for (const [from, to] of bounds(node, input)) yield slice(value, from, to)
}

function* bounds(node: Extract<FilterNode, { kind: 'slice' }>, input: Json): Generator<[Json, Json]> {
  for (const from of node.from ? run(node.from, input) : [null]) {
    for (const to of node.to ? run(node.to, input) : [null]) yield [from, to]
  }
}

type Built = Exclude<
  FilterNode,
  PathNode | { kind: 'identity' | 'literal' | 'pipe' | 'comma' | 'call' | 'if' | 'optional' }
>

function* build(node: Built, input: Json): Generator<Json> {
  switch (node.kind) {
    case 'empty_array':
      yield []
      return
    case 'empty_object':
      yield {}
      return
    case 'array':
      yield [...run(node.of, input)]
      return
    case 'object':
      yield* objects(node.members, input)
      return
    case 'text':
      yield* texts(node.parts, input)
      return
    case 'format':
      yield formats[node.name]?.(input) ?? null
      return
    case 'negate':
      for (const value of run(node.of, input)) yield arithmetic('-', 0, value)
      return
    case 'binary':
      yield* binary(node, input)
      return
    default:
      node satisfies never
  }
}

function* attempt(node: FilterNode, input: Json): Generator<Json> {
  try {
    yield* run(node, input)
  } catch (error) {
    if (!(error instanceof JqError)) throw error
  }
}

function* call(node: Extract<FilterNode, { kind: 'call' }>, input: Json): Generator<Json> {
  const known = functions[`${node.name}/${node.args.length}`]
  if (known === undefined) throw unsupported(node.name, node.at)
  const args: FilterCall[] = node.args.map((arg) => (value: Json) => run(arg, value))
  yield* known(input, args)
}

const comparisons: Readonly<Record<string, (a: Json, b: Json) => boolean>> = {
  '==': equal,
  '!=': (a, b) => !equal(a, b),
  '<': (a, b) => compare(a, b) < 0,
  '<=': (a, b) => compare(a, b) <= 0,
  '>': (a, b) => compare(a, b) > 0,
  '>=': (a, b) => compare(a, b) >= 0,
}

function* binary({ operator, left, right }: Extract<FilterNode, { kind: 'binary' }>, input: Json): Generator<Json> {
  if (operator === '//') {
    yield* alternative(left, right, input)
    return
  }
  if (operator === 'and' || operator === 'or') {
    yield* logical(operator, { left, right }, input)
    return
  }
  const decide = comparisons[operator]
  for (const b of run(right, input)) {
    for (const a of run(left, input)) yield decide ? decide(a, b) : arithmetic(operator as '+', a, b)
  }
}

function* logical(
  operator: 'and' | 'or',
  { left, right }: { left: FilterNode; right: FilterNode },
  input: Json,
): Generator<Json> {
  for (const a of run(left, input)) {
    if (truthy(a) === (operator === 'or')) yield operator === 'or'
    else for (const b of run(right, input)) yield truthy(b)
  }
}

function* alternative(left: FilterNode, right: FilterNode, input: Json): Generator<Json> {
  const found = [...attempt(left, input)].filter(truthy)
  yield* found.length > 0 ? found : run(right, input)
}

function* objects(members: readonly (readonly [FilterNode, FilterNode])[], input: Json): Generator<Json> {
  const [first, ...rest] = members
  if (first === undefined) {
    yield {}
    return
  }
  for (const key of run(first[0], input)) {
    if (typeof key !== 'string') throw new JqError(`Object keys must be strings, not ${shown(key)}`)
    for (const value of run(first[1], input)) {
      for (const others of objects(rest, input)) yield objectFrom([[key, value], ...Object.entries(others as object)])
    }
  }
}

function* texts(parts: readonly (string | FilterNode)[], input: Json): Generator<Json> {
  const [first, ...rest] = parts
  if (first === undefined) {
    yield ''
    return
  }
  for (const value of typeof first === 'string' ? [first] : run(first, input)) {
    for (const others of texts(rest, input)) yield (typeof value === 'string' ? value : JSON.stringify(value)) + others
  }
}

function* elementsOf(value: Json): Generator<Json> {
  if (isArray(value)) yield* value
  else if (isObject(value)) yield* Object.values(value)
  else throw new JqError(`Cannot iterate over ${shown(value)}`)
}

function* descend(value: Json): Generator<Json> {
  yield value
  if (isArray(value)) for (const element of value) yield* descend(element)
  else if (isObject(value)) for (const element of Object.values(value)) yield* descend(element)
}

function at(value: Json, key: Json): Json {
  if (value === null && (typeof key === 'string' || typeof key === 'number')) return null
  if (isObject(value) && typeof key === 'string') return Object.hasOwn(value, key) ? (value[key] ?? null) : null
  if (isArray(value) && typeof key === 'number') return value.at(Math.floor(key)) ?? null
  throw new JqError(`Cannot index ${typeOf(value)} with ${typeof key === 'string' ? `"${key}"` : typeOf(key)}`)
}

function slice(value: Json, from: Json, to: Json): Json {
  if (value === null) return null
  const isNumber = (bound: Json) => bound === null || typeof bound === 'number'
  if (!(isArray(value) || typeof value === 'string') || !isNumber(from) || !isNumber(to)) {
    throw new JqError(`Cannot slice ${shown(value)}`)
  }
  return value.slice(Number(from ?? 0), to === null ? undefined : Number(to))
}

const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

function cells(value: Json, cell: (one: Json) => string): string[] {
  if (!isArray(value)) throw new JqError(`${shown(value)} is not a list, so it cannot be a row`)
  return value.map((one) => {
    if (isArray(one) || isObject(one)) throw new JqError(`${shown(one)} is a list or an object, so it cannot be a cell`)
    return one === null ? '' : cell(one)
  })
}

function tsvCell(value: Json): string {
  return String(value).replace(/[\\\t\n\r]/g, (found) => ESCAPED[found] ?? found)
}

/** Formats such as `@tsv`. */
const formats: Readonly<Record<string, (value: Json) => string>> = {
  '@tsv': (value) => cells(value, tsvCell).join('\t'),
  '@csv': (value) => cells(value, (one) => (typeof one === 'string' ? csvText(one) : String(one))).join(','),
  '@json': (value) => JSON.stringify(value),
  '@text': (value) => (typeof value === 'string' ? value : JSON.stringify(value)),
}

/**
 * Filters a value by a jq subset (`souk help formatting`).
 * @throws CliError `usage` for an unsupported part, with its position, and for a wrong type
 */
export function runJq(expression: string, value: unknown): readonly Json[] {
  const node = parse(expression)
  checkNames(node)
  try {
    return evaluate(node, parseJson(jsonText(value)))
  } catch (error) {
    if (error instanceof JqError) throw usage(`--jq: ${error.message}.`, { cause: error })
    throw error
  }
}
