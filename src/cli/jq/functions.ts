import { isObject, type Json } from '../../core/json.ts'
import { compare, equal, isArray, JqError, objectFrom, shown, truthy, typeOf } from './values.ts'

type Operator = '+' | '-' | '*' | '/' | '%'

const numbers: Readonly<Record<Operator, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => Math.trunc(a) % Math.trunc(b),
}

/** jq arithmetic: numbers, and `+`, `-`, `/` on strings, arrays and objects. */
export function arithmetic(operator: Operator, a: Json, b: Json): Json {
  if (typeof a === 'number' && typeof b === 'number') return onNumbers(operator, a, b)
  const result = operator === '+' ? sum(a, b) : other(operator, a, b)
  if (result !== undefined) return result
  throw new JqError(`${shown(a)} and ${shown(b)} cannot be combined by ${operator}`)
}

function onNumbers(operator: Operator, a: number, b: number): number {
  if ((operator === '/' || operator === '%') && Math.trunc(b) === 0 && (operator === '%' || b === 0)) {
    throw new JqError(`${a} cannot be divided by zero`)
  }
  return numbers[operator](a, b)
}

function sum(a: Json, b: Json): Json | undefined {
  if (a === null) return b
  if (b === null) return a
  if (typeof a === 'string' && typeof b === 'string') return a + b
  if (isArray(a) && isArray(b)) return [...a, ...b]
  return isObject(a) && isObject(b) ? objectFrom([...Object.entries(a), ...Object.entries(b)]) : undefined
}

function other(operator: Operator, a: Json, b: Json): Json | undefined {
  if (operator === '-' && isArray(a) && isArray(b)) return a.filter((one) => !b.some((gone) => equal(one, gone)))
  if (operator === '/' && typeof a === 'string' && typeof b === 'string') return a.split(b)
  return undefined
}

/** An unevaluated argument. */
export type FilterCall = (value: Json) => Iterable<Json>
type Implementation = (input: Json, args: readonly FilterCall[]) => Iterable<Json>

const RANGE_MAX = 100_000

function list(value: Json): readonly Json[] {
  if (isArray(value)) return value
  throw new JqError(`${shown(value)} is not a list`)
}

function record(value: Json): { readonly [name: string]: Json } {
  if (isObject(value)) return value
  throw new JqError(`${shown(value)} is not an object`)
}

function text(value: Json): string {
  if (typeof value === 'string') return value
  throw new JqError(`${shown(value)} is not text`)
}

function elements(value: Json): readonly Json[] {
  return isObject(value) ? Object.values(value) : list(value)
}

/** A function without arguments. */
const plain =
  (of: (input: Json) => Json): Implementation =>
  (input) => [of(input)]
/** A function of the input and each result of its argument. */
const with1 = (of: (input: Json, arg: Json) => Json): Implementation =>
  function* (input, [arg]) {
    for (const value of arg?.(input) ?? []) yield of(input, value)
  }
/** The key by which an element is sorted or grouped. */
const keyOf = (arg: FilterCall | undefined, element: Json): Json => [...(arg?.(element) ?? [])]
const byKey = (input: Json, arg: FilterCall | undefined) =>
  list(input)
    .map((element) => ({ element, key: keyOf(arg, element) }))
    .sort((a, b) => compare(a.key, b.key))

function groups(input: Json, arg: FilterCall | undefined): Json[][] {
  const found: { key: Json; members: Json[] }[] = []
  for (const { element, key } of byKey(input, arg)) {
    const last = found.at(-1)
    if (last && equal(last.key, key)) last.members.push(element)
    else found.push({ key, members: [element] })
  }
  return found.map(({ members }) => members)
}

const identity: FilterCall = (value) => [value]
const extreme = (input: Json, sign: 1 | -1, arg: FilterCall = identity): Json => {
  const sorted = byKey(input, arg)
  return (sign === 1 ? sorted.at(-1) : sorted[0])?.element ?? null
}

