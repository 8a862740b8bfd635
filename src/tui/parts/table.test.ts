import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lineWidth, type ScreenColumn, type ScreenTable, tableLines, textOf, windowStart } from './line.ts'

type Job = { readonly id: string; readonly service: string; readonly buyer: string; readonly amount: string }

const jobs: Job[] = Array.from({ length: 40 }, (_, i) => ({
  id: `job_8Kd2aB${String(i).padStart(2, '0')}`,
  service: `a service with a long name ${i}`,
  buyer: '0x1f…88 Acme',
  amount: `$${i}.525`,
}))

const columns: ScreenColumn<Job>[] = [
  { title: 'JOB', value: ({ id }) => id, exact: true },
  { title: 'SERVICE', value: ({ service }) => service, min: 8 },
  { title: 'BUYER', value: ({ buyer }) => buyer, drop: 2 },
  { title: 'AMOUNT', value: ({ amount }) => amount, align: 'right', exact: true },
  { title: 'NOTE', value: () => 'note', drop: 1 },
]

const draw = (width: number, window: Partial<Pick<ScreenTable<Job>, 'rows' | 'chosen' | 'height'>> = {}) =>
  tableLines({ columns, rows: jobs, chosen: 0, height: 10, ...window, width })
const titles = (width: number) => textOf(draw(width).head).trim().split(/\s+/)

describe('columns', () => {
  it('go by their priority and are never cut in ids and money', () => {
    expect(titles(100)).toEqual(['JOB', 'SERVICE', 'BUYER', 'AMOUNT', 'NOTE'])
    expect(titles(50)).toEqual(['JOB', 'SERVICE', 'AMOUNT', 'NOTE'])
    expect(titles(38)).toEqual(['JOB', 'SERVICE', 'AMOUNT'])
  })

  it('from 38 to 200 columns: whole ids and money, exact width', () => {
    for (let width = 38; width <= 200; width += 1) {
      const { head, body } = draw(width)
      for (const line of [head, ...body]) expect(lineWidth(line)).toBe(width)
      body.forEach((line, i) => {
        expect(textOf(line)).toContain(jobs[i]?.id)
        expect(textOf(line)).toContain(jobs[i]?.amount)
      })
    }
  })
})

describe('the window', () => {
  it('holds the chosen row, fills the height, and draws nothing else', () => {
    fc.assert(
      fc.property(fc.nat(60), fc.integer({ min: 1, max: 20 }), fc.nat(59), (count, height, at) => {
        const rows = Array.from({ length: count }, (_, i) => ({ ...(jobs[0] as Job), id: `row-${i}-` }))
        const chosen = count === 0 ? -1 : at % count
        const { body } = draw(80, { chosen, rows, height })
        expect(body).toHaveLength(height)
        const shown = body.map(textOf).filter((text) => text.includes('row-'))
        expect(shown).toHaveLength(Math.min(count, height))
        expect(shown.filter((text) => text.startsWith('▌'))).toHaveLength(count === 0 ? 0 : 1)
        if (count > 0) expect(shown.find((text) => text.startsWith('▌'))).toContain(`row-${chosen}-`)
      }),
    )
  })

  it('stands still at both ends', () => {
    const at = (chosen: number) => windowStart({ rows: jobs, chosen, height: 10 })
    expect([at(-1), at(0), at(4), at(5), at(20), at(39)]).toEqual([0, 0, 0, 1, 16, 30])
  })
})
