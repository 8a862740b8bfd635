import type { Wallet } from '../../../src/core/hex.ts'
import { type Usdc, usdc, ZERO } from '../../../src/core/money.ts'
import { MINUTE_MS } from '../../../src/core/time.ts'
import { defineCron } from '../../crons/cron.ts'
import { everyQuarterHour } from '../../crons/schedule.ts'
import type { Context } from '../../kernel/context.ts'
import { putSetting, settings } from '../../kernel/rows.ts'
import { hotBalance } from '../../ports/chain/chain.ts'
import { commit } from '../../store/draw.ts'
import type { ReadTx } from '../../store/port.ts'
import { account } from '../ledger/legs.ts'
import { balanceOf, post } from '../ledger/post.ts'
import { openPayout, openPayoutOf, runPayouts } from './payouts.ts'

/** Smallest amount that is worth its gas. */
const LEAST = usdc(1_000_000n)

/**
 * What the pay-to wallet has to send to the cold address: what is above the ceiling, but no more than the operator's own
 * money that is not cold yet. So what the marketplace owes to others stays, also what lies in escrow.
 */
export async function coldDue(t: ReadTx, hot: Usdc, ceiling: Usdc): Promise<Usdc> {
  const own = (await balanceOf(t, account.oper)) + (await balanceOf(t, account.cold))
  const above = hot - ceiling
  const due = above < own ? above : own
  return due < LEAST ? ZERO : usdc(due)
}

/** Sends what is above the ceiling to the cold address, as a payout: at most one at a time, and each once. */
export const coldSweep = defineCron({
  name: 'cold-sweep',
  schedule: everyQuarterHour,
  deadlineMs: 10 * MINUTE_MS,
  inHealth: false,
  async run({ ctx }) {
    const { coldAddress, hotCeiling } = ctx.config
    if (coldAddress === undefined || hotCeiling === undefined) return undefined
    await bookReturned(ctx, coldAddress)
    if (ctx.switches.now().paused) return { skip: 'paused' }
    const hot = await hotBalance(ctx.chain)
    await commit(ctx, async (t, draw) => {
      const amount = await coldDue(t, hot, hotCeiling)
      const ref = { kind: 'cold', id: coldAddress }
      const payout = { kind: 'cold', wallet: coldAddress, source: account.cold, amount, ref } as const
      await openPayout(t, draw, { ...payout, at: ctx.clock.now() })
    })
    await runPayouts(ctx)
    return undefined
  },
})

/** Books what the cold address sent to a pay-to address, each transfer once. What it signed for is a payment. */
async function bookReturned(ctx: Context, cold: Wallet): Promise<void> {
  if (!ctx.chain.catchUp) return
  const key = `returned:${cold}`
  const seen = async (t: ReadTx) => Number((await t.table(settings).get(key))?.value ?? 0) || undefined
  const since = await ctx.store.read(seen)
  const { rows, next } = await ctx.chain.catchUp.received(cold, since)
  if (next === since) return
  await commit(ctx, async (t, draw) => {
    // Another run was faster.
    if ((await seen(t)) !== since) return
    for (const { id, value: amount } of rows.filter(({ nonce }) => !nonce)) {
      const legs = [{ from: account.ext, to: account.cold, amount }]
      await post(t, draw, { kind: 'adjustment', ref: { kind: 'cold', id }, legs, at: ctx.clock.now() })
    }
    await putSetting(t, key, next)
  })
}

/** Whether nothing moves what the pay-to wallet holds above its ceiling: it is owed to others, or the payout waits. */
export async function staysHot({ store, config }: Context, hot: Usdc): Promise<boolean> {
  const { coldAddress, hotCeiling } = config
  if (coldAddress === undefined || hotCeiling === undefined) return true
  return store.read(async (t) => {
    const open = await openPayoutOf(t, coldAddress)
    return open ? open.attempts > 1 : (await coldDue(t, hot, hotCeiling)) === ZERO
  })
}
