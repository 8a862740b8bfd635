import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { api } from '../../api/index.ts'
import { type ExampleName, exampleOf } from './examples.ts'

/* What `create --example` prints is taken as it is, and names every field that there is. */

const rows = {
  listing: api.createService.body.schema,
  plan: api.createPlan.body.schema,
  product: api.createProduct.body.fields,
  request: api.createPosting.body.schema,
} as const

test.each(Object.keys(rows) as ExampleName[])(
  'an example of a %s is accepted, with and without its comments',
  (name) => {
    const text = exampleOf(name)
    const schema = rows[name]
    expect(schema.safeParse(parse(text)).error).toBeUndefined()
    const all = parse(
      text
        .split('\n')
        .filter((_, at) => at % 2 === 1)
        .map((line) => line.replace(/^# /, ''))
        .join('\n'),
    )
    expect(schema.safeParse(all).error).toBeUndefined()
    expect(Object.keys(all).sort()).toEqual(Object.keys(schema.shape).sort())
  },
)
