import { afterEach, describe, expect, it } from 'vitest'
import { type Opened, openOn } from './cockpit.testkit.tsx'
import { market } from './fixtures.testkit.ts'
import { job, jobsOf } from './jobs/jobs.testkit.ts'

const LIST = '/dashboard/api/admin/jobs'
const SETTLED_MS = 1_000

let open: Opened | undefined
afterEach(() => open?.close())

async function onJobs() {
  const all = [job(1, 'dispatched'), job(2, 'disputed'), job(3, 'released')]
  const link = market({ [`GET ${LIST}`]: jobsOf(all) })
  open = await openOn({ link, screen: 'jobs' })
  const asked = () => link.calls.findLast(({ path }) => path === LIST)?.query ?? {}
  return { ...open, asked }
}

describe('what is typed behind /', () => {
  it('is asked of the instance, for all pages, once nothing more is typed', async () => {
    const { type, advance, asked, rows } = await onJobs()
    await type('v/status:disputed !logo')
    expect(asked().filter).toBeUndefined()
    await advance(SETTLED_MS)
    expect(asked()).toMatchObject({ filter: 'status:disputed !logo', offset: '0' })
    expect(rows()[3]).toMatch(/\/status:disputed !logo▏ +1 of 1/)
    await type('\u001B')
    await open?.until(() => !rows()[3]?.includes('status:disputed'))
    await advance(SETTLED_MS)
    expect(rows()[3]).toContain('3 of 3')
  })

  it('goes with the view: both narrow', async () => {
    const { type, advance, asked } = await onJobs()
    await type('/amount:>0.10\r')
    await advance(SETTLED_MS)
    expect(asked().filter).toBe('open:yes amount:>0.10')
  })

  it('is told what is wrong with it at once, with the fields there are, and not sent', async () => {
    const { type, advance, asked, text } = await onJobs()
    await type('v/buyr:acme')
    expect(text()).toContain('! The filter has no field buyr: there are id, status')
    await advance(SETTLED_MS)
    expect(asked().filter).toBeUndefined()
  })
})

describe('a list', () => {
  it('is sorted by each of its fields by the instance, and the other way round', async () => {
    const { type, advance, asked, rows } = await onJobs()
    await type('ssr')
    await advance(SETTLED_MS)
    expect(asked().sort).toBe('-status')
    expect(rows()[3]).toContain('by status ↓')
    await type('r')
    await advance(SETTLED_MS)
    expect(asked().sort).toBe('status')
  })

  it('that comes whole is sorted here, by the same fields and words', async () => {
    open = await openOn({ link: market(), screen: 'crons' })
    const { type, rows, text } = open
    await type('s')
    const names = () =>
      rows()
        .slice(4)
        .flatMap((row) => /^[▌ ] ([a-z][a-z-]+) {2}/.exec(row)?.[1] ?? [])
    expect(text()).toContain('by name ↑')
    expect(names()).toEqual(names().toSorted())
    await type('r')
    expect(names()).toEqual(names().toSorted().toReversed())
    await type('/state:failing')
    expect(names()).toEqual(['provider-settlement'])
  })
})
