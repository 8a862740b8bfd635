import type { testMoneyApi } from '../../../src/api/sections/test-money.ts'
import { AppError } from '../../../src/core/error.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import { isLoopback } from '../../../src/core/loopback.ts'
import { formatAmount, type Usdc, usdc, ZERO } from '../../../src/core/money.ts'
import { DAY_MS, dayOf, SECOND_MS } from '../../../src/core/time.ts'
import type { FreeHandler, FreeHandlers } from '../../endpoint/handler.ts'
import type { Context } from '../../kernel/context.ts'
import { hashSecret } from '../../kernel/identity.ts'
import type { Tx } from '../../store/port.ts'
import { grantDays } from './rows.ts'

const DOLLAR = 1_000_000n
/** Amount per call. The amounts below are daily limits (decisions §3). */
export const GRANT = usdc(10n * DOLLAR)
const PER_WALLET = usdc(100n * DOLLAR)
const PER_ADDRESS = usdc(1_000n * DOLLAR)
const PER_MARKETPLACE = usdc(10_000n * DOLLAR)
/** Number of hash digits that stand for a network address. */
const BUCKET_DIGITS = 16

type Asking = { readonly wallet: Wallet; readonly address: string; readonly wall: number }
type Bound = { readonly id: string; readonly most: Usdc; readonly whose: string }

/** @throws AppError `forbidden` if other machines can reach the marketplace and the operator did not open the faucet */
export function refuseClosedFaucet({ config }: Pick<Context, 'config'>): void {
  if (config.publicFaucet) return
  if (config.publicUrl === undefined && isLoopback(config.host)) return
  throw new AppError('forbidden', 'The faucet of this marketplace is closed: ask its operator for test money.')
}

/** Counts a grant against every daily limit. @throws AppError rate_limited; then nothing is counted */
export async function takeGrant(t: Tx, asking: Asking): Promise<Usdc> {
  const day = dayOf(asking.wall)
  const bounds = boundsOf(asking)
  const table = t.table(grantDays)
  const rows = []
  for (const { id, most, whose } of bounds) {
    const row = await table.getForUpdate(id)
    if ((row?.granted ?? ZERO) + GRANT > most) throw usedUp(whose, asking.wall)
    rows.push({ id, row })
  }
  for (const { id, row } of rows) {
    if (row) await table.update(id, row.version, { granted: usdc(row.granted + GRANT) })
    else await table.insert({ id, day, granted: GRANT })
  }
  const own = rows[0]?.row?.granted ?? ZERO
  return usdc(PER_WALLET - own - GRANT)
}

/** Subtracts a refused grant from all of the day's counts. */
export async function returnGrant(t: Tx, asking: Asking): Promise<void> {
  const table = t.table(grantDays)
  for (const { id } of boundsOf(asking)) {
    const row = await table.getForUpdate(id)
    if (row) await table.update(id, row.version, { granted: usdc(row.granted - GRANT) })
  }
}

function boundsOf({ wallet, address, wall }: Asking): readonly Bound[] {
  const day = dayOf(wall)
  const bucket = hashSecret(address).slice(0, BUCKET_DIGITS)
  return [
    { id: `${day}:wallet:${wallet}`, most: PER_WALLET, whose: 'this wallet' },
    { id: `${day}:address:${bucket}`, most: PER_ADDRESS, whose: 'your network address' },
    { id: `${day}:all`, most: PER_MARKETPLACE, whose: 'everybody' },
  ]
}

export function usedUp(whose: string, wall: number): AppError {
  const retryAfter = Math.ceil(((dayOf(wall) + 1) * DAY_MS - wall) / SECOND_MS)
  return new AppError('rate_limited', `The daily faucet limit for ${whose} is reached: try again tomorrow (UTC).`, {
    retryAfter,
    extra: { remaining_today: formatAmount(ZERO) },
  })
}

/** Gives test money to anyone, without the admin key (decisions §3). */
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
