import { describe, expect, test } from 'vitest'
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
