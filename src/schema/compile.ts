import { createHash } from 'node:crypto'
import type { ErrorObject } from 'ajv'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import canonicalize from 'canonicalize'
import { type ErrorDetail, invalidField } from '../core/error.ts'
import type { AnyObject } from '../core/json.ts'
import { copyJson, type SchemaRefusal } from './copy.ts'
import { type Expanded, expandSchema, hasKeyword, type Measured, measureKnown } from './expand.ts'
import { formats } from './format.ts'
import {
  CHECKS_PER_STEP,
  joinPath,
  listOf,
  MAX_COMPILED_SCHEMAS,
  MAX_COMPILES_PER_AJV,
  MAX_DETAILS,
  MAX_ERRORS_READ,
  MAX_LISTED,
  MAX_LISTED_CHARS,
  MAX_NODES_FOR_ALL_ERRORS,
  membersOf,
} from './limits.ts'
import { BudgetSpent, charge, openBudget, patternEngine } from './pattern.ts'

export type Validation = { readonly ok: true; readonly value: unknown } | SchemaRefusal

export type CompiledSchema = {
  /** The schema with every `$ref` replaced by its target. Used for examples and for `brief`. */
  readonly expanded: Expanded
  /** Validates a JSON value. `value` of the result is a copy with defaults filled in. */
  validate(value: unknown): Validation
}

const byIdentity = new WeakMap<AnyObject, CompiledSchema>()
/** Compiled schemas by the hash of their text. The least recently used one is first. */
const byHash = new Map<string, CompiledSchema>()
/** Compiled schemas that also passed the meta-schema in this process. */
const accepted = new WeakSet<CompiledSchema>()

/**
 * Compiles a schema. Results are cached by object and by text.
 * @param isKnown - whether the schema was checked before it was stored. If so, skips the meta-schema, which takes a
 * tenth of a second to compile.
 * @throws AppError `invalid_request` that names the faulty place
 */
export function compileSchema(schema: AnyObject, path: string, isKnown = false): CompiledSchema {
  const known = byIdentity.get(schema)
  if (known !== undefined && (isKnown || accepted.has(known))) return known
  const measured = isKnown ? measureKnown(schema, path) : expandSchema(schema, path)
  const hash = createHash('sha256')
    .update(canonicalize(schema) ?? '')
    .digest('base64')
  const cached = byHash.get(hash)
  if (!isKnown && !(cached && accepted.has(cached))) refuseMalformed(schema, measured, path)
  const compiled = cached ?? compileMeasured(measured, path)
  if (!isKnown) accepted.add(compiled)
  byHash.delete(hash)
  byHash.set(hash, compiled)
  const [oldest] = byHash.keys()
  if (byHash.size > MAX_COMPILED_SCHEMAS && oldest !== undefined) byHash.delete(oldest)
  byIdentity.set(schema, compiled)
  return compiled
}

const expandedByIdentity = new WeakMap<AnyObject, Expanded>()

/** Expands a stored schema without checking its patterns again. */
export function expandedOf(schema: AnyObject, path: string): Expanded {
  const known = byIdentity.get(schema)?.expanded ?? expandedByIdentity.get(schema)
  if (known) return known
  const { expanded } = measureKnown(schema, path)
  expandedByIdentity.set(schema, expanded)
  return expanded
}

function compileMeasured({ expanded, subschemas }: Measured, path: string): CompiledSchema {
  const all = compileWith('all', expanded, path)
  let first: SchemaValidate | undefined
  const pick = (nodes: number) => {
    charge((nodes * subschemas) / CHECKS_PER_STEP)
    if (nodes <= MAX_NODES_FOR_ALL_ERRORS) return all
    first ??= compileWith('first', expanded, path)
    return first
  }
  return { expanded, validate: (value) => validate(pick, value) }
}

const ajvs: Record<Reporting, { ajv: ReturnType<typeof createAjv>; compiles: number } | undefined> = {
  all: undefined,
  first: undefined,
}

function sharedAjv(reporting: Reporting): ReturnType<typeof createAjv> {
  const shared = ajvs[reporting]
  if (shared !== undefined && shared.compiles < MAX_COMPILES_PER_AJV) {
    shared.compiles += 1
    return shared.ajv
  }
  const ajv = createAjv(reporting)
  ajvs[reporting] = { ajv, compiles: 1 }
  return ajv
}

function refuseMalformed(schema: AnyObject, { expanded }: Measured, path: string): void {
  if (!hasKeyword(schema) && Object.keys(schema).length > 0) {
    throw invalidField(path, 'is not a JSON Schema: declare the fields as {"type": "object", "properties": {…}}')
  }
  const ajv = sharedAjv('all')
  openBudget()
  if (ajv.validateSchema(expanded)) return
  const [fault] = explain(ajv.errors ?? [])
  throw invalidField(fault?.path ? joinPath(path, fault.path) : path, fault?.message ?? 'is not a JSON Schema')
}

