import { type AnyObject, isObject } from '../core/json.ts'
import type { Expanded } from './expand.ts'
import { listOf, membersOf } from './limits.ts'
import { compilePattern } from './pattern.ts'
import { compileInputSchema } from './schema.ts'

/** Sample texts, tried in this order. */
const SAMPLE_TEXTS = [
  'example', 'Example', 'example text', 'abc', 'ABC', 'a', 'A', '1', '12', '123', '1234', '12345', '123456', '0.5', '1.0.0',
  'en', 'en-US', 'USD', 'US', 'a1', 'A1', 'svc_0123456789abcdef', '#336699', '192.0.2.1', 'example.com',
  'https://example.com/', 'ada@example.com', '2025-12-31', '23:59', '2025-12-31T23:59:59Z', '+15555550100',
  '0x0000000000000000000000000000000000000001', '00000000-0000-4000-8000-000000000000',
] // biome-ignore format: - one sample a line would take a page
const SAMPLE_BY_FORMAT: AnyObject = {
  uri: 'https://example.com/',
  date: '2025-12-31',
  'date-time': '2025-12-31T23:59:59Z',
  email: 'ada@example.com',
}
const SAMPLE_BY_NAME: readonly (readonly [RegExp, string])[] = [
  [/(^|_)(url|uri|link|website)$/i, 'https://example.com/'],
  [/(^|_)(domain|host|hostname)$/i, 'example.com'],
  [/e?mail$/i, 'ada@example.com'],
  [/(^|_)(lang|language)$/i, 'en'],
  [/date$/i, '2025-12-31'],
  [/^symbol$/i, 'AAPL'],
  [/^city$/i, 'Berlin'],
  [/^html$/i, '<h1>Example</h1>'],
]
const MAX_EXAMPLE_ITEMS = 20

/**
 * A valid example: required fields, fields with defaults, and one alternative.
 * @returns undefined if no sample fits.
 * @throws AppError `invalid_request` if the schema does not compile
 */
export function exampleInput(schema: unknown): AnyObject | undefined {
  const compiled = compileInputSchema(schema)
  const candidates = [{}, ...branches(compiled.expanded)].map((branch) =>
    sampleObject(merge(compiled.expanded, branch)),
  )
  return candidates.find((candidate) => compiled.validate(candidate).ok)
}

function branches(schema: Expanded): Expanded[] {
  return ['anyOf', 'oneOf'].flatMap((keyword) => listOf(schema[keyword])).filter(isObject)
}

/** Approximates a schema that requires both `a` and `b`. If the guess is wrong, the example fails the validation. */
function merge(a: Expanded, b: Expanded): Expanded {
  return {
    ...a,
    ...b,
    properties: { ...membersOf(a['properties']), ...membersOf(b['properties']) },
    required: [...listOf(a['required']), ...listOf(b['required'])],
  }
}

function sampleObject(schema: Expanded): AnyObject {
  const whole = listOf(schema['allOf']).filter(isObject).reduce(merge, schema)
  const properties = membersOf(whole['properties'])
  const required = new Set(listOf(whole['required']).map(String))
  const sampled: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(properties)) {
    const known = isObject(property) ? property : {}
    if (required.has(name) || known['default'] !== undefined) sampled[name] = sample(known, name)
  }
  for (const name of required) if (!(name in sampled)) sampled[name] = sample({}, name)
  return sampled
}

function sample(schema: Expanded, name: string): unknown {
  const [given] = [schema['default'], schema['const'], first(schema['enum']), first(schema['examples'])].filter(
    (value) => value !== undefined,
  )
  if (given !== undefined) return given
  const [branch] = branches(schema)
  if (branch !== undefined && schema['type'] === undefined) return sample(merge(schema, branch), name)
  return sampleOfType(schema, name)
}

function sampleOfType(schema: Expanded, name: string): unknown {
  const [type] = [schema['type']].flat()
  if (type === 'object' || (type === undefined && schema['properties'] !== undefined)) return sampleObject(schema)
  if (type === 'array') return sampleArray(schema, name)
  if (type === 'number' || type === 'integer') return sampleNumber(schema, type === 'integer')
  if (type === 'boolean') return false
  return type === 'null' ? null : sampleText(schema, name)
}

function sampleArray(schema: Expanded, name: string): unknown[] {
  const items = isObject(schema['items']) ? schema['items'] : {}
  const length = Math.min(Math.max(Number(schema['minItems'] ?? 1), 1), MAX_EXAMPLE_ITEMS)
  return Array.from({ length }, () => sample(items, name))
}

function sampleNumber(schema: Expanded, whole: boolean): number {
  const step = Number(schema['multipleOf'] ?? (whole ? 1 : 0))
  const above = schema['exclusiveMinimum'] === undefined ? undefined : Number(schema['exclusiveMinimum']) + 1
  const below = schema['exclusiveMaximum'] === undefined ? undefined : Number(schema['exclusiveMaximum']) - 1
  const low = Number(schema['minimum'] ?? above ?? Number.NEGATIVE_INFINITY)
  const high = Number(schema['maximum'] ?? below ?? Number.POSITIVE_INFINITY)
  const wanted = Math.min(Math.max(1, low), high)
  return step > 0 ? Math.ceil(wanted / step) * step : wanted
}

function sampleText(schema: Expanded, name: string): string {
  const shortest = Number(schema['minLength'] ?? 0)
  const longest = Number(schema['maxLength'] ?? Number.POSITIVE_INFINITY)
  const byFormat = SAMPLE_BY_FORMAT[String(schema['format'])]
  const byName = SAMPLE_BY_NAME.find(([shape]) => shape.test(name))?.[1]
  const matches = typeof schema['pattern'] === 'string' ? compilePattern(schema['pattern']) : { test: () => true }
  const fits = (text: unknown): text is string =>
    typeof text === 'string' && text.length >= shortest && text.length <= longest && matches.test(text)
  const texts = [byFormat, byName, ...SAMPLE_TEXTS, 'x'.repeat(Math.min(shortest, 1_000))]
  return texts.find(fits) ?? 'example'
}

function first(values: unknown): unknown {
  return Array.isArray(values) ? values[0] : undefined
}
