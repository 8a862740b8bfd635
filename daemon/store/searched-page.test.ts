import { expect, test } from 'vitest'
import { z } from 'zod'
import { MAX_SEARCHED_ROWS, parseFilter } from '../../src/core/filter.ts'
import { openMemoryStore } from './memory/open.testkit.ts'
import { defineCollection } from './port.ts'
import { listedPage } from './searched-page.ts'

const Row = z.strictObject({ id: z.string(), version: z.int(), number: z.int() })
const rows = defineCollection('rows', {
  schema: Row,
  indexes: [{ name: 'newest', fields: ['number'], order: 'desc' }],
})
const MORE = 3

test('a list without end is looked through so far, the newest first, and says so', async () => {
  const store = openMemoryStore([rows])
  const count = MAX_SEARCHED_ROWS + MORE
  await store.tx(async (t) => {
    for (let number = 0; number < count; number += 1) await t.table(rows).insert({ id: `row_${number}`, number })
  })
  const fields = { id: { kind: 'text' } } as const
  const list = { rows, index: 'newest', prefix: [], fields, factsOf: ({ id }: { id: string }) => ({ id }) }
  const look = async (text: string) => {
    const parsed = parseFilter(text, fields)
    if (!parsed.ok) throw new Error(parsed.problem)
    return listedPage(store, list, { filter: parsed.filter, limit: 10, offset: 0, now: 0 })
  }
  const searched = { rows: MAX_SEARCHED_ROWS, of: count }
  expect(await look(`id:row_${count - 1}`)).toMatchObject({ total: 1, searched })
  expect(await look('!id:row_1')).toMatchObject({ rows: { length: 10 }, searched })
  expect(await look('row')).toMatchObject({ total: MAX_SEARCHED_ROWS, searched })
  expect((await look('"row_0"')).total).toBe(0) // The oldest lies behind the bound.
  await store.close()
})
