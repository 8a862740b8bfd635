import { expect, test } from 'vitest'
import { z } from 'zod'
import { collections } from '../../app.ts'
import { conformance } from '../conformance/suite.testkit.ts'
import { RowInvalid } from '../errors.ts'
import { defineCollection } from '../port.ts'
import { openMemoryStore } from './open.testkit.ts'

conformance({
  name: 'memory',
  open: async (under, options) => {
    const store = openMemoryStore(under, options)
    return { store, end: () => store.close() }
  },
})

test('the collections of the marketplace can be stored', () => {
  expect(openMemoryStore(collections).stats()).toEqual({ seq: 0, records: 0, journalBytes: 0, syncs: 0 })
})

test('rows are frozen all the way down', async () => {
  const trees = defineCollection('trees', {
    schema: z.object({ id: z.string(), version: z.number(), leaves: z.array(z.object({ n: z.number() })) }),
    indexes: [],
  })
  const store = openMemoryStore([trees])
  const row = await store.tx((t) => t.table(trees).insert({ id: 'a', leaves: [{ n: 1 }] }))
  expect(() => Object.assign(row.leaves[0] ?? {}, { n: 2 })).toThrow(TypeError)
})

const unstorable = {
  'a date': z.object({ id: z.string(), version: z.number(), at: z.date() }),
  'a codec': z.object({
    id: z.string(),
    version: z.number(),
    at: z.codec(z.string(), z.number(), { decode: Number, encode: String }),
  }),
  'a bigint or a string': z.object({ id: z.string(), version: z.number(), n: z.union([z.bigint(), z.string()]) }),
  'a map': z.object({ id: z.string(), version: z.number(), m: z.map(z.string(), z.string()) }),
}

test.each(Object.entries(unstorable))('%s is refused when the store opens', (_what, schema) => {
  expect(() => openMemoryStore([{ name: 'x', schema, key: 'id', indexes: [] }])).toThrow(TypeError)
})

test('a bigint that the schema does not show is refused when it is written', async () => {
  const hidden = defineCollection('hidden', {
    schema: z.object({ id: z.string(), version: z.number(), n: z.custom<bigint>((v) => typeof v === 'bigint') }),
    indexes: [],
  })
  const store = openMemoryStore([hidden])
  await expect(store.tx((t) => t.table(hidden).insert({ id: 'a', n: 1n }))).rejects.toThrow(RowInvalid)
})
