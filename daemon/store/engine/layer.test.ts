import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { answersOf, type Put, put, shape, whole } from '../conformance/answers.testkit.ts'
import { conformance } from '../conformance/suite.testkit.ts'
import type { Account } from '../conformance/world.testkit.ts'
import { openMemoryStore } from '../memory/open.testkit.ts'
import { type Layer, layerOver } from './layer.ts'
import { type Awaitable, type Base, createRowSet, putRow, type RowSet, readsOf, type TableReads } from './rows.ts'

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
      for (const { write } of layers.flatMap((layer) => layer.staged()))
        putRow(bottom, write.key, write.row as Account | null)
      expect(await answersOf(readsOf(bottom), limit)).toEqual(expected)
    }),
    { numRuns: 150 },
  )
})
