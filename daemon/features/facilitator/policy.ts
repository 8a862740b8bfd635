import { AppError } from '../../../src/core/error.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import { usdc } from '../../../src/core/money.ts'
import type { PaymentFault } from '../../../src/core/payment-fault.ts'
import { DAY_MS, dayOf, SECOND_MS } from '../../../src/core/time.ts'
import type { FacilitatorConfig } from '../../../src/model/payment.ts'
import type { Context } from '../../kernel/context.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import { isOwn } from '../../ports/chain/chain.ts'
import { everyRow } from '../../store/each-page.ts'
import type { ReadTx, Tx } from '../../store/port.ts'
import { facilitatorDays } from './rows.ts'

/** Seller id of settlements made without an API key. */
export const LOCAL_SELLER = 'local'
/** Gas of one transfer by authorization: measured 77.7 thousand, rounded up. */
const GAS_OF_SETTLEMENT = 80_000

/** Daily gas limit of all keys together, as a multiple of one key's limit. Needed because anyone can get many keys. */
const DAILY_GAS_KEYS = 10
const PAGE_ROWS = 1_000

export const facilitatorDefaults = {
  payTo: [] as readonly Wallet[],
  minValue: usdc(1_000n),
  dailyGas: 1_000 * GAS_OF_SETTLEMENT,
  waitMs: 45 * SECOND_MS,
} as const satisfies Required<FacilitatorConfig>

export function rulesOf({ config }: Pick<Context, 'config'>): Required<FacilitatorConfig> {
  return { ...facilitatorDefaults, ...config.facilitator }
}

/** The seller whose payment is settled: the holder of a key, or a local caller with test money. */
export type ServedSeller = { readonly id: string; readonly wallet: Wallet | null }

export function sellerOf(caller: ParticipantRow | null): ServedSeller {
  return caller === null ? { id: LOCAL_SELLER, wallet: null } : { id: caller.id, wallet: caller.wallet }
}

type SettlementParams = {
  readonly seller: ServedSeller
  readonly payer: Wallet
  readonly payTo: Wallet
  readonly value: bigint
}

/**
 * Why this payer, payee or amount is refused; undefined if none is. Payments to the marketplace itself are refused, so
 * that no authorization is settled both as a purchase and by the facilitator.
 */
export function policyFault(ctx: Context, { seller, payer, payTo, value }: SettlementParams): PaymentFault | undefined {
  if (payer === payTo) return 'self_payment'
  if (isOwn(ctx.chain, payTo)) return 'payee_not_served'
  if (seller.wallet === null) return undefined
  const rules = rulesOf(ctx)
  if (payTo !== seller.wallet && !rules.payTo.includes(payTo)) return 'payee_not_served'
  return value < rules.minValue ? 'value_too_small' : undefined
}

type Spender = { readonly seller: ServedSeller; readonly wall: number; readonly dailyGas: number }

/** @throws AppError `rate_limited` if this key, or all keys together, have used up the day's gas. */
export async function refuseSpent(t: ReadTx, { seller, wall, dailyGas }: Spender): Promise<void> {
  if (seller.wallet === null) return
  const days = await everyRow(t.table(facilitatorDays), { index: 'day', prefix: [dayOf(wall)], limit: PAGE_ROWS })
  const own = days.find(({ id }) => id === dayId(seller, wall))?.gas ?? 0
  const all = days.reduce((sum, { gas }) => sum + gas, 0)
  const isOwn = own + GAS_OF_SETTLEMENT > dailyGas
  if (!isOwn && all + GAS_OF_SETTLEMENT <= dailyGas * DAILY_GAS_KEYS) return
  const retryAfter = Math.ceil(((dayOf(wall) + 1) * DAY_MS - wall) / SECOND_MS)
  const who = isOwn ? 'This key has' : 'All keys together have'
  throw new AppError('rate_limited', `${who} used the daily gas limit: try again tomorrow (UTC).`, { retryAfter })
}

/** Counts a settlement and its gas for the day. Call it before sending. @throws AppError as `refuseSpent` does */
export async function spend(t: Tx, spender: Spender): Promise<void> {
  await t.table(facilitatorDays).getForUpdate(dayId(spender.seller, spender.wall))
  await refuseSpent(t, spender)
  const { seller, wall } = spender
  const id = dayId(seller, wall)
  const row = await t.table(facilitatorDays).get(id)
  const gas = (row?.gas ?? 0) + GAS_OF_SETTLEMENT
  const settled = (row?.settlements ?? 0) + 1
  await t.table(facilitatorDays).put({ id, day: dayOf(wall), seller: seller.id, settlements: settled, gas })
}

/** Reduces the day's count by a settlement that was never sent. */
export async function unspend(t: Tx, sellerId: string, at: number): Promise<void> {
  const id = `${dayOf(at)}:${sellerId}`
  const row = await t.table(facilitatorDays).getForUpdate(id)
  if (!row) return
  const { settlements: settled, gas } = row
  await t.table(facilitatorDays).put({ ...row, settlements: settled - 1, gas: gas - GAS_OF_SETTLEMENT })
}

function dayId({ id }: ServedSeller, wall: number): string {
  return `${dayOf(wall)}:${id}`
}
