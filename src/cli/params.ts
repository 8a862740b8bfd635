import { isKeyOf } from '../core/record.ts'

// Parameters of the command line. Has only the needed part of zod's API, because zod itself takes long to load.
//
//     import * as z from '../../src/cli/params.ts'
//     z.object({ limit: z.int().min(1).max(100).default(20).meta({ description: 'rows per page' }) })

/** Help and completion of a parameter. */
export type Meta = {
  readonly short?: string
  /** Placeholder in the help text. */
  readonly value?: string
  readonly description?: string
}

export type Issue = {
  /** Path from the parameter to the faulty value within it. */
  readonly path: readonly (string | number)[]
  /** Text after the parameter's name: `must be at least 1`. */
  readonly message: string
  readonly given: unknown
  /** Allowed values, if few. */
  readonly choices: readonly string[]
}

type Outcome<T> =
  | { readonly success: true; readonly data: T }
  | { readonly success: false; readonly error: { readonly issues: readonly Issue[] } }

type Kind = 'text' | 'flag' | 'number' | 'choice' | 'list'

/** An additional check of a value. Returns the error message, or undefined for a valid value. */
type Check = (value: unknown) => string | undefined

/** Declaration of a parameter. */
type Facts = {
  readonly kind: Kind
  readonly read: (given: unknown) => Outcome<unknown>
  readonly checks: readonly Check[]
  readonly optional: boolean
  readonly fallback: unknown
  readonly choices: readonly string[]
  /** Converts a value to the text that a user would type, for the help. */
  readonly typed?: (value: unknown) => unknown
  /** The parameter that describes an element of a list. */
  readonly element?: AnyParam
  readonly meta: Meta
}

/** A parameter; methods return a changed copy. */
export type Param<T> = {
  readonly facts: Facts
  optional(): Param<T | undefined>
  default(fallback: Exclude<T, undefined>): Param<Exclude<T, undefined>>
  meta(meta: Meta): Param<T>
  /** The same parameter as a required one, without its description. */
  unwrap(): Param<Exclude<T, undefined>>
  /** Minimum number, or length. */
  min(least: number): Param<T>
  /** Maximum of a number, or of a text's length. */
  max(most: number): Param<T>
  regex(pattern: RegExp, refusal: string): Param<T>
  refine(holds: (value: T) => boolean, refusal: string | ((value: T) => string)): Param<T>
  safeParse(given: unknown): Outcome<T>
  /** @throws RangeError if invalid */
  parse(given: unknown): T
}

function paramOf<T>(facts: Facts): Param<T> {
  const changed = <U>(change: Partial<Facts>) => paramOf<U>({ ...facts, ...change })
  const refine: Param<T>['refine'] = (holds, refusal) => {
    // A check runs after parsing, so the type is known.
    const check: Check = (value) => {
      if (holds(value as T)) return undefined
      return typeof refusal === 'string' ? refusal : refusal(value as T)
    }
    return changed({ checks: [...facts.checks, check] })
  }
  const safeParse = (given: unknown) => readParam(facts, given) as Outcome<T>
  return {
    facts,
    optional: () => changed({ optional: true }),
    default: (fallback) => changed({ optional: true, fallback }),
    meta: (meta) => changed({ meta: { ...facts.meta, ...meta } }),
    unwrap: () => changed({ optional: false, fallback: undefined, meta: {} }),
    min: (least) => refine((value) => sizeOf(value) >= least, `must be at least ${least}`),
    max: (most) => refine((value) => sizeOf(value) <= most, `must be at most ${most}`),
    regex: (pattern, refusal) => refine((value) => pattern.test(String(value)), refusal),
    refine,
    safeParse,
    parse: (given) => dataOf(safeParse(given)),
  }
}

