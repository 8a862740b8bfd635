import fc from 'fast-check'
import { usdc } from '../../../src/core/money.ts'
import type { Slice, TableReads } from '../engine/rows.ts'
import { placeIn, type RowIndex, shapeTable } from '../engine/tables.ts'
import type { Scalar } from '../port.ts'
import { type Account, account, accounts } from './world.testkit.ts'

/* Everything that a table can be asked, for bases and layers that have to agree. */

export const keys = ['a', 'b', 'c', 'd', 'e', 'f', '\u{1F600}', '\uFF5E']
/** Of accounts. */
export const shape = shapeTable(accounts)
export type Put = { readonly key: string; readonly row: Account | null; readonly layer: number }

export const put: fc.Arbitrary<Put> = fc.record({
  key: fc.constantFrom(...keys),
  layer: fc.nat(2),
  row: fc.option(
    fc.record({
      owner: fc.constantFrom('ann', 'bob'),
      balance: fc.constantFrom(-1n, 0n, 1n, 2n ** 64n),
      open: fc.boolean(),
    }),
  ) as fc.Arbitrary<Account | null>,
})

export function whole({ key, row }: Put): Account | null {
  return row && { ...account(key, { ...row, balance: usdc(row.balance) }), version: 1, email: `${key}@x` }
}

type Question = { readonly index: RowIndex; readonly prefix: readonly Scalar[] }
const questions: readonly Question[] = ['owner', 'richest', 'open'].flatMap((name) => {
  const index = shape.indexes.get(name) as RowIndex
  return [[], ...(name === 'richest' ? [[1n], [2n ** 64n]] : [['ann'], ['bob']])].map((prefix) => ({ index, prefix }))
})

/** Everything that can be asked of a table, walked in pages of some size. */
export async function answersOf(reads: TableReads, limit: number): Promise<unknown> {
  const all: unknown[] = [await reads.rows([...keys, 'nobody'])]
  for (const key of keys) all.push(await reads.unique(shape.indexes.get('email') as RowIndex, [`${key}@x`]))
  for (const { index, prefix } of questions) {
    all.push(await reads.count(index, prefix))
    for (const isDescending of [false, true]) all.push(await walk(reads, { index, prefix, isDescending, limit }))
  }
  return all
}

async function walk(reads: TableReads, asked: Omit<Slice, 'after' | 'until'>): Promise<unknown[]> {
  const pages: unknown[] = []
  for (let after: Slice['after']; ; ) {
    const page = await reads.page({ ...asked, after, until: undefined })
    pages.push(...page)
    const last = page.at(-1)
    if (last === undefined) return pages
    after = placeIn(shape, asked.index, last)
  }
}
