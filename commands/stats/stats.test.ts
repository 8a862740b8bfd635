import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRemoteMarket, type RemoteMarket } from '../../fixtures/kit/remote-market.ts'
import { explorerEvents } from '../../src/api/sections/stats.ts'
import { membersOf } from '../../src/cli/option-shape.ts'
import { DAY_MS } from '../../src/core/time.ts'
import { statsEvent as event } from '../stats.ts'

// @story the first day of a marketplace

/* Looks that are counted, and what is bought to look at: the catalog with its guide. */

let shop: RemoteMarket
beforeAll(async () => {
  shop = await openRemoteMarket()
})
afterAll(() => shop.market.close())

test('before the first night there is nothing, with exit 7 and when to come back', async () => {
  const { code, out, err } = await shop.souk(['stats', 'watching'])
  expect([code, out]).toEqual([7, ''])
  expect(err).toMatch(/02:00 UTC[\s\S]*try again in \d+ ?[hms]/)
})

test('what is counted shows the day after; what asked not to be tracked does not', async () => {
  expect(await shop.json(['stats', 'event', 'subject_view'])).toEqual({ event: 'subject_view', recorded: true })
  expect(await shop.json(['stats', 'event', 'subject_view', '--dnt'])).toEqual({
    event: 'subject_view',
    recorded: false,
  })
  await shop.json(['clock', 'advance', `${DAY_MS / 3_600_000}h`])
  await shop.json(['crons', 'run', 'stats-snapshot'])
  const { days } = await shop.json(['stats', 'watching'])
  expect(days[0]).toMatchObject({ explorer_interactions: 1, trust_queries: 0, distinct_callers: 1 })
  const { out } = await shop.souk(['stats', 'watching'])
  expect(out.split('\n')[0]?.split('\t')).toEqual([days[0].date, '0', '1', '1'])
})

test('its kinds are those of the interface', async () => {
  expect(membersOf(event.args)[0]?.[1].choices).toEqual(explorerEvents)
  const { code, err } = await shop.souk(['stats', 'event', 'subject_vew'])
  expect([code, err]).toEqual([2, expect.stringContaining('did you mean subject_view?')])
})

test('the catalog and its guide are paid for and shown, each for itself', async () => {
  await shop.json(['wallet', 'new', 'ann'])
  await shop.json(['wallet', 'fund', 'ann'])
  const found = await shop.json(['services', 'discover'])
  expect(found.services).toHaveLength(found.total)
  const { out: table } = await shop.souk(['services', 'discover'])
  expect(table.trimEnd().split('\n')).toHaveLength(found.total)
  const { out: guide } = await shop.souk(['services', 'discover', '--guide'])
  expect(guide.trimEnd()).toBe(found.guide_markdown.trimEnd())
  expect(Object.keys(await shop.json(['services', 'discover', '--guide']))).toEqual(['guide', 'guide_markdown'])
  expect((await shop.souk(['services', 'discover', '--pay', 'none'])).code).toBe(5)
})
