// @slow it lives through three months of trade
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import type { ScreenId } from '../../src/nouns/screens.ts'
import { openOn } from '../../src/tui/cockpit.testkit.tsx'
import type { Line } from '../../src/tui/parts/line.ts'
import { inMarketOfPictures, TAKEN_AT } from './market.testkit.ts'
import { svgOf } from './svg.ts'

/*
 * The pictures of the documentation, taken anew of a living market and compared with those that lie there;
 * `npm run pictures` puts the new ones in their place.
 */

type Shot = {
  readonly title: string
  readonly screen: ScreenId
  readonly columns: number
  readonly rows: number
  /** What is typed there. */
  readonly keys?: string
}

const shots: Readonly<Record<string, Shot>> = {
  overview: { title: 'The overview', screen: 'overview', columns: 160, rows: 50 },
  jobs: { title: 'Jobs, a dispute beside the list', screen: 'jobs', columns: 160, rows: 36, keys: 'vv' },
  threads: { title: 'Threads', screen: 'threads', columns: 160, rows: 30 },
  money: { title: 'Money', screen: 'money', columns: 160, rows: 36 },
  services: { title: 'Services', screen: 'services', columns: 100, rows: 30 },
  endpoints: { title: 'Endpoints', screen: 'endpoints', columns: 100, rows: 30 },
  crons: { title: 'Crons', screen: 'crons', columns: 100, rows: 30 },
  compliance: { title: 'Compliance', screen: 'compliance', columns: 100, rows: 24 },
  pause: { title: 'The dialog that pauses payments', screen: 'overview', columns: 80, rows: 24, keys: 'P' },
}
const FOLDER = join(import.meta.dirname, '..', '..', 'docs', 'pictures')
const BYTES_MAX = 60_000

const taken: Record<string, readonly Line[]> = {}

beforeAll(async () => {
  await inMarketOfPictures(async (link) => {
    for (const [name, { screen, columns, rows, keys = '' }] of Object.entries(shots)) {
      const opened = await openOn({ link, screen, columns, rows, now: TAKEN_AT })
      const still = async () => {
        await opened.until(link.isStill)
        await opened.advance(0)
      }
      try {
        await still()
        for (const key of keys) {
          await opened.type(key)
          await still()
        }
        await opened.advance(1_000)
        await still()
        taken[name] = opened.lines()
      } finally {
        opened.close()
      }
    }
  })
})

it.each(Object.entries(shots))('the picture %s is what the cockpit shows', async (name, { title }) => {
  const picture = svgOf(taken[name] ?? [], `souk tui: ${title}`)
  expect(Buffer.byteLength(picture)).toBeLessThanOrEqual(BYTES_MAX)
  const file = join(FOLDER, `${name}.svg`)
  if (process.env.MODE === 'pictures') writeFileSync(file, picture)
  expect(readFileSync(file, 'utf8') === picture, `docs/pictures/${name}.svg is stale: npm run pictures`).toBe(true)
})