export type AnyParam = Param<unknown>
type Members = Readonly<Record<string, AnyParam>>
type ValueOf<W> = W extends Param<infer T> ? T : never
type OptionalNames<S> = { [K in keyof S]: undefined extends ValueOf<S[K]> ? K : never }[keyof S]
type Values<S> = { [K in Exclude<keyof S, OptionalNames<S>>]: ValueOf<S[K]> } & {
  [K in OptionalNames<S>]?: ValueOf<S[K]>
}
export type output<W> = W extends ParamSet<infer S> ? { [K in keyof Values<S>]: Values<S>[K] } : ValueOf<W>

/** Positionals or flags by name. */
export type ParamSet<S extends Members = Members> = {
  readonly shape: S
  /** Without some members. */
  omit<K extends keyof S>(names: { readonly [N in K]: true }): ParamSet<Omit<S, K>>
  /** Parses all members, drops unknown ones, and reports all faults. */
  safeParse(given: unknown): Outcome<output<ParamSet<S>>>
  /** @throws RangeError for the first fault */
  parse(given: unknown): output<ParamSet<S>>
}

export function object<S extends Members>(shape: S): ParamSet<S> {
  const safeParse = (given: unknown) => readMembers(shape, given) as Outcome<output<ParamSet<S>>>
  return {
    shape,
    omit(names) {
      const left = Object.entries(shape).filter(([name]) => !Object.hasOwn(names, name))
      return object(Object.fromEntries(left) as Omit<S, keyof typeof names> & Members)
    },
    safeParse,
    parse: (given) => dataOf(safeParse(given)),
  }
}

function readMembers(shape: Members, given: unknown): Outcome<Readonly<Record<string, unknown>>> {
  if (typeof given !== 'object' || given === null) return refused('must be an object', given)
  const values: Record<string, unknown> = {}
  const issues: Issue[] = []
  for (const [name, { facts }] of Object.entries(shape)) {
    const value: unknown = Object.hasOwn(given, name) ? Reflect.get(given, name) : undefined
    const outcome = readParam(facts, value)
    if (!outcome.success) issues.push(...within(name, outcome.error.issues))
    else if (outcome.data !== undefined) values[name] = outcome.data
  }
  return issues.length > 0 ? { success: false, error: { issues } } : read(values)
}

export function string(): Param<string> {
  return param('text', (given) => (typeof given === 'string' ? read(given) : refused('must be a string', given)))
}

export function boolean(): Param<boolean> {
  return param('flag', (given) => (typeof given === 'boolean' ? read(given) : refused('must be a boolean', given)))
}

/** A text that may be left out. */
export function text(meta: Meta): Param<string | undefined> {
  return string().optional().meta(meta)
}

/** A flag (default: off). */
export function flag(meta: Meta): Param<boolean> {
  return boolean().default(false).meta(meta)
}

export function choice<const T extends string>(choices: readonly T[], meta: Meta): Param<T | undefined> {
  return oneOf(choices).optional().meta(meta)
}

/** A list of texts (default: empty). */
export function list(meta: Meta): Param<string[]> {
  return array(string()).default([]).meta(meta)
}

export function number(): Param<number> {
  return param('number', (given) => (Number.isFinite(given) ? read(given) : refused('must be a number', given)))
}

export function int(): Param<number> {
  return number().refine(Number.isSafeInteger, 'must be a whole number')
}

/** A whole number of at least `least` and at most `most`. */
export function between(least: number, most: number): Param<number> {
  return int().min(least).max(most)
}

/** A parameter typed as text. `meant` parses the text, and returns undefined if it is invalid. */
export function codec<T>(
  meant: (text: string) => T | undefined,
  refusal: string,
  typed: (value: T) => unknown = (value) => value,
): Param<T> {
  const reads = (given: unknown) => {
    const value = typeof given === 'string' ? meant(given) : undefined
    return value === undefined ? refused(refusal, given) : read(value)
  }
  // A default is a parsed value, so it is a `T`.
  return paramOf({ ...plain, kind: 'text', read: reads, typed: (value) => typed(value as T) })
}

/** Choices, case-insensitive. */
export function anyCase<const T extends string>(choices: readonly T[]): Param<T> {
  return param('text', (given) => {
    const value = choices.find((one) => one.toLowerCase() === String(given).toLowerCase())
    return value === undefined ? noneOf(choices, given) : read(value)
  })
}

