import { isObject } from '../core/json.ts'
import { keptIn } from '../core/record.ts'
import { clip, safe } from '../text/text.ts'

/**
 * Shape of a response value, as plain data: - `s` text, `n` number, `i` integer, `b` boolean, `0` null, `*` any JSON;
 * - `#job_` an id with that prefix, `@Job` a shared shape; - an object: its members, optional ones with `?`; further
 * ones are allowed; - `['s', min, max]`, `['i', …]`, `['n', …]` with bounds, null for none; `['/', pattern]` a
 * matching text; - `['[', of, min, max]` a list, `['{', of]` a record, `['|', …]` alternatives, `['=', …]` literals;
 * - `['w']` a status word, possibly unknown.
 */
export type AnswerShape = string | Tagged | Members
type Tagged = readonly Part[]
type Part = AnswerShape | number | boolean | null
type Members = { readonly [name: string]: AnswerShape }

type Optional<M> = Extract<keyof M, `${string}?`>
/** TypeScript type of the values that a shape describes, for the shapes of our files. */
export type Shaped<S> = S extends 's' | readonly ['/', string]
  ? string
  : S extends 'i' | readonly ['i', ...Part[]]
    ? number
    : S extends 'b'
      ? boolean
      : S extends readonly ['=', ...infer V]
        ? V[number]
        : S extends readonly ['[', infer E]
          ? Shaped<E>[]
          : S extends readonly ['{', infer E]
            ? Record<string, Shaped<E>>
            : S extends Members
              ? { [K in Exclude<keyof S, Optional<S>>]: Shaped<S[K]> } & {
                  [K in Optional<S> as K extends `${infer N}?` ? N : never]?: Shaped<S[K]>
                }
              : unknown

/** Shared shapes as JSON, by name. */
type Shared = Readonly<Record<string, string>>

/** Safe to display. */
const WORD = /^[a-z][a-z0-9_]{0,39}$/
const PATH_CHARS_MAX = 120
const WORDS_SHOWN = 8

/** Thrown for a response of another shape: the server has another version, or is no souk. */
export class BadAnswer extends Error {
  override readonly name = 'BadAnswer'
  /** Dotted path of the fault; empty for the whole response. */
  readonly path: string
  /** The same path as a list of its parts. */
  readonly at: readonly string[]
  readonly must: string
  constructor({ path, must }: Fault) {
    super('The instance sent a response that this version of souk cannot read.')
    this.path = clip(safe(path.join('.')), PATH_CHARS_MAX)
    this.at = path
    this.must = must
  }
}

type Fault = { readonly path: readonly string[]; readonly must: string }

/** Validates a response. @throws BadAnswer for the first fault */
export function checkAnswer(value: unknown, shape: string, shared: Shared): void {
  const known = keptIn(knownTables, shared, () => knownOf(shared))
  const form = keptIn(known.answers, shape, (): AnswerShape => JSON.parse(shape))
  const fault = faultOf(value, form, known)
  if (fault) throw new BadAnswer(fault)
}

/** The first fault of a value; undefined if it is valid. The shape must not contain names of shared shapes. */
export function faultIn(value: unknown, shape: AnswerShape): Fault | undefined {
  return faultOf(value, shape, knownOf({}))
}

/** Parsed shapes, members and patterns. */
type Known = {
  readonly shared: Shared
  /** Shapes of responses, by the JSON text of the shape. */
  readonly answers: Map<string, AnswerShape>
  readonly shapes: Map<string, AnswerShape>
  readonly members: Map<Members, readonly Member[]>
  readonly patterns: Map<string, RegExp>
}
type Member = { readonly name: string; readonly shape: AnswerShape; readonly isOptional: boolean }

function knownOf(shared: Shared): Known {
  return { shared, answers: new Map(), shapes: new Map(), members: new Map(), patterns: new Map() }
}

/** Parsed shapes, cached by their table of shared shapes. */
const knownTables = new WeakMap<Shared, Known>()

function shapeNamed({ shared, shapes }: Known, name: string): AnswerShape {
  return keptIn(shapes, name, () => JSON.parse(shared[name] ?? '"*"'))
}

function matches({ patterns }: Known, pattern: string, text: string): boolean {
  return keptIn(patterns, pattern, () => new RegExp(pattern)).test(text)
}

function faultOf(value: unknown, shape: AnswerShape, known: Known): Fault | undefined {
  if (typeof shape === 'string') return plainFault(value, shape, known)
  return isTagged(shape) ? taggedFault(value, shape, known) : membersFault(value, shape, known)
}

function isTagged(shape: Tagged | Members): shape is Tagged {
  return Array.isArray(shape)
}

function plainFault(value: unknown, shape: string, known: Known): Fault | undefined {
  switch (shape) {
    case '*':
      return undefined
    case '0':
      return value === null ? undefined : must('must be null')
    case 'b':
      return typeof value === 'boolean' ? undefined : must('must be true or false')
    case 's':
    case 'i':
    case 'n':
      return taggedFault(value, [shape], known)
    default:
      return shape.startsWith('@')
        ? faultOf(value, shapeNamed(known, shape.slice(1)), known)
        : idFault(value, shape.slice(1), known)
  }
}

