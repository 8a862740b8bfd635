import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { conformance } from '../conformance/suite.testkit.ts'
import { type Account, account, accounts, micro } from '../conformance/world.testkit.ts'
import { openMemoryStore } from '../memory/open.ts'
import type { Scalar } from '../port.ts'
import type { Awaitable, Base, Slice, TableReads } from './base.ts'
import { type Layer, layerOver } from './layer.ts'
import { createRowSet, putRow, type RowSet, readsOf } from './rows.ts'
import { placeIn, type RowIndex, shapeTable } from './tables.ts'

/* Layers over rows that come at once, over rows that come later, and over other layers. */

/** Answers as a disk does: some turns after the call, as of the moment of the call. */
function late(reads: TableReads): TableReads {
  const later = async <T>(value: Awaitable<T>): Promise<T> => {
    await nextTurn()
    return value
  }
  return {
    shape: reads.shape,
    rows: (keys) => later(reads.rows(keys)),
    page: (slice) => later(reads.page(slice)),
    count: (index, prefix) => later(reads.count(index, prefix)),
    unique: (index, values) => later(reads.unique(index, values)),
  }
}

const lateBase = (base: Base): Base => ({
  ...base,
  tables: new Map([...base.tables].map(([name, reads]) => [name, late(reads)])),
})

conformance({
  name: 'a base that answers later',
  open: async (under, options) => {
    const store = openMemoryStore(under, { ...options, wrap: lateBase })
    return { store, end: () => store.close() }
  },
})

const keys = ['a', 'b', 'c', 'd', 'e', 'f', '\u{1F600}', '\uFF5E']
const shape = shapeTable(accounts)
type Put = { readonly key: string; readonly row: Account | null; readonly layer: number }

const put: fc.Arbitrary<Put> = fc.record({
  key: fc.constantFrom(...keys),
  layer: fc.nat(2),
  row: fc.option(
    fc.record({ owner: fc.constantFrom('ann', 'bob'), balance: fc.bigInt(0n, 3n), open: fc.boolean() }),
  ) as fc.Arbitrary<Account | null>,
})

function whole({ key, row }: Put): Account | null {
  return row && { ...account(key, { ...row, balance: micro(Number(row.balance)) }), version: 1, email: `${key}@x` }
}

type Question = { readonly index: RowIndex; readonly prefix: readonly Scalar[] }
const questions: readonly Question[] = ['owner', 'richest', 'open'].flatMap((name) => {
  const index = shape.indexes.get(name) as RowIndex
  return [[], ...(name === 'richest' ? [[1n]] : [['ann'], ['bob']])].map((prefix) => ({ index, prefix }))
})

/** Everything that can be asked of a table, walked in pages of some size. */
async function answersOf(reads: TableReads, limit: number): Promise<unknown> {
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

/** Writes the puts of layer 0 to the table itself, and the others over it. @returns the layers, lowest first */
async function stack(bottom: RowSet, below: TableReads, puts: readonly Put[]): Promise<Layer[]> {
  const lower = layerOver(below)
  const layers = [lower, layerOver(lower)]
  for (const one of puts) {
    const layer = layers[one.layer - 1]
    if (layer === undefined) putRow(bottom, one.key, whole(one))
    else layer.put(one.key, whole(one), (await layer.rows([one.key]))[0])
  }
  return layers
}

test('what lies in two layers over a table reads as if it had been written to the table', async () => {
  const puts = fc.array(put, { maxLength: 24 }).map((list) => list.toSorted((a, b) => a.layer - b.layer))
  const limits = fc.integer({ min: 1, max: 5 })
  await fc.assert(
    fc.asyncProperty(puts, limits, fc.boolean(), async (list, limit, isLate) => {
      const [plain, bottom] = [createRowSet(shape), createRowSet(shape)]
      for (const one of list) putRow(plain, one.key, whole(one))
      const expected = await answersOf(readsOf(plain), 100)
      const layers = await stack(bottom, isLate ? late(readsOf(bottom)) : readsOf(bottom), list)
      expect(await answersOf(layers.at(-1) as Layer, limit)).toEqual(expected)
      for (const { key, row } of layers.flatMap((layer) => layer.writes())) putRow(bottom, key, row as Account | null)
      expect(await answersOf(readsOf(bottom), limit)).toEqual(expected)
    }),
    { numRuns: 150 },
  )
})