function compileWith(reporting: Reporting, expanded: Expanded, path: string): SchemaValidate {
  try {
    return sharedAjv(reporting).compile(expanded)
  } catch (cause) {
    throw invalidField(path, `does not compile: ${cause instanceof Error ? cause.message : 'unknown use of a keyword'}`)
  }
}

function validate(pick: (nodes: number) => SchemaValidate, value: unknown): Validation {
  const copied = copyJson(value)
  if (!copied.ok) return copied
  openBudget()
  try {
    const validator = pick(copied.nodes)
    if (validator(copied.value)) return { ok: true, value: copied.value }
    return { ok: false, details: explain(validator.errors ?? []) }
  } catch (error) {
    if (error instanceof BudgetSpent) return TOO_LARGE
    throw error
  }
}

/** Refusal of a value that exceeds the validation budget. */
export const TOO_LARGE: SchemaRefusal = refuse('', 'is too large to be checked against this schema')

export function refuse(path: string, message: string): SchemaRefusal {
  return { ok: false, details: [{ path, message }] }
}

type SchemaValidate = ValidateFunction

/** `all` reports every error. `first` stops at the first one, to keep reports on large values small. */
type Reporting = 'all' | 'first'

/**
 * Creates an Ajv for JSON Schema 2020-12 that validates in linear time. Patterns run in RE2. `enum`, `uniqueItems` and
 * `multipleOf` are replaced, since Ajv's versions of them take quadratic time or round numbers.
 */
function createAjv(reporting: Reporting): Ajv2020 {
  const ajv = new Ajv2020({
    strict: false,
    allErrors: reporting === 'all',
    verbose: true,
    useDefaults: true,
    validateSchema: false,
    ownProperties: true,
    logger: false,
    code: { regExp: patternEngine },
  })
  for (const keyword of ['enum', 'uniqueItems', 'multipleOf']) ajv.removeKeyword(keyword)
  ajv.addKeyword({ keyword: 'enum', schemaType: 'array', compile: oneOfValues })
  ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', compile: allDifferent })
  ajv.addKeyword({ keyword: 'multipleOf', type: 'number', schemaType: 'number', compile: wholeMultiple })
  for (const [name, { check }] of Object.entries(formats)) {
    ajv.addFormat(name, (text: string) => {
      charge(text.length)
      return check(text)
    })
  }
  return ajv
}

function oneOfValues(values: readonly unknown[]): (value: unknown) => boolean {
  const keys = new Set(values.map(keyOf))
  return (value) => keys.has(keyOf(value))
}

function allDifferent(wanted: boolean): (items: readonly unknown[]) => boolean {
  return (items) => !wanted || new Set(items.map(keyOf)).size === items.length
}

/** A key to compare JSON values by. Equal values have equal keys. */
function keyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? `"${value}` : value
  const text = canonicalize(value) ?? ''
  charge(text.length)
  return text
}

/** Checks `multipleOf` in exact decimals, so that 0.07 is a multiple of 0.01. */
function wholeMultiple(of: number): (value: number) => boolean {
  const divisor = decimal(of)
  return (value) => {
    if (!Number.isFinite(value)) return false
    const dividend = decimal(value)
    const exponent = Math.min(dividend.exponent, divisor.exponent)
    return scaled(dividend, exponent) % scaled(divisor, exponent) === 0n
  }
}

type Decimal = { readonly digits: bigint; readonly exponent: number }

function decimal(value: number): Decimal {
  const [mantissa = '0', exponent = '0'] = String(value).split('e')
  const [whole = '0', fraction = ''] = mantissa.split('.')
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length }
}

function scaled({ digits, exponent }: Decimal, to: number): bigint {
  return digits * 10n ** BigInt(exponent - to)
}

/** Turns Ajv errors into field errors. Paths are dotted (`keywords.0`), and messages name the allowed values. */
function explain(errors: readonly ErrorObject[]): ErrorDetail[] {
  const details = new Map<string, ErrorDetail>()
  for (const error of withoutRepeats(errors.slice(0, MAX_ERRORS_READ))) {
    const detail = { path: pathOf(error), message: messageOf(error) }
    details.set(`${detail.path} ${detail.message}`, detail)
    if (details.size === MAX_DETAILS) break
  }
  return [...details.values()]
}

