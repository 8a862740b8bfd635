import type { ErrorObject } from 'ajv'
import type { ErrorDetail } from '../core/error.ts'
import { formats } from './format.ts'
import { joinPath, listOf, MAX_DETAILS, MAX_ERRORS_READ, MAX_LISTED, MAX_LISTED_CHARS, membersOf } from './limits.ts'

type Branch = { readonly required?: readonly string[] }

/** Ajv's errors as the fields at fault (dotted, `keywords.0`) and what is allowed there. */
export function explain(errors: readonly ErrorObject[]): ErrorDetail[] {
  const details = new Map<string, ErrorDetail>()
  for (const error of withoutRepeats(errors.slice(0, MAX_ERRORS_READ))) {
    const detail = { path: pathOf(error), message: messageOf(error) }
    details.set(`${detail.path} ${detail.message}`, detail)
    if (details.size === MAX_DETAILS) break
  }
  return [...details.values()]
}

/** "give html or url" and "must be one of a, b" say it all: what else failed for the same reason says it again. */
function withoutRepeats(errors: readonly ErrorObject[]): ErrorObject[] {
  const answered = errors.filter((error) => alternatives(error) !== undefined).map((error) => `${error.schemaPath}/`)
  const chosen = new Set(errors.filter(isChoice).map((error) => error.instancePath))
  return errors.filter(
    (error) =>
      !answered.some((prefix) => error.schemaPath.startsWith(prefix)) &&
      !(error.keyword === 'type' && chosen.has(error.instancePath)),
  )
}

function isChoice(error: ErrorObject): boolean {
  return error.keyword === 'enum' || error.keyword === 'const'
}

/** The field sets of an `anyOf` or `oneOf` whose branches only say which fields must be there. */
function alternatives(error: ErrorObject): string[] | undefined {
  if (error.keyword !== 'anyOf' && error.keyword !== 'oneOf') return undefined
  const branches = error.schema as readonly Branch[]
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

type Say = (limit: unknown, error: ErrorObject) => string

const messages: Record<string, Say> = {
  required: () => 'is required',
  dependentRequired: () => 'is required here',
  additionalProperties: (_, error) => notAField(error),
  unevaluatedProperties: (_, error) => notAField(error),
  type: (type) => `must be ${[type].flat().map(article).join(' or ')}`,
  enum: (values) => `must be one of ${list(listOf(values))}`,
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
  contains: () => 'must contain an item of the wanted form',
  not: () => 'must not have this form',
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

function list(values: readonly unknown[]): string {
  return join(values.map(show), ', ')
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
