import { expect, test } from 'vitest'
import { startChild } from '../../../fixtures/kit/child.ts'
import { hasPostgres } from '../../../fixtures/kit/postgres.ts'
import { accounts, collectionsUnderTest } from '../conformance/world.testkit.ts'
import type { Store } from '../port.ts'
import { dropSchema, freshAddress, openTestStore } from './store.testkit.ts'

const ROUNDS = 3
const ACKNOWLEDGED = 150

async function idsOf(store: Store, owner: string): Promise<{ ids: string[]; sum: bigint }> {
  const ids: string[] = []
  let sum = 0n
  for (let after: string | null | undefined; after !== null; ) {
    const page = await store
      .table(accounts)
      .page('owner', [owner], { limit: 500, ...(after === undefined ? {} : { after }) })
    ids.push(...page.rows.map(({ id }) => id))
    sum += page.rows.reduce((total, { balance }) => total + balance, 0n)
    after = page.more ? page.cursor : null
  }
  return { ids, sum }
}

test.skipIf(!hasPostgres())('what a killed process had acknowledged is there, whole and once', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const address = await freshAddress()
    const writer = startChild('database-writer.ts', address)
    const acknowledged: string[] = []
    while (acknowledged.length < ACKNOWLEDGED) acknowledged.push(await writer.line())
    await writer.kill()
    const store = await openTestStore(address, { collections: collectionsUnderTest })
    const { ids } = await idsOf(store, 'rows')
    expect(acknowledged.filter((id) => !ids.includes(id))).toEqual([])
    expect((await idsOf(store, 'sums')).sum).toBe(BigInt(ids.length))
    expect(store.stats().records).toBe(ids.length + (await idsOf(store, 'sums')).ids.length)
    await store.close()
    await dropSchema(address)
  }
})