export function literal<const T extends string>(value: T): Param<T> {
  return param('text', (given) => (given === value ? read(given) : noneOf([value], given)))
}

function oneOf<const T extends string>(choices: readonly T[]): Param<T> {
  return paramOf({
    ...plain,
    kind: 'choice',
    choices,
    read: (given) => (choices.some((one) => one === given) ? read(given) : noneOf(choices, given)),
  })
}

export { oneOf as enum }

export function array<T>(element: Param<T>): Param<T[]> {
  return paramOf({ ...plain, kind: 'list', element, read: (given) => readList(element, given) })
}

const plain = { checks: [], optional: false, fallback: undefined, choices: [], meta: {} } as const

function param<T>(kind: Kind, reads: Facts['read']): Param<T> {
  return paramOf({ ...plain, kind, read: reads })
}

function readParam({ optional, fallback, ...facts }: Facts, given: unknown): Outcome<unknown> {
  if (given === undefined)
    return optional
      ? read(fallback)
      : refused(facts.choices.length === 0 ? 'is needed' : `is needed: ${facts.choices.join(', ')}`, given)
  const outcome = facts.read(given)
  if (!outcome.success) return outcome
  for (const check of facts.checks) {
    const refusal = check(outcome.data)
    if (refusal !== undefined) return refused(refusal, given)
  }
  return outcome
}

function readList(element: AnyParam, given: unknown): Outcome<unknown[]> {
  if (!Array.isArray(given)) return refused('must be a list', given)
  const outcomes = given.map((one) => element.safeParse(one))
  const issues = outcomes.flatMap((one, at) => (one.success ? [] : within(at, one.error.issues)))
  if (issues.length > 0) return { success: false, error: { issues } }
  return read(outcomes.flatMap((one) => (one.success ? [one.data] : [])))
}

function read<T>(data: T): Outcome<T> {
  return { success: true, data }
}

function refused(message: string, given: unknown, choices: readonly string[] = []): Outcome<never> {
  return { success: false, error: { issues: [{ path: [], message, given, choices }] } }
}

function noneOf(choices: readonly string[], given: unknown): Outcome<never> {
  return refused(`must be one of ${choices.join(', ')}`, given, choices)
}

function within(name: string | number, issues: readonly Issue[]): Issue[] {
  return issues.map((issue) => ({ ...issue, path: [name, ...issue.path] }))
}

function sizeOf(value: unknown): number {
  return typeof value === 'string' || Array.isArray(value) ? value.length : Number(value)
}

function dataOf<T>(outcome: Outcome<T>): T {
  if (outcome.success) return outcome.data
  const [issue] = outcome.error.issues
  throw new RangeError([issue?.path.join('.'), issue?.message].filter(Boolean).join(' '))
}

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const unitMs = (unit = '') => (isKeyOf(UNIT_MS, unit) ? UNIT_MS[unit] : 0)
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g
const WHOLE = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/

/**
 * Parses a duration: `250ms`, `30s`, `1h30m`, `2d`; a bare number means seconds.
 * @returns milliseconds, or undefined if invalid
 */
export function parseDuration(text: string): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) return Math.round(Number(text) * UNIT_MS.s)
  if (!WHOLE.test(text)) return undefined
  const parts = [...text.matchAll(PART)]
  return Math.round(parts.reduce((sum, part) => sum + Number(part[1]) * unitMs(part[2]), 0))
}

/** Formats milliseconds as a user types them: 5,400,000 as `1h30m`. */
function durationText(ms: number): string {
  const parts: string[] = []
  let left = ms
  for (const [unit, size] of Object.entries(UNIT_MS).toReversed()) {
    const count = Math.floor(left / size)
    left -= count * size
    if (count > 0) parts.push(`${count}${unit}`)
  }
  return parts.join('') || '0s'
}

/** Type of a duration flag: users type `30s` or `1h30m`, the program gets milliseconds. */
export const Duration = codec(parseDuration, 'must be a duration such as 30s or 1h30m', durationText)
