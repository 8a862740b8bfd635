import { expect, test } from 'vitest'
import { z } from 'zod'
import { openMemoryStore } from './open.ts'
import { defineCollection } from './port.ts'

const accounts = defineCollection('accounts', {
  schema: z.object({ id: z.string(), version: z.number(), owner: z.string(), balance: z.bigint() }),
  key: 'id',
  indexes: [{ name: 'owner', fields: ['owner', 'balance'] }],
})

test('a committed row is read back with its version', async () => {
  const store = openMemoryStore([accounts])
  await store.tx(async (t) => {
    await t.table(accounts).insert({ id: 'a', owner: 'ann', balance: 5n })
    await t.table(accounts).increment('a', 'balance', 2n)
  })
  expect(await store.table(accounts).get('a')).toEqual({ id: 'a', version: 2, owner: 'ann', balance: 7n })
  expect(await store.table(accounts).count('owner', ['ann'])).toBe(1)
  await store.close()
})
