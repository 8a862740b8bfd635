import { AppError, invalidField } from '../core/error.ts'
import { type AnyObject, isObject, jsonIn } from '../core/json.ts'
import { keptIn } from '../core/record.ts'
import { type CompiledSchema, compileSchema, expandedOf, refuse, type Validation } from './compile.ts'
import type { Expanded } from './expand.ts'
import { listOf, membersOf } from './limits.ts'

/**
 * Compiles an `input_schema` (JSON Schema 2020-12, decisions §7).
 * @param path field name for errors
 * @param isKnown the schema was checked before it was stored
 * @throws AppError `invalid_request` that names the faulty place
 */
export function compileInputSchema(schema: unknown, path = 'input_schema', isKnown = false): CompiledSchema {
  if (!isObject(schema)) throw invalidField(path, 'must be a JSON Schema object')
  const type = schema['type']
  if (type !== undefined && type !== 'object')
    throw invalidField(`${path}.type`, 'must be "object": inputs have named fields')
  const compiled = compileSchema(schema, path, isKnown)
  return {
    expanded: compiled.expanded,
    validate: (value) => (isObject(value) ? compiled.validate(value) : refuse('', 'must be an object of named inputs')),
  }
}

/**
 * Compiles a `deliverable_schema`, which is a schema or an object of named schemas.
 * @throws AppError invalid_request that names the faulty place
 */
export function compileDeliverableSchema(
  schema: unknown,
  path = 'deliverable_schema',
  isKnown = false,
): CompiledSchema {
  if (!isObject(schema)) throw invalidField(path, 'must be a JSON Schema object')
  return compileSchema(isKeyed(schema) ? keyedSchema(schema) : schema, path, isKnown)
}

/**
 * Validates a deliverable (decisions §8). An array of one is unwrapped unless the schema wants an array.
 * @returns the deliverable (unwrapped), or the errors by path
 */
export function checkDeliverable(schema: unknown, deliverable: unknown): Validation {
  const compiled = compileDeliverableSchema(schema, 'deliverable_schema', true)
  const wantsArray = compiled.expanded['type'] === 'array'
  const given: unknown =
    Array.isArray(deliverable) && deliverable.length === 1 && !wantsArray ? deliverable[0] : deliverable
  const checked = compiled.validate(given)
  return checked.ok ? { ok: true, value: given } : checked
}

const ROOT_KEYWORDS = ['$schema', '$ref', 'properties', 'allOf', 'anyOf', 'oneOf']

function isKeyed(schema: AnyObject): boolean {
  if (typeof schema['type'] === 'string' || ROOT_KEYWORDS.some((keyword) => keyword in schema)) return false
  return Object.keys(schema).length > 0 && Object.values(schema).every((value) => isObject(value))
}

const keyedSchemas = new WeakMap<AnyObject, AnyObject>()

/** Schema of an object with one required member for each named schema. Cached by object. */
function keyedSchema(schema: AnyObject): AnyObject {
  return keptIn(keyedSchemas, schema, () => ({
    type: 'object',
    properties: schema,
    required: Object.keys(schema),
  }))
}

type Fields = { readonly known: ReadonlyMap<string, unknown>; readonly required: readonly string[] }

/**
 * Finds the input in a purchase body (decisions §8). The input is in the root fields, or in `brief` as an object or
 * text, unless `brief` is a field of the schema. Does not validate it.
 * @throws AppError input_invalid that names the fields to send
 */
export function unwrapBrief(schema: unknown, body: unknown): AnyObject {
  const fields = fieldsOf(expandedOf(isObject(schema) ? schema : {}, 'input_schema'))
  if (!isObject(body)) throw wanted(fields, '', 'must be an object')
  const { brief, ...beside } = body
  if (brief === undefined || fields.known.has('brief')) return body
  const inner = typeof brief === 'string' ? readText(fields, brief, beside) : brief
  // A listing without declared fields accepts any text as `brief`.
  if (typeof brief === 'string' && inner === undefined && fields.known.size === 0 && fields.required.length === 0)
    return body
  if (!isObject(inner)) throw wanted(fields, 'brief', 'cannot be read as the input of this service')
  const twice = Object.keys(inner).find((name) => Object.hasOwn(beside, name))
  if (twice !== undefined) throw wanted(fields, `brief.${twice}`, 'given twice')
  return { ...beside, ...inner }
}

function readText(fields: Fields, text: string, beside: AnyObject): unknown {
  const parsed = jsonIn(text)?.value
  if (isObject(parsed)) return parsed
  const missing = fields.required.filter((name) => isText(fields.known.get(name)) && !Object.hasOwn(beside, name))
  const [only] = missing
  return missing.length === 1 && only !== undefined ? { [only]: text } : undefined
}

function isText(schema: unknown): boolean {
  return isObject(schema) && schema['type'] === 'string'
}

/** The fields that the root and its `allOf` parts declare. */
function fieldsOf(root: Expanded): Fields {
  const parts = [root, ...listOf(root['allOf']).filter(isObject)]
  const known = parts.flatMap((part) => Object.entries(membersOf(part['properties'])))
  const required = parts.flatMap((part) => listOf(part['required']).map(String))
  return { known: new Map(known), required: [...new Set(required)] }
}

function wanted(fields: Fields, path: string, problem: string): AppError {
  const names = [...fields.known.keys()].map((name) => (fields.required.includes(name) ? `${name} (required)` : name))
  const fieldList = names.length === 0 ? 'any fields' : names.join(', ')
  const message = `${problem}; send the input as JSON fields: ${fieldList}`
  return new AppError('input_invalid', path === '' ? `The body ${message}` : `${path}: ${message}`, {
    details: [{ path, message }],
  })
}
