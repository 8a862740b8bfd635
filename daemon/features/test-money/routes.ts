import type { testMoneyApi } from '../../../src/api/sections/test-money.ts'
import { AppError } from '../../../src/core/error.ts'
import type { FreeHandler, FreeHandlers } from '../../endpoint/handler.ts'
import { GRANT, refuseClosedFaucet, returnGrant, takeGrant, usedUp } from './faucet.ts'

/** Test money for whoever asks, so that a second person needs no admin key (decisions §3). */
const openFaucet: FreeHandler<typeof testMoneyApi.openFaucet> = async ({ body }, { ctx, wall, visitor }) => {
  const { chain, store } = ctx
  if (!chain.faucet) throw new AppError('unavailable', `The ${chain.mode} chain has no faucet: its money is real.`)
  refuseClosedFaucet(ctx)
  const { wallet } = body
  const asking = { wallet, address: visitor().address, wall }
  const remaining_today = await store.tx((t) => takeGrant(t, asking))
  const drip = await chain.faucet({ wallet, amount: GRANT, nowMs: wall })
  if (!drip.ok) {
    await store.tx((t) => returnGrant(t, asking))
    throw usedUp('this wallet', wall)
  }
  const balance = await chain.balanceOf(wallet)
  return { wallet, credited: drip.granted, balance, transaction: drip.transaction, remaining_today }
}

export const testMoneyRoutes: FreeHandlers<typeof testMoneyApi> = { openFaucet }
