import { attempt, invalidField } from '../core/error.ts'
import { type AnyObject, isObject } from '../core/json.ts'
import { copyJson } from './copy.ts'
import {
  joinPath,
  listOf,
  MAX_EXPANDED_CHARS,
  MAX_SCHEMA_BYTES,
  MAX_SCHEMA_DEPTH,
  MAX_SCHEMA_PROPERTIES,
  MAX_SUBSCHEMAS,
} from './limits.ts'
import { compilePattern } from './pattern.ts'

/** A schema without `$ref` that contains only the keywords souk checks. */
export type Expanded = { [keyword: string]: unknown }
export type Measured = { readonly expanded: Expanded; readonly subschemas: number }

/** Keywords whose value is one subschema. Keywords outside the lists here are annotations and are dropped. */
const SCHEMA_KEYWORDS = new Set(
  'additionalProperties unevaluatedProperties propertyNames items unevaluatedItems contains not if then else'.split(
    ' ',
  ),
)
const MAP_KEYWORDS = new Set(['properties', 'patternProperties', 'dependentSchemas'])
const LIST_KEYWORDS = new Set(['prefixItems', 'allOf', 'anyOf', 'oneOf'])
const VALUE_KEYWORDS = new Set(
  (
    'type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern format ' +
    'maxItems minItems uniqueItems maxContains minContains maxProperties minProperties required dependentRequired ' +
    'default examples'
  ).split(' '),
)
/** Keywords that could reach outside the schema or redirect references. */
const REFUSED_KEYWORDS = new Set(['$anchor', '$dynamicAnchor', '$dynamicRef', '$recursiveAnchor', '$recursiveRef'])
/** Names that every object inherits, so they would seem present in any input. */
const RESERVED_NAMES = new Set(Object.getOwnPropertyNames(Object.prototype))

/** Whether at least one member is a keyword. `{"url": "string"}` has none, so it is no schema. */
export function hasKeyword(schema: AnyObject): boolean {
  return Object.keys(schema).some(
    (name) =>
      name.startsWith('$') ||
      ['title', 'description', 'definitions'].includes(name) ||
      [SCHEMA_KEYWORDS, MAP_KEYWORDS, LIST_KEYWORDS, VALUE_KEYWORDS].some((keywords) => keywords.has(name)),
  )
}

type Walk = {
  readonly root: AnyObject
  /** References that are being expanded, outermost first. */
  readonly refs: readonly string[]
  readonly depth: number
  readonly used: { subschemas: number; properties: number; chars: number }
  /** The schema was accepted before, so its patterns need no check. */
  readonly isKnown: boolean
}
type Place = { readonly schema: unknown; readonly path: string }

/**
 * Checks a schema against the limits and expands its references.
 * @param path field name for errors
 * @throws AppError `invalid_request` that names the faulty place
 */
export function expandSchema(schema: AnyObject, path: string): Measured {
  return measure(schema, path, false)
}

/** Like `expandSchema`, but does not compile the patterns, since the schema was accepted before it was stored. */
export function measureKnown(schema: AnyObject, path: string): Measured {
  return measure(schema, path, true)
}

function measure(schema: AnyObject, path: string, isKnown: boolean): Measured {
  refuseHostileText(schema, path)
  const used = { subschemas: 0, properties: 0, chars: 0 }
  const expanded = expand({ root: schema, refs: [], depth: 0, used, isKnown }, { schema, path })
  if (typeof expanded === 'boolean') throw invalidField(path, 'must be an object schema')
  return { expanded, subschemas: used.subschemas }
}

function expand(walk: Walk, place: Place): Expanded | boolean {
  const { schema, path } = place
  walk.used.subschemas += 1
  if (walk.used.subschemas > MAX_SUBSCHEMAS) throw invalidField(path, `has more than ${MAX_SUBSCHEMAS} subschemas`)
  if (walk.depth > MAX_SCHEMA_DEPTH) throw invalidField(path, `is nested more than ${MAX_SCHEMA_DEPTH} deep`)
  if (typeof schema === 'boolean') return schema
  if (!isObject(schema)) throw invalidField(path, 'must be a schema: an object, true or false')
  const expanded = expandKeywords(walk, schema, path)
  if (schema['$ref'] === undefined) return expanded
  const target = expandRef(walk, schema['$ref'], `${path}.$ref`)
  if (Object.keys(expanded).length === 0) return target
  return { ...expanded, allOf: [...listOf(expanded['allOf']), target] }
}

