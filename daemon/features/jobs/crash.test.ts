import { afterAll, beforeAll, expect, test } from 'vitest'
import { crashAtEachStep, sides } from '../../../fixtures/kit/crash.ts'
import { type Escrow, openEscrow, PRICE } from '../../../fixtures/market/escrow.ts'
import { jobIn } from '../../../fixtures/market/job-states.ts'
import type { Person } from '../../../fixtures/market/people.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import { account } from '../ledger/legs.ts'
import { runPayouts } from '../payouts/payouts.ts'
import { escrowMonitor } from './escrow-monitor.ts'

// @slow a crash at every step

let market: Escrow
let buyer: Person
beforeAll(async () => {
  market = await openEscrow()
  buyer = await market.agent({ balance: '5.00' })
})
afterAll(() => market.close())

type Paid = 'x402' | 'balance'

/** Where the money of these jobs can be; what is owed to the buyer's wallet is sent first, one payout after the other. */
async function purse() {
  await runPayouts(market.ctx())
  await runPayouts(market.ctx())
  return {
    provider: await market.booked(account.provider(market.provider.id)),
    balance: await market.booked(account.balance(buyer.id)),
    wallet: await market.onChain(buyer),
  }
}

/** What a run of the monitor finds: a job for each of its works, all due. */
async function arrange(from: Paid) {
  const states = ['dispatched', 'completed', 'verified', 'disputed'] as const
  const made = []
  for (const status of states) made.push(await jobIn(market, { status, buyer, from, byDefault: 'refund' }))
  await market.ctx().store.durable()
  const before = await purse()
  market.pass(15 * DAY_MS)
  return { ids: made.map(({ id }) => id), before }
}

const ways = sides.flatMap((side) => (['balance', 'x402'] as const).map((from) => ({ side, from })))

test.each(ways)('the escrow monitor may die $side any of its steps: each job paid by $from ends once', async (way) => {
  const { side, from } = way
  const steps = await crashAtEachStep(escrowMonitor, market.ctx(), {
    side,
    arrange: () => arrange(from),
    async check({ ids, before }) {
      const jobs = await Promise.all(ids.map(market.job))
      expect(jobs.map((job) => job.status)).toEqual(['expired', 'released', 'released', 'refunded'])
      expect(await Promise.all(ids.map(market.escrowed))).toEqual([0n, 0n, 0n, 0n])
      const back = 2n * PRICE.agent
      expect(await purse()).toEqual({
        provider: before.provider + 2n * PRICE.net,
        balance: before.balance + (from === 'balance' ? back : 0n),
        wallet: before.wallet + (from === 'x402' ? back : 0n),
      })
    },
  })
  expect(steps).toBeGreaterThanOrEqual(5)
  expect(await market.faults()).toEqual([])
})