/** Drops errors that only repeat part of another message, such as "give html or url" or "must be one of a, b". */
function withoutRepeats(errors: readonly ErrorObject[]): ErrorObject[] {
  const answered = errors.filter((error) => alternatives(error) !== undefined).map((error) => `${error.schemaPath}/`)
  const chosen = new Set(
    errors.filter(({ keyword }) => keyword === 'enum' || keyword === 'const').map((error) => error.instancePath),
  )
  return errors.filter(
    (error) =>
      !answered.some((prefix) => error.schemaPath.startsWith(prefix)) &&
      !(error.keyword === 'type' && chosen.has(error.instancePath)),
  )
}

/** Required fields of each branch of an `anyOf` or `oneOf`. Undefined if a branch does more than require fields. */
function alternatives(error: ErrorObject): string[] | undefined {
  if (error.keyword !== 'anyOf' && error.keyword !== 'oneOf') return undefined
  const branches = error.schema as readonly { readonly required?: readonly string[] }[]
  const named = branches.map((branch) => (Object.keys(branch).join() === 'required' ? branch.required : undefined))
  return named.every((fields) => fields !== undefined)
    ? named.map((fields) => fields.map(cut).join(' and '))
    : undefined
}

function pathOf(error: ErrorObject): string {
  const tokens = error.instancePath.split('/').slice(1)
  const base = tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~')).reduce(joinPath, '')
  const { missingProperty, additionalProperty, unevaluatedProperty } = error.params
  const field: unknown = missingProperty ?? additionalProperty ?? unevaluatedProperty
  return typeof field === 'string' ? joinPath(base, field) : base
}

function messageOf(error: ErrorObject): string {
  const say = messages[error.keyword]
  return say === undefined ? `must satisfy ${error.keyword}` : say(error.schema, error)
}

const messages: Record<string, (limit: unknown, error: ErrorObject) => string> = {
  required: () => 'is required',
  dependentRequired: () => 'is required',
  additionalProperties: (_, error) => notAField(error),
  unevaluatedProperties: (_, error) => notAField(error),
  type: (type) => `must be ${[type].flat().map(article).join(' or ')}`,
  enum: (values) => `must be one of ${join(listOf(values).map(show), ', ')}`,
  const: (value) => `must be ${show(value)}`,
  minimum: (limit) => `must be at least ${limit}`,
  maximum: (limit) => `must be at most ${limit}`,
  exclusiveMinimum: (limit) => `must be greater than ${limit}`,
  exclusiveMaximum: (limit) => `must be less than ${limit}`,
  multipleOf: (limit) => `must be a multiple of ${limit}`,
  minLength: (limit) => `must have at least ${count(limit, 'character')}`,
  maxLength: (limit) => `must have at most ${count(limit, 'character')}`,
  minItems: (limit) => `must have at least ${count(limit, 'item')}`,
  maxItems: (limit) => `must have at most ${count(limit, 'item')}`,
  minProperties: (limit) => `must have at least ${count(limit, 'member')}`,
  maxProperties: (limit) => `must have at most ${count(limit, 'member')}`,
  uniqueItems: () => 'must not repeat an item',
  pattern: (source) => `must match ${source}`,
  format: (name) => `must be ${formats[String(name)]?.words ?? name}`,
  propertyNames: (_, error) => `has a member name that is not allowed: ${cut(String(error.params['propertyName']))}`,
  contains: () => 'must contain a matching item',
  not: () => 'must not match this schema',
  anyOf: (_, error) => oneForm(error),
  oneOf: (_, error) => oneForm(error),
  'false schema': () => 'is not allowed',
}

function oneForm(error: ErrorObject): string {
  const sets = alternatives(error)
  return sets === undefined
    ? `must have ${error.keyword === 'oneOf' ? 'exactly one' : 'one'} of the allowed forms`
    : `give ${join(sets, ', or ')}`
}

function notAField(error: ErrorObject): string {
  const known = Object.keys(membersOf(error.parentSchema?.['properties']))
  return known.length === 0 ? 'is not a known field' : `is not a known field; known: ${join(known.map(cut), ', ')}`
}

function article(type: unknown): string {
  return `${/^[aeiou]/.test(String(type)) ? 'an' : 'a'} ${type}`
}

function count(limit: unknown, noun: string): string {
  return `${limit} ${noun}${limit === 1 ? '' : 's'}`
}

function join(texts: readonly string[], separator: string): string {
  const rest = texts.length - MAX_LISTED
  return texts.slice(0, MAX_LISTED).join(separator) + (rest > 0 ? `${separator}and ${rest} more` : '')
}

function show(value: unknown): string {
  return cut(typeof value === 'string' ? value : JSON.stringify(value))
}

function cut(text: string): string {
  return text.length > MAX_LISTED_CHARS ? `${text.slice(0, MAX_LISTED_CHARS)}…` : text
}