function length(value: Json): Json {
  if (value === null) return 0
  if (typeof value === 'string') return [...value].length
  if (typeof value === 'number') return Math.abs(value)
  if (typeof value === 'boolean') throw new JqError(`${shown(value)} has no length`)
  return isArray(value) ? value.length : Object.keys(value).length
}

function contains(value: Json, part: Json): boolean {
  if (typeof value === 'string' && typeof part === 'string') return value.includes(part)
  if (isArray(value) && isArray(part)) return part.every((one) => value.some((other) => contains(other, one)))
  if (isObject(value) && isObject(part)) {
    return Object.entries(part).every(([name, one]) => Object.hasOwn(value, name) && contains(value[name] ?? null, one))
  }
  return equal(value, part)
}

function test(value: Json, pattern: Json, flags = ''): boolean {
  const known = flags.replaceAll('x', '')
  try {
    return new RegExp(text(pattern), known).test(text(value))
  } catch (error) {
    if (error instanceof SyntaxError) throw new JqError(`${shown(pattern)} is not a regular expression`)
    throw error
  }
}

function tonumber(value: Json): Json {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof number !== 'number' || Number.isNaN(number)) throw new JqError(`${shown(value)} is not a number`)
  return number
}

function toEntries(value: Json): Json {
  return Object.entries(record(value)).map(([key, one]) => ({ key, value: one }))
}

function fromEntries(value: Json): Json {
  return objectFrom(
    list(value).map((entry) => {
      const { key, name, k, value: given, v } = record(entry)
      const named = key ?? name ?? k ?? null
      return [typeof named === 'string' ? named : JSON.stringify(named), given ?? v ?? null] as const
    }),
  )
}

function flatten(value: Json, depth: number): Json[] {
  return list(value).flatMap((one) => (isArray(one) && depth > 0 ? flatten(one, depth - 1) : [one]))
}

function keys(value: Json): Json {
  return isArray(value) ? value.map((_, i) => i) : Object.keys(record(value)).sort()
}

function has(value: Json, key: Json): boolean {
  if (isArray(value) && typeof key === 'number') return key >= 0 && key < value.length
  return Object.hasOwn(record(value), text(key))
}

function* range(from: number, to: number): Generator<Json> {
  if (to - from > RANGE_MAX) throw new JqError(`a range of more than ${RANGE_MAX}`)
  for (let i = from; i < to; i += 1) yield i
}

function number(value: Json): number {
  if (typeof value === 'number') return value
  throw new JqError(`${shown(value)} is not a number`)
}

const INFINITE_DEPTH = 1_000

