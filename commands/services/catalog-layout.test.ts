import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openUserAtMarket, type User } from '../../fixtures/kit/user.ts'

/* What the house sells, as a person sees it on a wide, a usual and a narrow terminal. */

let user: User
beforeAll(async () => {
  user = await openUserAtMarket({ SOUK_NO_INPUT: '1' })
})
afterAll(() => user?.close())

async function lines(columns: number, ...words: string[]): Promise<string[]> {
  const { code, out } = await user.soukWith({ columns, answer: () => '' }, ...words, '--no-pager', '--color', 'never')
  expect(code).toBe(0)
  return out.trimEnd().split('\n')
}
type Row = { id: string; name: string; category: string }
const catalog = async (): Promise<Row[]> => (await user.json('services', 'list', '--limit', '100')).services

/** The catalog as rows and as lines of one moment: listings come to it as the engines that they work with are found. */
async function steadyCatalog(columns: number): Promise<{ rows: Row[]; shown: string[] }> {
  for (;;) {
    const rows = await catalog()
    const shown = await lines(columns, 'services', 'list', '--limit', '100')
    if (isDeepStrictEqual(await catalog(), rows)) return { rows, shown }
  }
}

describe.each([120, 80, 40])('at %i columns', (columns) => {
  test('the catalog names each category once, above its listings, and no line is longer than the terminal', async () => {
    const { rows, shown } = await steadyCatalog(columns)
    const categories = [...new Set(rows.map(({ category }) => category))]
    expect(shown.filter((line) => line.length > columns)).toEqual([])
    expect(shown.filter((line) => categories.includes(line))).toEqual(categories)
    const order = shown.flatMap((line) => /^svc_[0-9a-f]{16}/.exec(line)?.[0] ?? [])
    expect(order).toEqual(rows.map(({ id }) => id))
    for (const { id, name, category } of rows) {
      const at = shown.findIndex((line) => line.startsWith(id))
      expect(shown[at]).toContain(name.slice(0, 6))
      expect(shown.slice(0, at).findLast((line) => categories.includes(line))).toBe(category)
    }
  })

  test('a listing shows what it costs, what it takes and a result, and only what is to be pasted is longer', async () => {
    for (const name of ['url_evidence_snapshot', 'seo_audit']) {
      const shown = await lines(columns, 'services', 'view', name)
      expect(shown.filter((line) => line.length > columns && !line.includes('souk buy'))).toEqual([])
      const text = shown.join(' ').replace(/\s+/g, ' ')
      expect(text).toContain('you pay')
      expect(text).toMatch(/example result, shortened .*"engine": \{ "name": "souk"/)
      expect(shown.at(-1)).toMatch(/souk buy svc_\w+ .*--quote$/)
    }
  })
})

test('in an order of its own no category is named', async () => {
  const shown = await lines(80, 'services', 'list', '--sort', 'price_asc', '--limit', '100')
  const categories = (await catalog()).map(({ category }) => category)
  expect(shown.filter((line) => categories.includes(line))).toEqual([])
})
