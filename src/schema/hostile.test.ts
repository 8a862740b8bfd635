import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../core/error.ts'
import { MAX_SUBSCHEMAS } from './limits.ts'
import { compileInputSchema } from './schema.ts'

// @slow schemas made to take long

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
const check = (schema: object, value: unknown) => compileInputSchema(schema).validate(value)
const faults = (schema: object, value: unknown) => {
  const checked = check(schema, value)
  return checked.ok ? [] : checked.details.map(({ path, message }) => `${path}: ${message}`)
}

const nest = (levels: number, wrap: (inner: object) => object) => {
  let schema: object = { type: 'string' }
  for (let i = 0; i < levels; i += 1) schema = wrap(schema)
  return schema
}
/** Each definition refers four times to the next: 4^levels subschemas when written out. */
const quadrupling = (levels: number) =>
  Object.fromEntries(
    many(levels, (i) => [`d${i}`, i + 1 === levels ? {} : { allOf: many(4, () => ({ $ref: `#/$defs/d${i + 1}` })) }]),
  )
const many = <T>(length: number, make: (i: number) => T) => Array.from({ length }, (_, i) => make(i))

describe('a schema is refused at create', () => {
  it.each<[string, unknown, string]>([
    ['no object', [], 'input_schema'],
    ['no object', true, 'input_schema'],
    ['another type', { type: 'string' }, 'input_schema.type'],
    ['a list of fields', { url: 'string' }, 'input_schema'],
    ['a wrong keyword value', object({ a: { minimum: '5' } }), 'input_schema.properties.a.minimum'],
    ['an unknown type', object({ a: { type: 'text' } }), 'input_schema.properties.a.type'],
    ['properties as an array', { type: 'object', properties: ['a'] }, 'input_schema.properties'],
    ['a schema as a string', object({ a: 'string' }), 'input_schema.properties.a'],
    ['draft-04 bounds', object({ a: { exclusiveMinimum: true } }), 'input_schema.properties.a.exclusiveMinimum'],
    ['size', object({ a: { description: 'x'.repeat(33_000) } }), 'input_schema'],
    ['9 levels', nest(9, (a) => object({ a })), `input_schema${'.properties.a'.repeat(9)}`],
    ['201 properties', object(Object.fromEntries(many(201, (i) => [`p${i}`, {}]))), 'input_schema.properties.p200'],
    [
      'deep text',
      object({ a: { default: nest(5_000, (a) => [a]) } }),
      `input_schema.properties.a.default${'.0'.repeat(62)}`,
    ],
    ['a remote reference', object({ a: { $ref: 'https://example.com/s' } }), 'input_schema.properties.a.$ref'],
    ['an anchor', object({ a: { $ref: '#there' } }), 'input_schema.properties.a.$ref'],
    ['a dangling reference', object({ a: { $ref: '#/$defs/a' } }), 'input_schema.properties.a.$ref'],
    ['a broken reference', object({ a: { $ref: '#/%zz' } }), 'input_schema.properties.a.$ref'],
    ['an inherited reference', object({ a: { $ref: '#/constructor' } }), 'input_schema.properties.a.$ref'],
    ['recursion', object({ a: { $ref: '#' } }), 'input_schema.properties.a.$ref'],
    ['a loop', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }, 'input_schema.$ref.$ref'],
    ['a dynamic reference', object({ a: { $dynamicRef: '#a' } }), 'input_schema.properties.a.$dynamicRef'],
    ['an inner $id', object({ a: { $id: 'https://example.com/' } }), 'input_schema.properties.a.$id'],
    ['look-ahead', object({ a: { pattern: '(?=a)b' } }), 'input_schema.properties.a.pattern'],
    ['a back reference', object({ a: { pattern: '(a)\\1' } }), 'input_schema.properties.a.pattern'],
    ['a long pattern', object({ a: { pattern: 'a'.repeat(201) } }), 'input_schema.properties.a.pattern'],
    ['a large pattern', object({ a: { pattern: '.{900}.{900}' } }), 'input_schema.properties.a.pattern'],
    ['a nested repeat', object({ a: { pattern: '((a{100}){100}){100}' } }), 'input_schema.properties.a.pattern'],
    ['a bad pattern name', { patternProperties: { '(': {} } }, 'input_schema.patternProperties.('],
    ['a reserved field', object({ toString: {} }), 'input_schema.properties.toString'],
    ['a reserved requirement', object({}, { required: ['valueOf'] }), 'input_schema.required'],
    ['a prototype', JSON.parse('{"properties": {"__proto__": {}}}'), 'input_schema.properties.__proto__'],
  ])('for %s', (_, schema, path) => {
    expect(refusal(() => compileInputSchema(schema))).toMatchObject({ code: 'invalid_request', details: [{ path }] })
  })

  it('for references that multiply at every step, before they are written out', () => {
    const message = refusal(() => compileInputSchema({ $ref: '#/$defs/d0', $defs: quadrupling(8) })).message
    expect(message).toContain(`more than ${MAX_SUBSCHEMAS} subschemas`)
    expect(message.length).toBeLessThan(2_000)
  })

  it('for references that multiply a large literal', () => {
    const big = { enum: many(1_000, (i) => `choice ${i}`) }
    const schema = object(Object.fromEntries(many(100, (i) => [`p${i}`, { $ref: '#/$defs/big' }])), { $defs: { big } })
    expect(refusal(() => compileInputSchema(schema)).message).toContain('too large')
  })

  it('with a path that the caller names', () => {
    expect(refusal(() => compileInputSchema(7, 'services.0.input_schema')).details?.[0]?.path).toBe(
      'services.0.input_schema',
    )
  })

  it('but not at the bounds themselves', () => {
    expect(compileInputSchema(nest(8, (a) => object({ a }))).validate({}).ok).toBe(true)
    expect(compileInputSchema(object(Object.fromEntries(many(200, (i) => [`p${i}`, {}])))).validate({}).ok).toBe(true)
    expect(compileInputSchema(object({ a: { pattern: `^${'a'.repeat(198)}$` } })).validate({}).ok).toBe(true)
  })
})

