import { describe, expect, test } from 'vitest'
import { operations } from '../../fixtures/commerce/operations.ts'
import { runCommerce } from '../../fixtures/commerce/run.ts'
import type { Scene } from '../../fixtures/commerce/scene.ts'
import { runs } from '../../fixtures/kit/depth.ts'
import { ON_DEVNET } from '../../fixtures/kit/test-chain.ts'
import { ON_POSTGRES } from '../../fixtures/kit/test-store.ts'
import { usdc } from '../../src/core/money.ts'
import { jobs } from '../features/jobs/rows.ts'
import { account } from '../features/ledger/legs.ts'
import { post } from '../features/ledger/post.ts'
import { services } from '../features/listings/rows.ts'
import { participants } from '../kernel/rows.ts'
import { commit } from '../store/draw.ts'
import type { Tx } from '../store/port.ts'

// @slow random histories of a whole market

/* `npm run soak -- commerce` lets 2,000 sequences happen under a new seed. */

/** A chain of its own takes seven times as long for each, and a database four times. */
const SEQUENCES = sequences()
/** Sequences among which every operation comes to pass. */
const ENOUGH = 15
const STEPS = 200
const SEED = 20_261_121
const BUDGET_MS = 900_000

function sequences(): number {
  if (ON_DEVNET) return runs(40, 15)
  return ON_POSTGRES ? runs(100, 8) : runs(100, 30)
}

test(
  `${SEQUENCES} sequences of ${STEPS} operations, seed ${SEED}: each cent is in one place, and all of it ends`,
  async () => {
    const { done, restarts } = await runCommerce({ sequences: SEQUENCES, steps: STEPS, seed: SEED })
    expect(restarts).toBeGreaterThan(SEQUENCES / 4)
    const never = Object.keys(operations).filter((name) => !done[name]?.ok)
    // A few sequences leave out what is rare.
    if (SEQUENCES >= ENOUGH) expect(never).toEqual([])
  },
  BUDGET_MS,
)

describe('the watch over it', () => {
  /** A fault in the transaction of a job that holds money. */
  function faulty(change: (t: Tx, id: string, scene: Scene) => Promise<unknown>) {
    return async (scene: Scene) => {
      const job = await scene.pickIn('job', ['dispatched', 'in_progress'])
      if (!job) return undefined
      const { ctx } = scene.market.daemon
      await commit(ctx, (t) => change(t, job.id, scene))
      return 'planted'
    }
  }

  const plants = {
    'money that leaves an escrow behind its job’s back': async (scene: Scene) => {
      const job = await scene.pickIn('job', ['dispatched', 'in_progress'])
      if (!job) return undefined
      const { ctx } = scene.market.daemon
      const legs = [{ from: account.escrow(job.id), to: account.fees, amount: usdc(1n) }]
      const ref = { kind: 'job', id: job.id }
      await commit(ctx, (t, draw) => post(t, draw, { kind: 'escrow_release', ref, legs, at: ctx.clock.now() }))
      return 'planted'
    },
    'a job that forgets its money': faulty(async (t, id) => {
      const row = await t.table(jobs).getForUpdate(id)
      return row && t.table(jobs).put({ ...row, escrow_status: 'released' })
    }),
    'a job to which nothing happens next': faulty(async (t, id) => {
      const row = await t.table(jobs).getForUpdate(id)
      return row && t.table(jobs).put({ ...row, next_event_at: null })
    }),
  }

  test('finds a suspension that takes nothing off the market', async () => {
    const run = async ({ market, random, providers }: Scene) => {
      const { id } = random.pick(providers)
      // Who has nothing on the market yet leaves nothing on it.
      if ((await market.daemon.ctx.store.table(services).count('provider', [id, 'active'])) === 0) return undefined
      await commit(market.daemon.ctx, async (t) => {
        const row = await t.table(participants).getForUpdate(id)
        const sells = (await t.table(services).count('provider', [id, 'active'])) > 0
        if (row && sells) await t.table(participants).put({ ...row, suspended_at: row.suspended_at ?? 1 })
      })
      return 'planted'
    }
    const plan = { sequences: 1, steps: STEPS, seed: SEED, more: { plant: { weight: 20, run } } }
    await expect(runCommerce(plan)).rejects.toThrow(/step \d+: [\s\S]*active/)
  })

  test.each(Object.entries(plants))('finds %s', async (_, run) => {
    const plan = { sequences: 1, steps: STEPS, seed: SEED, more: { plant: { weight: 20, run } } }
    await expect(runCommerce(plan)).rejects.toThrow(/step \d+: [\s\S]*plant/)
  })
})
