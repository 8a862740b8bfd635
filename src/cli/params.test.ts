import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import * as params from './params.ts'

/* Words are declared in the vocabulary of the schema library; what they take is what it would take. */

const kinds = ['instant', 'human'] as const
const isEven = (text: string) => text.length % 2 === 0

const declared = {
  text: [params.text({}), z.string().optional()],
  count: [params.int().min(1).max(9).default(2), z.int().min(1).max(9).default(2)],
  weight: [params.number().max(0.5), z.number().max(0.5)],
  on: [params.flag({}), z.boolean().default(false)],
  kind: [params.choice(kinds, {}), z.enum(kinds).optional()],
  off: [params.literal('off').optional(), z.literal('off').optional()],
  tags: [params.array(params.string()).max(2).default([]), z.array(z.string()).max(2).default([])],
  forms: [params.array(params.enum(kinds)).min(1), z.array(z.enum(kinds)).min(1)],
  code: [
    params
      .string()
      .regex(/^[1-5]x$/, 'no')
      .optional(),
    z
      .string()
      .regex(/^[1-5]x$/, 'no')
      .optional(),
  ],
  even: [params.string().max(4).refine(isEven, 'no').optional(), z.string().max(4).refine(isEven, 'no').optional()],
} as const
type Name = keyof typeof declared
const names = Object.keys(declared) as Name[]

const ours = params.object({
  text: declared.text[0],
  count: declared.count[0],
  weight: declared.weight[0],
  on: declared.on[0],
  kind: declared.kind[0],
  off: declared.off[0],
  tags: declared.tags[0],
  forms: declared.forms[0],
  code: declared.code[0],
  even: declared.even[0],
})
const theirs = z.object(Object.fromEntries(names.map((name) => [name, declared[name][1]])))

const word = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.constantFrom('instant', 'human', 'off', '4x', '', 'ab'),
  fc.integer({ min: -2, max: 12 }),
  fc.double(),
  fc.boolean(),
  fc.constantFrom(undefined, null, Number.MAX_VALUE, {}),
)
const value = fc.oneof(word, fc.array(word, { maxLength: 3 }))
const given = fc.record(Object.fromEntries(names.map((name) => [name, value])), { requiredKeys: [] })

test('what is taken, and what comes out of it, is what the schema library says', () => {
  fc.assert(
    fc.property(fc.constantFrom(...names), value, (name, one) => {
      const [mine, its] = [declared[name][0].safeParse(one), declared[name][1].safeParse(one)]
      expect(mine.success).toBe(its.success)
      if (mine.success && its.success) expect(mine.data).toEqual(its.data)
    }),
    { numRuns: 2_000 },
  )
})

test('all members that are wrong are told of, and no other', () => {
  const wrong = (issues: readonly { path: readonly PropertyKey[] }[] = []) => new Set(issues.map(({ path }) => path[0]))
  fc.assert(
    fc.property(given, (values) => {
      const [mine, its] = [ours.safeParse(values), theirs.safeParse(values)]
      expect(wrong(mine.success ? [] : mine.error.issues)).toEqual(wrong(its.error?.issues))
    }),
    { numRuns: 500 },
  )
})

test('each word that is wrong is named with what it must be and what it was', () => {
  const refused = ours.safeParse({ count: 0, forms: ['human', 'robot'], kind: 'instan' })
  expect(refused).toMatchObject({
    success: false,
    error: {
      issues: [
        { path: ['count'], message: 'must be at least 1', given: 0 },
        { path: ['weight'], message: 'is needed' },
        { path: ['kind'], message: 'must be one of instant, human', given: 'instan', choices: kinds },
        { path: ['forms', 1], message: 'must be one of instant, human', given: 'robot' },
      ],
    },
  })
})

test('a word that is used again keeps its demands and loses what was said of it', () => {
  const port = params.int().max(9).default(2).meta({ description: 'where', short: 'p' })
  const again = port.unwrap().optional()
  expect([again.facts.meta, again.parse(undefined), again.safeParse(10).success]).toEqual([{}, undefined, false])
  expect(port.parse(undefined)).toBe(2)
})

test('one of a few is taken in any case, and is what was declared', () => {
  const method = params.anyCase(['GET', 'POST'])
  expect(method.parse('get')).toBe('GET')
  expect(() => method.parse('put')).toThrow('must be one of GET, POST')
})