function idFault(value: unknown, prefix: string, known: Known): Fault | undefined {
  const isId = typeof value === 'string' && matches(known, `^${prefix}[0-9a-f]{16}$`, value)
  return isId ? undefined : must(`must be an id like ${prefix}0123456789abcdef`)
}

function must(words: string): Fault {
  return { path: [], must: words }
}

function within(name: string, fault: Fault | undefined): Fault | undefined {
  return fault && { ...fault, path: [name, ...fault.path] }
}

function membersFault(value: unknown, members: Members, known: Known): Fault | undefined {
  if (!isObject(value)) return must('must be an object')
  for (const { name, shape, isOptional } of membersOf(members, known)) {
    if (!Object.hasOwn(value, name)) {
      if (isOptional) continue
      return within(name, must('is missing'))
    }
    const fault = faultOf(value[name], shape, known)
    if (fault) return within(name, fault)
  }
  return undefined
}

function membersOf(members: Members, { members: all }: Known): readonly Member[] {
  return keptIn(all, members, () =>
    Object.entries(members).map(([name, shape]) => {
      const isOptional = name.endsWith('?')
      return { name: isOptional ? name.slice(0, -1) : name, shape, isOptional }
    }),
  )
}

// Finds the fault of a value with a tagged shape. Avoids copies, since V8 interprets this code at program start.
function taggedFault(value: unknown, shape: Tagged, known: Known): Fault | undefined {
  switch (shape[0]) {
    case 's':
      return typeof value === 'string' ? boundsFault(value.length, shape, 'long') : must('must be text')
    case 'i':
      return Number.isSafeInteger(value) ? boundsFault(Number(value), shape) : must('must be a whole number')
    case 'n':
      return typeof value === 'number' ? boundsFault(value, shape) : must('must be a number')
    case '/':
      return formFault(value, String(shape[1]), known)
    case '=':
      return wordFault(value, shape)
    case 'w':
      return typeof value === 'string' && WORD.test(value) ? undefined : must('must be a word')
    case '|':
      return choiceFault(value, shape, known)
    case '{':
      return recordFault(value, shape.slice(1).filter(isShape), known)
    default:
      return listFault(value, shape.slice(1), known)
  }
}

/** Whether a part of a tagged shape is itself a shape, and not a bound. */
function isShape(part: Part): part is AnswerShape {
  return typeof part === 'string' || (typeof part === 'object' && part !== null)
}

function boundsFault(size: number, shape: Tagged, what = ''): Fault | undefined {
  const min = shape[1]
  const max = shape[2]
  if (typeof min === 'number' && size < min) return must(`must be at least ${min} ${what}`.trimEnd())
  if (typeof max === 'number' && size > max) return must(`must be at most ${max} ${what}`.trimEnd())
  return undefined
}

function formFault(value: unknown, pattern: string, known: Known): Fault | undefined {
  if (typeof value !== 'string') return must('must be text')
  return matches(known, pattern, value) ? undefined : must(`must match ${pattern}`)
}

function wordFault(value: unknown, shape: Tagged): Fault | undefined {
  const all: readonly unknown[] = shape
  if (all.includes(value, 1)) return undefined
  const words = all.slice(1)
  const shown = words.slice(0, WORDS_SHOWN).join(', ')
  return must(`must be one of ${shown}${words.length > WORDS_SHOWN ? ', …' : ''}`)
}

/** Undefined if an alternative fits. If only one alternative is not null, its fault; otherwise a general fault. */
function choiceFault(value: unknown, shape: Tagged, known: Known): Fault | undefined {
  for (let at = 1; at < shape.length; at += 1) {
    const form = shape[at] ?? null
    if (isShape(form) && faultOf(value, form, known) === undefined) return undefined
  }
  const forms = shape.slice(1).filter(isShape)
  const faults = forms.map((form) => faultOf(value, form, known))
  const real = faults.filter((_, at) => forms[at] !== '0')
  return real.length === 1 ? real[0] : must('matches none of the allowed forms')
}

function recordFault(value: unknown, [of = '*']: readonly AnswerShape[], known: Known): Fault | undefined {
  if (!isObject(value)) return must('must be an object')
  return firstFault(Object.entries(value), of, known)
}

function listFault(value: unknown, [of = '*', ...bounds]: readonly Part[], known: Known): Fault | undefined {
  if (!Array.isArray(value)) return must('must be a list')
  return (
    boundsFault(value.length, ['[', ...bounds], 'long') ??
    (isShape(of) ? firstFault(value.entries(), of, known) : undefined)
  )
}

function firstFault(members: Iterable<[string | number, unknown]>, of: AnswerShape, known: Known): Fault | undefined {
  for (const [name, member] of members) {
    const fault = faultOf(member, of, known)
    if (fault) return within(String(name), fault)
  }
  return undefined
}
