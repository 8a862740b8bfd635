import { expect, test } from 'vitest'
import { endpointTools } from './tools.ts'

/* What published clients of models take as the parameters of a function. Each rule stands for a refusal that was met. */

const all = endpointTools({ admin: true, readonly: false, groups: ['all'] })

type Node = Readonly<Record<string, unknown>>

/** Every schema in a schema. */
function* schemasIn(node: unknown): Generator<Node> {
  if (Array.isArray(node)) for (const one of node) yield* schemasIn(one)
  if (typeof node !== 'object' || node === null || Array.isArray(node)) return
  yield { ...node }
  for (const [name, value] of Object.entries(node)) {
    if (name === 'properties') yield* schemasIn(Object.values(value))
    else if (!['enum', 'required', 'examples', 'default'].includes(name)) yield* schemasIn(value)
  }
}

test('the arguments of every tool are finite and stand alone: no reference, no recursion', () => {
  expect(all.length).toBeGreaterThan(100)
  for (const { name, inputSchema } of all) {
    const text = JSON.stringify(inputSchema)
    expect([name, text.includes('"$ref"'), text.includes('"$defs"')]).toEqual([name, false, false])
    expect([name, text.length < 12_000]).toEqual([name, true])
  }
})

const KNOWN =
  'type title description properties required items enum anyOf format pattern minimum maximum minLength maxLength minItems maxItems default examples additionalProperties'.split(
    ' ',
  )

/** Why such a client refuses a schema; undefined where it takes it. */
function refusalOf(schema: Node): string | undefined {
  const { type, anyOf, items, format } = schema
  const unknown = Object.keys(schema).find((keyword) => !KNOWN.includes(keyword))
  if (unknown !== undefined) return `does not know ${unknown}`
  if (type === undefined && anyOf === undefined) return 'has no type'
  if (Array.isArray(type)) return 'has more than one type'
  if (type === 'array' && items === undefined) return 'is a list of nothing'
  return format === undefined || format === 'date-time' ? undefined : `has the format ${format}`
}

test('and use what function declarations of Gemini know', () => {
  for (const { name, inputSchema } of all) {
    const refused = [...schemasIn(inputSchema)].flatMap((schema) => {
      const why = refusalOf(schema)
      return why === undefined ? [] : [[why, schema]]
    })
    expect([name, refused]).toEqual([name, []])
  }
})
