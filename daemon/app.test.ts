import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import type { statsApi } from '../src/api/sections/stats.ts'
import { partNames } from './app.ts'
import type { FreeHandlers } from './endpoint/handler.ts'
import { statsRoutes } from './features/stats/routes.ts'

const { rooms } = createRequire(import.meta.url)('../.dependency-cruiser.cjs') as {
  readonly rooms: readonly (readonly string[])[]
}
/** Those that bring nothing of their own. */
const EDGES = ['store', 'ports', 'http', 'app']

test('the contents page has every folder of features, in the order in which they may import each other', () => {
  const floors = (rooms.at(-1) ?? []).map((room) => basename(room)).filter((name) => !EDGES.includes(name))
  expect(partNames).toEqual(floors)
  const folders = readdirSync(join(import.meta.dirname, 'features'))
  expect(folders.filter((name) => !partNames.includes(name))).toEqual([])
})

test('a section answers each of its endpoints, and nothing else', () => {
  const { recordEvent, getWatching } = statsRoutes
  // @ts-expect-error: one is missing.
  const short: FreeHandlers<typeof statsApi> = { recordEvent }
  // @ts-expect-error: one is of no endpoint.
  const long: FreeHandlers<typeof statsApi> = { recordEvent, getWatching, getNothing: getWatching }
  expect([Object.keys(short), Object.keys(long)].map((names) => names.length)).toEqual([1, 3])
})