describe('work', () => {
  const tooLarge = ': is too large to be checked against this schema'
  const items = (schema: object) => object({ a: { items: schema } })
  it.each<[string, object, unknown, string | undefined]>([
    ['nested repeats', object({ a: { pattern: '^(a+)+$' } }), `${'a'.repeat(50_000)}b`, 'a: must match ^(a+)+$'],
    ['a pattern of many states', object({ a: { pattern: '[ab]*a[ab]{400}[cd]' } }), 'ab'.repeat(500_000), tooLarge],
    ['patterns over many items', items({ pattern: '(a|b)*$' }), many(100_000, () => 'ababababababab'), tooLarge],
    ['many unique items', object({ a: { uniqueItems: true } }), many(100_000, (i) => ({ i })), undefined],
    ['many equal items', object({ a: { uniqueItems: true } }), many(100_000, () => ({})), 'a: must not repeat an item'],
    [
      'large equal items',
      object({ a: { uniqueItems: true } }),
      many(1_000, () => 'x'.repeat(9_999)),
      'a: must not repeat an item',
    ],
    ['a large enum', items({ enum: many(3_000, (i) => i) }), many(100_000, () => 2_999), undefined],
    ['many wrong items', items({ type: 'string' }), many(100_000, (i) => i), 'a.0: must be a string'],
    [
      'deep items',
      object({ a: {} }),
      nest(100_000, (a) => [a]),
      `${'a'}${'.0'.repeat(64)}: is nested more than 64 deep`,
    ],
    ['every branch', items({ anyOf: many(400, (i) => ({ const: i })) }), many(1_000_000, () => -1), tooLarge],
  ])('is bounded for %s', (_, ...[schema, a, fault]) => {
    expect(faults(schema, { a })[0]).toBe(fault)
  })

  it('is bounded for unknown fields', () => {
    const value = Object.fromEntries(many(20_000, (i) => [`k${i}`, 1]))
    expect(faults(object({}, { unevaluatedProperties: false }), value)).toEqual(['k0: is not a known field'])
  })

  it('never fails otherwise than by a refusal, and never writes out too much', () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(anySchema, fc.jsonValue({ maxDepth: 3 }), (schema, value) => {
        seen.add(outcome(schema, value))
      }),
      { numRuns: 1_000 },
    )
    expect(seen).toEqual(new Set(['valid', 'invalid', 'refused']))
  })

  const anyLeaf = fc.oneof(
    fc.record({ type: fc.constantFrom('string', 'integer', 'object', 'array', 'nonsense') }),
    fc.record({ pattern: fc.oneof(fc.string({ maxLength: 30 }), fc.constantFrom('(a*)*b', '(.|a)+$', '\\b\\w+')) }),
    fc.record({
      enum: fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 3 }),
      default: fc.jsonValue({ maxDepth: 1 }),
    }),
    fc.record({ $ref: fc.constantFrom('#', '#/$defs/x', '#/properties/a', '#/$defs/x/not') }),
    fc.record({ multipleOf: fc.double(), minimum: fc.double() }),
    fc.boolean(),
  )
  const single = fc.constantFrom('items', 'not', 'if', 'then', 'unevaluatedItems', 'contains', 'propertyNames')
  const map = fc.constantFrom('properties', '$defs', 'dependentSchemas', 'patternProperties')
  const list = fc.constantFrom('allOf', 'anyOf', 'oneOf', 'prefixItems')
  const name = fc.constantFrom('a', 'b', 'x', '__proto__', 'constructor')
  const keywords = (inner: fc.Arbitrary<unknown>) =>
    fc.oneof(
      fc.tuple(single, inner),
      fc.tuple(map, fc.dictionary(name, inner, { maxKeys: 2 })),
      fc.tuple(list, fc.array(inner, { maxLength: 3 })),
    )
  const wrap = (inner: fc.Arbitrary<unknown>) =>
    fc.array(keywords(inner), { minLength: 1, maxLength: 3 }).map((entries) => Object.fromEntries(entries))
  const anySchema = fc.oneof(anyLeaf, wrap(anyLeaf), wrap(wrap(anyLeaf)), wrap(wrap(wrap(anyLeaf))))

  const outcome = (schema: unknown, value: unknown) => {
    try {
      const compiled = compileInputSchema(schema)
      expect(countObjects(compiled.expanded)).toBeLessThan(4 * MAX_SUBSCHEMAS)
      return compiled.validate(value).ok ? 'valid' : 'invalid'
    } catch (error) {
      if (error instanceof AppError && error.code === 'invalid_request') return 'refused'
      throw error
    }
  }

  it('compiles equal schemas once and goes on after thousands of different ones', () => {
    const schema = (n: number) => object({ a: { type: 'integer', maximum: n } })
    expect(compileInputSchema(schema(1)).expanded).toBe(compileInputSchema(schema(1)).expanded)
    const wrong = many(2_100, (n) => n).filter(
      (n) => check(schema(n), { a: n + 1 }).ok || !check(schema(n), { a: n }).ok,
    )
    expect(wrong).toEqual([])
  })
})

function countObjects(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Object.values(value).reduce((sum: number, member) => sum + countObjects(member), 0)
}

function refusal(act: () => unknown): AppError {
  try {
    act()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('nothing was refused')
}