/** Functions by name and arity. */
export const functions: Readonly<Record<string, Implementation>> = {
  'empty/0': () => [],
  'not/0': plain((input) => !truthy(input)),
  'length/0': plain(length),
  'type/0': plain(typeOf),
  'keys/0': plain(keys),
  'keys_unsorted/0': plain((input) => (isArray(input) ? keys(input) : Object.keys(record(input)))),
  'values/0': (input) => (input === null ? [] : [input]),
  'has/1': with1(has),
  'contains/1': with1(contains),
  'to_entries/0': plain(toEntries),
  'from_entries/0': plain(fromEntries),
  'with_entries/1': (input, [arg]) => [
    fromEntries(list(toEntries(input)).flatMap((entry) => [...(arg?.(entry) ?? [])])),
  ],
  *'select/1'(input, [arg]) {
    for (const keep of arg?.(input) ?? []) if (truthy(keep)) yield input
  },
  'map/1': (input, [arg]) => [elements(input).flatMap((element) => [...(arg?.(element) ?? [])])],
  'map_values/1': (input, [arg]) => {
    const first = (value: Json) => [...(arg?.(value) ?? [])].slice(0, 1)
    if (isArray(input)) return [input.flatMap(first)]
    return [
      objectFrom(
        Object.entries(record(input)).flatMap(([name, value]) => first(value).map((one) => [name, one] as const)),
      ),
    ]
  },
  'sort/0': plain((input) => [...list(input)].sort(compare)),
  'sort_by/1': (input, [arg]) => [byKey(input, arg).map(({ element }) => element)],
  'group_by/1': (input, [arg]) => [groups(input, arg)],
  'unique/0': plain((input) => groups(input, identity).map(([first]) => first ?? null)),
  'unique_by/1': (input, [arg]) => [groups(input, arg).map(([first]) => first ?? null)],
  'min/0': plain((input) => extreme(input, -1)),
  'max/0': plain((input) => extreme(input, 1)),
  'min_by/1': (input, [arg]) => [extreme(input, -1, arg)],
  'max_by/1': (input, [arg]) => [extreme(input, 1, arg)],
  'first/0': plain((input) => list(input)[0] ?? null),
  *'first/1'(input, [arg]) {
    for (const value of arg?.(input) ?? []) {
      yield value
      return
    }
  },
  'last/0': plain((input) => list(input).at(-1) ?? null),
  *'limit/2'(input, [count, arg]) {
    for (const limit of count?.(input) ?? []) {
      let left = number(limit)
      if (left <= 0) continue
      for (const value of arg?.(input) ?? []) {
        yield value
        left -= 1
        if (left <= 0) break
      }
    }
  },
  'reverse/0': plain((input) =>
    typeof input === 'string' ? [...input].reverse().join('') : [...list(input)].reverse(),
  ),
  'add/0': plain((input) => elements(input).reduce<Json>((sum, value) => arithmetic('+', sum, value), null)),
  'any/0': plain((input) => elements(input).some(truthy)),
  'all/0': plain((input) => elements(input).every(truthy)),
  'any/1': (input, [arg]) => [elements(input).some((one) => [...(arg?.(one) ?? [])].some(truthy))],
  'all/1': (input, [arg]) => [elements(input).every((one) => [...(arg?.(one) ?? [])].every(truthy))],
  'flatten/0': plain((input) => flatten(input, INFINITE_DEPTH)),
  'flatten/1': with1((input, depth) => flatten(input, number(depth))),
  *'range/1'(input, [arg]) {
    for (const to of arg?.(input) ?? []) yield* range(0, number(to))
  },
  *'range/2'(input, [low, high]) {
    for (const from of low?.(input) ?? []) for (const to of high?.(input) ?? []) yield* range(number(from), number(to))
  },
  'floor/0': plain((input) => Math.floor(number(input))),
  'ceil/0': plain((input) => Math.ceil(number(input))),
  'round/0': plain((input) => Math.round(number(input))),
  'tostring/0': plain((input) => (typeof input === 'string' ? input : JSON.stringify(input))),
  'tonumber/0': plain(tonumber),
  'tojson/0': plain((input) => JSON.stringify(input)),
  'ascii_downcase/0': plain((input) => text(input).replace(/[A-Z]/g, (letter) => letter.toLowerCase())),
  'ascii_upcase/0': plain((input) => text(input).replace(/[a-z]/g, (letter) => letter.toUpperCase())),
  'startswith/1': with1((input, start) => text(input).startsWith(text(start))),
  'endswith/1': with1((input, end) => text(input).endsWith(text(end))),
  'ltrimstr/1': with1((input, start) => trimmed(input, start, 'start')),
  'rtrimstr/1': with1((input, end) => trimmed(input, end, 'end')),
  'split/1': with1((input, separator) => (input === '' ? [] : text(input).split(text(separator)))),
  'join/1': with1((input, separator) => list(input).map(joined).join(text(separator))),
  'test/1': with1((input, pattern) => test(input, pattern)),
  *'test/2'(input, [pattern, flags]) {
    for (const flag of flags?.(input) ?? [])
      for (const one of pattern?.(input) ?? []) yield test(input, one, text(flag))
  },
}

function joined(value: Json): string {
  if (value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function trimmed(input: Json, part: Json, where: 'start' | 'end'): Json {
  if (typeof input !== 'string' || typeof part !== 'string' || part === '') return input
  if (where === 'start') return input.startsWith(part) ? input.slice(part.length) : input
  return input.endsWith(part) ? input.slice(0, -part.length) : input
}