function expandKeywords(walk: Walk, schema: AnyObject, path: string): Expanded {
  const expanded: Expanded = {}
  for (const [keyword, value] of Object.entries(schema)) {
    const at = joinPath(path, keyword)
    if (REFUSED_KEYWORDS.has(keyword) || (keyword === '$id' && walk.depth > 0)) {
      throw invalidField(at, 'is not allowed here: only local "$ref" is')
    }
    const kept = expandKeyword(walk, keyword, { schema: value, path: at })
    if (kept !== undefined) expanded[keyword] = kept
  }
  return expanded
}

function expandKeyword(walk: Walk, keyword: string, place: Place): unknown {
  const below = { ...walk, depth: walk.depth + 1 }
  if (SCHEMA_KEYWORDS.has(keyword)) return expand(below, place)
  if (MAP_KEYWORDS.has(keyword)) return expandMap(below, keyword, place)
  if (LIST_KEYWORDS.has(keyword)) return expandList(below, place)
  return VALUE_KEYWORDS.has(keyword) ? keepValue(walk, keyword, place) : undefined
}

function expandMap(walk: Walk, keyword: string, place: Place): Expanded {
  if (!isObject(place.schema)) throw invalidField(place.path, 'must be an object of schemas')
  const expanded: Expanded = {}
  for (const [name, schema] of Object.entries(place.schema)) {
    const path = joinPath(place.path, name)
    if (keyword === 'patternProperties') checkPattern(walk, { schema: name, path })
    else if (RESERVED_NAMES.has(name)) throw invalidField(path, 'is a reserved name')
    walk.used.properties += 1
    if (walk.used.properties > MAX_SCHEMA_PROPERTIES) {
      throw invalidField(path, `has more than ${MAX_SCHEMA_PROPERTIES} properties`)
    }
    expanded[name] = expand(walk, { schema, path })
  }
  return expanded
}

function expandList(walk: Walk, place: Place): unknown[] {
  if (!Array.isArray(place.schema) || place.schema.length === 0) {
    throw invalidField(place.path, 'must be a non-empty array of schemas')
  }
  return place.schema.map((schema: unknown, i) => expand(walk, { schema, path: `${place.path}.${i}` }))
}

function keepValue(walk: Walk, keyword: string, place: Place): unknown {
  const value = place.schema
  if (keyword === 'pattern') checkPattern(walk, place)
  if (keyword === 'required') refuseReserved(value, place.path)
  if (keyword === 'dependentRequired' && isObject(value)) {
    refuseReserved([...Object.keys(value), ...Object.values(value).flat()], place.path)
  }
  walk.used.chars += JSON.stringify(value).length
  if (walk.used.chars > MAX_EXPANDED_CHARS)
    throw invalidField(place.path, 'is too large once every "$ref" is written out')
  return value
}

function refuseReserved(names: unknown, path: string): void {
  const reserved = Array.isArray(names) ? names.find((name) => RESERVED_NAMES.has(name)) : undefined
  if (reserved !== undefined) throw invalidField(path, `${reserved} is a reserved name`)
}

function checkPattern({ isKnown }: Walk, { schema: source, path }: Place): void {
  if (isKnown) return
  if (typeof source !== 'string') throw invalidField(path, 'must be a string')
  try {
    compilePattern(source)
  } catch (cause) {
    throw invalidField(path, `pattern ${cause instanceof Error ? cause.message : 'does not compile'}`)
  }
}

function expandRef(walk: Walk, ref: unknown, path: string): Expanded | boolean {
  if (typeof ref !== 'string' || !(ref === '#' || ref.startsWith('#/'))) {
    throw invalidField(path, 'must point into this schema, like "#/$defs/name"')
  }
  if (ref === '#' || walk.refs.includes(ref)) throw invalidField(path, 'refers to itself')
  const target = resolve(walk.root, ref)
  if (target === undefined) throw invalidField(path, 'points to nothing')
  return expand({ ...walk, refs: [...walk.refs, ref] }, { schema: target, path })
}

function resolve(root: AnyObject, ref: string): unknown {
  let at: unknown = root
  for (const token of ref.slice('#/'.length).split('/')) {
    const name = attempt(() => decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~'))
    if (typeof at !== 'object' || at === null || name === undefined || !Object.hasOwn(at, name)) return undefined
    at = Reflect.get(at, name)
  }
  return at
}

function refuseHostileText(schema: AnyObject, path: string): void {
  const copied = copyJson(schema)
  const fault = copied.ok ? undefined : copied.details[0]
  if (fault) throw invalidField(fault.path === '' ? path : `${path}.${fault.path}`, fault.message)
  const bytes = Buffer.byteLength(JSON.stringify(schema))
  if (bytes > MAX_SCHEMA_BYTES) throw invalidField(path, `is ${bytes} bytes, at most ${MAX_SCHEMA_BYTES} are allowed`)
}
