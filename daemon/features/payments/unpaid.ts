import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { AppError } from '../../../src/core/error.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import { HOUR_MS, SECOND_MS } from '../../../src/core/time.ts'
import type { Context } from '../../kernel/context.ts'
import { defineResource } from '../../kernel/resource.ts'

/** Reservations of one wallet within an hour that may end without a charge: each costs work that nobody pays for. */
export const MAX_UNPAID_ATTEMPTS = 600

/** Wall time, in memory: what a restart forgets is an hour's count. */
export const unpaidAttempts = defineResource<RateLimiterMemory>('counts of unpaid attempts')

export const countingUnpaid = (): RateLimiterMemory =>
  new RateLimiterMemory({ points: MAX_UNPAID_ATTEMPTS, duration: HOUR_MS / SECOND_MS })

/** Counts a reservation that ended without a charge. */
export async function countUnpaid(ctx: Context, wallet: Wallet): Promise<void> {
  await unpaidAttempts.of(ctx).penalty(wallet)
}

/** @throws AppError 429 where too many reservations of a wallet have ended without a charge. */
export async function refuseUnpaid(ctx: Context, wallet: Wallet): Promise<void> {
  const state: RateLimiterRes | null = await unpaidAttempts.of(ctx).get(wallet)
  if (state === null || state.consumedPoints < MAX_UNPAID_ATTEMPTS) return
  throw new AppError('rate_limited', `${MAX_UNPAID_ATTEMPTS} purchases of this wallet within an hour were not paid.`, {
    retryAfter: Math.max(1, Math.ceil(state.msBeforeNext / SECOND_MS)),
  })
}
