import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../core/error.ts'
import { exampleInput } from './example.ts'
import { checkDeliverable, compileDeliverableSchema, compileInputSchema, unwrapBrief } from './schema.ts'

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
const check = (schema: object, value: unknown) => compileInputSchema(schema).validate(value)
const faults = (schema: object, value: unknown) => {
  const checked = check(schema, value)
  return checked.ok ? [] : checked.details.map(({ path, message }) => `${path}: ${message}`)
}

describe('validation', () => {
  const screenshot = object(
    {
      url: { type: 'string', format: 'uri' },
      device: { type: 'string', enum: ['desktop', 'mobile'], default: 'desktop' },
      full_page: { type: 'boolean', default: false },
      tags: { type: 'array', items: { type: 'string', maxLength: 3 }, maxItems: 2, uniqueItems: true },
      size: { type: 'integer', minimum: 50, maximum: 1000 },
      price: { type: 'number', multipleOf: 0.01, exclusiveMinimum: 0 },
      id: { type: 'string', pattern: '^[0-9]{1,12}$' },
    },
    { required: ['url'], additionalProperties: false },
  )

  it('fills in the defaults and leaves the given value alone', () => {
    const given = Object.freeze({ url: 'https://example.com/' })
    expect(check(screenshot, given)).toEqual({
      ok: true,
      value: { url: 'https://example.com/', device: 'desktop', full_page: false },
    })
  })

  it.each<[object, string]>([
    [{}, 'url: is required'],
    [{ url: 'x', device: 'watch' }, 'device: must be one of desktop, mobile'],
    [{ url: 'not a uri' }, 'url: must be an absolute URI like https://example.com/'],
    [{ url: 7 }, 'url: must be a string'],
    [{ url: 'a:b', size: 49 }, 'size: must be at least 50'],
    [{ url: 'a:b', size: 50.5 }, 'size: must be an integer'],
    [{ url: 'a:b', tags: ['a', 'abcd'] }, 'tags.1: must have at most 3 characters'],
    [{ url: 'a:b', tags: ['a', 'b', 'c'] }, 'tags: must have at most 2 items'],
    [{ url: 'a:b', tags: ['a', 'a'] }, 'tags: must not repeat an item'],
    [{ url: 'a:b', id: '12x' }, 'id: must match ^[0-9]{1,12}$'],
    [{ url: 'a:b', price: 0 }, 'price: must be greater than 0'],
    [{ url: 'a:b', price: 0.075 }, 'price: must be a multiple of 0.01'],
    [{ url: 'a:b', colour: 1 }, 'colour: is not a known field; known: url, device, full_page, tags, size, price, id'],
    [[], ': must be an object of named inputs'],
  ])('of %j names the field and what it may be: %s', (value, fault) => {
    expect(faults(screenshot, value)).toContain(fault)
  })

  it('reports every fault of a small input at once', () => {
    expect(faults(screenshot, { device: 1, size: 0 })).toHaveLength(3)
  })

  it('says in one line which alternatives there are', () => {
    const weather = object({}, { anyOf: [{ required: ['city'] }, { required: ['lat', 'lon'] }] })
    expect(faults(weather, { lat: 1 })).toEqual([': give city, or lat and lon'])
    expect(check(weather, { lat: 1, lon: 2 }).ok).toBe(true)
  })

  it('reads decimals exactly', () => {
    const cents = object({ n: { multipleOf: 0.01 } })
    fc.assert(fc.property(fc.integer({ min: -1e9, max: 1e9 }), (n) => check(cents, { n: n / 100 }).ok))
    expect([0.07, 1e21, 1.005, 1e-7].map((n) => check(cents, { n }).ok)).toEqual([true, true, false, false])
    expect(check(object({ n: { multipleOf: 1e-300 } }), { n: 1.5e300 }).ok).toBe(true)
  })

  it('compares enum members and unique items as JSON values', () => {
    const schema = object({ a: { enum: [1, '1', null, { x: [1, 2], y: 0 }] }, b: { uniqueItems: true } })
    expect(check(schema, { a: { y: 0, x: [1, 2] } }).ok).toBe(true)
    expect([2, 'null', true, { x: [2, 1], y: 0 }].map((a) => check(schema, { a }).ok)).toEqual(Array(4).fill(false))
    expect(check(schema, { b: [1, '1', [1], { a: 1 }, null, 'null'] }).ok).toBe(true)
    expect(
      check(schema, {
        b: [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
      }).ok,
    ).toBe(false)
  })

  it('keeps two patterns of one schema apart', () => {
    const schema = object({ a: { pattern: '^a+$' }, b: { pattern: '^b+$' } })
    expect(faults(schema, { a: 'aa', b: 'aa' })).toEqual(['b: must match ^b+$'])
  })

  it.each<[string, string[], string[]]>([
    [
      'uri',
      ['https://example.com/a?b=c#d', 'mailto:a@b.co', 'urn:isbn:1'],
      ['example.com', '/a', 'https://a b', 'http:'],
    ],
    ['date', ['2024-02-29', '2025-12-31'], ['2025-02-29', '2025-13-01', '2025-1-1', '1900-02-29']],
    ['date-time', ['2025-01-01T00:00:00Z', '2025-01-01t23:59:60.5+02:00'], ['2025-01-01', '2025-01-01T24:00:00Z']],
    ['email', ['a@b.co', "o'neil+x@mail.example.org"], ['a', '@b.co', 'a@b', 'a b@c.de', '.a@b.co', 'a@-b.co']],
  ])('knows the format %s', (format, good, bad) => {
    const schema = object({ it: { type: 'string', format } })
    expect(good.filter((it) => !check(schema, { it }).ok)).toEqual([])
    expect(bad.filter((it) => check(schema, { it }).ok)).toEqual([])
  })

  it('writes out local references, also escaped ones and beside other keywords', () => {
    const schema = {
      $ref: '#/$defs/root',
      required: ['b'],
      $defs: {
        root: object({ a: { $ref: '#/$defs/a~1b%20c' }, b: { $ref: '#/$defs/a~1b%20c', maxLength: 2 } }),
        'a/b c': { type: 'string', minLength: 1 },
      },
    }
    expect(check(schema, { a: 'x', b: 'xy' }).ok).toBe(true)
    expect(faults(schema, { a: '' })).toEqual(['a: must have at least 1 character', 'b: is required'])
    expect(faults(schema, { b: 'xyz' })).toEqual(['b: must have at most 2 characters'])
  })

  it('does not take an inherited member for a field, nor lets an input name a prototype', () => {
    expect(check(object({}, { dependentRequired: { a: ['b'] } }), { a: 1 }).ok).toBe(false)
    expect(faults(object({}), JSON.parse('{"a": [{"__proto__": {"x": 1}}]}'))).toEqual([
      'a.0.__proto__: is not an allowed name',
    ])
    expect(Object.hasOwn(Object.prototype, 'x')).toBe(false)
  })

  it.each(['{"a": 1e999}', '{"a": "\\ud800"}', '{"\\udfff": 1}'])('refuses %s, which has no canonical form', (text) => {
    expect(check(object({}), JSON.parse(text)).ok).toBe(false)
    expect(refusal(() => compileInputSchema(object({ a: { default: JSON.parse(text) } }))).code).toBe('invalid_request')
  })

  it('leaves what JSON Schema calls annotations unread', () => {
    const schema = { $schema: 'x', $id: 'y', ...object({ a: { title: 'A', 'x-order': 1, format: 'colour' } }) }
    expect(check(schema, { a: 'red' }).ok).toBe(true)
    expect(check({}, { any: 'thing' }).ok).toBe(true)
  })
})

describe('a schema that stands in the store', () => {
  const stored = (longest: number) => ({ type: 'object', properties: { a: { type: 'string', maxLength: longest } } })

  it('is applied as it is; nothing of that lets one pass that is written', () => {
    const known = compileInputSchema(stored(-1), 'input_schema', true)
    expect(known.validate({ a: 'x' }).ok).toBe(false)
    expect(() => compileInputSchema(stored(-1))).toThrow('input_schema.properties.a.maxLength')
    expect(compileInputSchema(stored(1), 'input_schema', true).validate({ a: 'x' }).ok).toBe(true)
    expect(compileInputSchema(stored(1)).validate({ a: 'xy' }).ok).toBe(false)
  })

  it('is refused where it is written, also when the very object was applied before', () => {
    const schema = stored(-2)
    compileInputSchema(schema, 'input_schema', true)
    expect(() => compileInputSchema(schema)).toThrow('input_schema.properties.a.maxLength')
  })
})

describe('checkDeliverable', () => {
  const inner = object({ bytes: { type: 'integer' } }, { required: ['bytes'] })
  it.each<[string, object, unknown, string[]]>([
    ['a schema', inner, { bytes: 1 }, []],
    ['a schema, an array of one', inner, [{ bytes: 1 }], []],
    ['a schema, wrong', inner, { bytes: 'x' }, ['bytes']],
    ['an array of two', inner, [{ bytes: 1 }, { bytes: 1 }], ['']],
    ['keyed', { qr_code: inner }, { qr_code: { bytes: 1 } }, []],
    ['keyed, an array of one', { qr_code: inner }, [{ qr_code: { bytes: 1 } }], []],
    ['keyed, missing', { qr_code: inner }, { bytes: 1 }, ['qr_code']],
    ['keyed, wrong', { qr_code: inner }, { qr_code: {} }, ['qr_code.bytes']],
    ['keyed by "type"', { type: inner }, { type: {} }, ['type.bytes']],
    ['a list', { type: 'array', items: { type: 'integer' } }, [1], []],
    ['nothing asked', {}, 'anything', []],
  ])('%s', (_, ...[schema, deliverable, paths]) => {
    const checked = checkDeliverable(schema, deliverable)
    expect(checked.ok ? [] : checked.details.map(({ path }) => path)).toEqual(paths)
  })

  it('gives the deliverable back as it came', () => {
    const deliverable = { text: 'x' }
    const schema = object({ text: {}, more: { default: 1 } })
    expect(checkDeliverable(schema, deliverable)).toEqual({ ok: true, value: { text: 'x' } })
    expect(compileDeliverableSchema(schema).validate(deliverable)).toEqual({ ok: true, value: { text: 'x', more: 1 } })
  })
})

describe('unwrapBrief', () => {
  const one = object({ text: { type: 'string' }, size: { type: 'integer' } }, { required: ['text'] })
  const two = object({ from: { type: 'string' }, to: { type: 'string' } }, { required: ['from', 'to'] })
  it.each<[string, object, unknown, unknown]>([
    ['fields at the root', one, { text: 'a' }, { text: 'a' }],
    ['an object in brief', one, { brief: { text: 'a' } }, { text: 'a' }],
    ['fields beside brief', one, { brief: { text: 'a' }, size: 2 }, { text: 'a', size: 2 }],
    ['JSON in brief', one, { brief: '{"text": "a", "size": 1}' }, { text: 'a', size: 1 }],
    ['text in brief', one, { brief: 'a b c' }, { text: 'a b c' }],
    ['JSON that is no object', one, { brief: '[1]' }, { text: '[1]' }],
    ['text for what is still missing', two, { brief: 'x', from: 'de' }, { from: 'de', to: 'x' }],
    ['a field of that name', object({ brief: {} }), { brief: { text: 'a' } }, { brief: { text: 'a' } }],
    [
      'a field of that name by reference',
      { $ref: '#/$defs/a', required: [], $defs: { a: object({ brief: {} }) } },
      { brief: 'x' },
      { brief: 'x' },
    ],
  ])('%s', (_, ...[schema, body, input]) => {
    expect(unwrapBrief(schema, body)).toEqual(input)
  })

  it.each<[string, object, unknown, string]>([
    ['text for two fields', two, { brief: 'x' }, 'brief'],
    ['a number', one, { brief: 7 }, 'brief'],
    ['a list', one, { brief: [] }, 'brief'],
    ['null', one, { brief: null }, 'brief'],
    ['the same field twice', one, { brief: { text: 'a' }, text: 'b' }, 'brief.text'],
    ['no object', one, 'text', ''],
    ['a list as body', one, [], ''],
  ])('refuses %s and names the fields', (_, ...[schema, body, path]) => {
    const refused = refusal(() => unwrapBrief(schema, body))
    expect(refused).toMatchObject({ code: 'input_invalid', details: [{ path }] })
    expect(refused.message).toMatch(schema === two ? /from \(required\), to \(required\)/ : /text \(required\), size/)
  })
})

describe('exampleInput', () => {
  it.each<[object, object | undefined]>([
    [
      object({ url: { type: 'string' }, note: { type: 'string' } }, { required: ['url'] }),
      { url: 'https://example.com/' },
    ],
    [object({ n: { type: 'integer', default: 14 } }), { n: 14 }],
    [object({ id: { type: 'string', pattern: '^[0-9]{1,12}$' } }, { required: ['id'] }), { id: '1' }],
    [
      object(
        { html: { type: 'string' }, url: { type: 'string' } },
        { anyOf: [{ required: ['html'] }, { required: ['url'] }] },
      ),
      { html: '<h1>Example</h1>' },
    ],
    [
      object({ a: object({ n: { exclusiveMinimum: 5, type: 'number' } }, { required: ['n'] }) }, { required: ['a'] }),
      { a: { n: 6 } },
    ],
    [object({ l: { type: 'array', minItems: 2, items: { enum: ['x'] } } }, { required: ['l'] }), { l: ['x', 'x'] }],
    [object({ s: { type: 'string', minLength: 50, maxLength: 60 } }, { required: ['s'] }), { s: 'x'.repeat(50) }],
    [object({ s: { type: 'string', pattern: '^zebra-[0-9]{7}$' } }, { required: ['s'] }), undefined],
    [object({ s: false }, { required: ['s'] }), undefined],
    [{}, {}],
  ])('of %j', (schema, example) => {
    expect(exampleInput(schema)).toEqual(example)
  })
})

function refusal(act: () => unknown): AppError {
  try {
    act()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('nothing was refused')
}
