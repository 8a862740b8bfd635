import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { openMarketplace } from '../../fixtures/market/marketplace.ts'
import { allScenarios } from '../../fixtures/scenarios/index.ts'
import { isKept, isScenario, kinds } from '../../fixtures/scenarios/scenario.ts'
import { openStage } from '../../fixtures/scenarios/stage.ts'
import { take } from '../../fixtures/scenarios/steps.ts'
import { changesOf } from '../../fixtures/scenarios/watch.ts'
import { api, type EndpointName, endpointNames } from '../../src/api/index.ts'

/** A stream that never ends is no answer that a scenario could wait for; `daemon/events/stream.test.ts` reads it. */
const endless: readonly EndpointName[] = ['streamEvents']
const asked = endpointNames.filter((name) => !endless.includes(name))

const linesOf = (row: EndpointName) => allScenarios.filter((line) => line.row === row)

test.each(asked)('%s has a scenario of every kind, or says why it has none', (row) => {
  const shown = new Set(linesOf(row).map((line) => line.kind))
  if (isKept(api[row])) shown.add('wrong_role')
  expect(kinds.filter((kind) => !shown.has(kind))).toEqual([])
})

test.each(asked)('%s is exempt from nothing that it shows', (row) => {
  const lines = linesOf(row)
  const shown = lines.filter(isScenario).map((line) => line.kind)
  expect(lines.filter((line) => !isScenario(line) && shown.some((kind) => kind === line.kind))).toEqual([])
})

test('every file of scenarios is played', () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
  const told = [...read('../../fixtures/scenarios/index.ts').matchAll(/import \{ (\w+Scenarios) \}/g)].map(
    ([, name]) => name,
  )
  const plays = readdirSync(import.meta.dirname).map((file) => read(file))
  expect(told.length).toBeGreaterThan(0)
  expect(
    told.filter((name) => !plays.some((text) => text.includes(`${name}`) && text.includes('describeScenarios('))),
  ).toEqual([])
})

test('no scenario is told twice', () => {
  const names = allScenarios.filter(isScenario).map(({ row, kind, that }) => `${row} ${kind} ${that}`)
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
})

describe('the watch over refusals', () => {
  test('sees a row that is written and a balance that moves', async () => {
    const market = await openMarketplace()
    try {
      const stage = openStage(market)
      await take(stage, ['a job', 'a balance'])
      const { ctx } = market.daemon
      const said = await changesOf({ ctx, paid: false }, async () => {
        await stage.must('postJobMessage', { as: 'buyer', params: { id: '$job' }, body: { message: 'Hello' } })
      })
      expect(said.map((change) => change.split(' ')[0])).toContain('messages')
      const read = await changesOf({ ctx, paid: true }, async () => {
        await stage.must('getJob', { as: 'stranger', params: { id: '$job' } })
      })
      expect(read).toContain('ops 1000')
    } finally {
      await market.close()
    }
  })
})
