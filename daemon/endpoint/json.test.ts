import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { costlyPart } from '../../src/core/json-cost.ts'
import { MAX_JSON_VALUES } from '../../src/core/limits.ts'
import { checkJson } from './json.ts'

const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)])

describe('what JSON may hold', () => {
  test.each([[null], ['text'], [{ a: ['b', { c: '👩\u200d🚀' }] }], [deep(32)]])('%j passes', (document) => {
    expect(() => checkJson(document)).not.toThrow()
  })

  test.each<[string, unknown, string]>([
    ['33 levels', deep(33), 'body'],
    ['half a surrogate pair', { a: [{ b: 'x\ud800' }] }, 'a.0.b'],
    ['half a pair as the document', '\udfff', 'body'],
    ['half a pair in a name', { a: { '\ud83d': 1 } }, 'body'],
    ['half a pair beside great depth', { a: deep(20_000 / 4), b: '\ud800' }, 'b'],
  ])('%s is refused by name', (_, document, path) => {
    expect(() => checkJson(document)).toThrow(
      expect.objectContaining({ code: 'invalid_request', details: [expect.objectContaining({ path })] }),
    )
  })
})

describe('how many values JSON may hold', () => {
  const list = (count: number, one = '0') => Buffer.from(`[${Array.from({ length: count }, () => one).join(',')}]`)

  test.each<[string, Buffer, boolean]>([
    ['as many as may be', list(MAX_JSON_VALUES), false],
    ['one more', list(MAX_JSON_VALUES + 1), true],
    ['as many objects', list(MAX_JSON_VALUES / 2 + 1, '{"a":1}'), true],
    [
      'commas in a long text with escaped quotes',
      Buffer.from(JSON.stringify([`${'x'.repeat(999)}\\",[{`.repeat(9_999)])),
      false,
    ],
    [
      'values behind long texts that end in backslashes',
      Buffer.from(`["${'x'.repeat(999)}${'\\\\'.repeat(500)}",${'0,'.repeat(MAX_JSON_VALUES)}0]`),
      true,
    ],
    ['commas in a text', Buffer.from(JSON.stringify([',[{\\"'.repeat(MAX_JSON_VALUES)])), false],
    ['a number of more digits than anybody needs', Buffer.from(`[${'9'.repeat(MAX_JSON_VALUES)}]`), true],
    ['many digits in a text', Buffer.from(JSON.stringify(['9'.repeat(MAX_JSON_VALUES)])), false],
    ['values behind a text that ends in a backslash', Buffer.from(`["\\\\",${'0,'.repeat(MAX_JSON_VALUES)}0]`), true],
  ])('%s', (_, text, isTooMany) => {
    expect(costlyPart(text) !== undefined).toBe(isTooMany)
  })

  test('what is counted is what JSON.parse makes', () => {
    const count = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? Object.values(value).reduce((sum: number, one) => sum + 1 + count(one), 0)
        : 0
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        // Repeated until the bound is near, so that a count that is off by a share shows.
        const times = Math.ceil(MAX_JSON_VALUES / (count(value) + 1))
        const text = Buffer.from(JSON.stringify(Array.from({ length: times + 1 }, () => value)))
        expect(costlyPart(text) !== undefined || count(value) === 0 || text.length <= MAX_JSON_VALUES).toBe(true)
      }),
      { numRuns: 20 },
    )
  })
})
