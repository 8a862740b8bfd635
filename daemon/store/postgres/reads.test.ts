import { expect, test } from 'vitest'
import type { TableReads } from '../engine/rows.ts'
import { gatheredReads, MAX_GATHERED_KEYS } from './reads.ts'

type Rows = Awaited<ReturnType<TableReads['rows']>>

/** Reads that remember what they were asked; row `none` is absent, and `broken` cannot be read. */
function openReads() {
  const asked: string[][] = []
  const rows = async (keys: readonly string[]): Promise<Rows> => {
    asked.push([...keys])
    if (keys.includes('broken')) throw new Error('no answer')
    return keys.map((key) => (key === 'none' ? undefined : { id: key, version: 1 }))
  }
  // Only `rows` is gathered.
  return { asked, reads: gatheredReads({ rows } as TableReads) }
}

const row = (id: string) => ({ id, version: 1 })

test('calls of one turn ask for their rows together, and each gets its own', async () => {
  const { asked, reads } = openReads()
  const each = await Promise.all([reads.rows(['a']), reads.rows(['b', 'none', 'a']), reads.rows([])])
  expect(each).toEqual([[row('a')], [row('b'), undefined, row('a')], []])
  expect(asked).toEqual([['a', 'b', 'none']])
  expect(await reads.rows(['a'])).toEqual([row('a')])
  expect(asked).toEqual([['a', 'b', 'none'], ['a']])
})

test('what many read after one another is asked for together at each step', async () => {
  const { asked, reads } = openReads()
  const step = async (n: number) => {
    await reads.rows([`first ${n}`])
    await reads.rows([`second ${n}`])
  }
  await Promise.all([1, 2, 3].map(step))
  expect(asked).toEqual([
    ['first 1', 'first 2', 'first 3'],
    ['second 1', 'second 2', 'second 3'],
  ])
})

test('a statement asks for no more keys than its bound', async () => {
  const { asked, reads } = openReads()
  const keys = Array.from({ length: MAX_GATHERED_KEYS * 2 + 1 }, (_, n) => `row ${n}`)
  const each = await Promise.all(keys.map((key) => reads.rows([key])))
  expect(each).toEqual(keys.map((key) => [row(key)]))
  expect(asked.map(({ length }) => length)).toEqual([MAX_GATHERED_KEYS, MAX_GATHERED_KEYS, 1])
})

test('a statement that fails fails its callers, and not those after', async () => {
  const { reads } = openReads()
  const failed = await Promise.allSettled([reads.rows(['a']), reads.rows(['broken'])])
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await reads.rows(['a'])).toEqual([row('a')])
})
