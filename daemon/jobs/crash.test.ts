import { afterAll, beforeAll, expect, test } from 'vitest'
import { crashAtEachStep, sides } from '../../fixtures/crash.ts'
import { type Escrow, openEscrow, PRICE } from '../../fixtures/escrow.ts'
import { jobIn } from '../../fixtures/job-states.ts'
import type { Person } from '../../fixtures/people.ts'
import { DAY_MS } from '../../src/core/time.ts'
import { escrowMonitor } from '../crons/escrow-monitor.ts'
import { account } from '../rules/books.ts'

let market: Escrow
let buyer: Person
beforeAll(async () => {
  market = await openEscrow()
  buyer = await market.agent({ balance: '5.00' })
})
afterAll(() => market.close())

/** What a run of the monitor finds: a job for each of its works, all due. */
async function arrange() {
  const states = ['dispatched', 'completed', 'verified', 'disputed'] as const
  const made = []
  for (const status of states) made.push(await jobIn(market, { status, buyer, from: 'balance' }))
  await market.world().store.durable()
  const before = {
    provider: await market.booked(account.provider(market.provider.id)),
    balance: await market.booked(account.balance(buyer.id)),
  }
  market.pass(15 * DAY_MS)
  return { ids: made.map(({ id }) => id), before }
}

test.each(sides)('the escrow monitor may die %s any of its steps: each job ends once', async (side) => {
  const steps = await crashAtEachStep(escrowMonitor, market.world(), {
    side,
    arrange,
    async check({ ids, before }) {
      const jobs = await Promise.all(ids.map(market.job))
      expect(jobs.map((job) => job.status)).toEqual(['expired', 'released', 'released', 'refunded'])
      expect({
        provider: await market.booked(account.provider(market.provider.id)),
        balance: await market.booked(account.balance(buyer.id)),
      }).toEqual({ provider: before.provider + 2n * PRICE.net, balance: before.balance + 2n * PRICE.agent })
    },
  })
  expect(steps).toBeGreaterThanOrEqual(5)
  expect(await market.faults()).toEqual([])
})
