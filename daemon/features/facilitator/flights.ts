import type { Hex } from '../../../src/core/hex.ts'
import type { PaymentFault } from '../../../src/core/payment-fault.ts'
import { compact } from '../../../src/core/record.ts'
import { unixSeconds } from '../../../src/core/time.ts'
import { type Context, defineResource, inBackground } from '../../kernel/context.ts'
import type { ShortLived } from '../../kernel/short-lived.ts'
import type { SettleResult } from '../../ports/chain/chain.ts'
import { eachPage } from '../../store/each-page.ts'
import { isFinal, settleFaults } from '../payments/settle.ts'
import { rulesOf, unspend } from './policy.ts'
import { type SettlementRow, settlements } from './rows.ts'

export type Landing =
  | { readonly ok: true; readonly transaction: Hex }
  /** The money may have moved, or may still move. */
  | { readonly ok: false; readonly failure: 'unavailable'; readonly transaction?: Hex }
  /** The money did not move. If the transfer was never sent, the authorization counts as unused. */
  | { readonly ok: false; readonly failure: 'refused'; readonly fault: PaymentFault }

/** A settlement in progress. All callers wait for the same result. */
export type Flight = { readonly landing: Promise<Landing>; waiting: number }

export const flights = defineResource<ShortLived<Flight>>('facilitator-flights')

/** Joins the settlement that is in progress for a row, or starts one. The chain moves the money only once. */
export function join(ctx: Context, row: SettlementRow): Flight {
  const { id } = row
  const known = flights.of(ctx).get(id)
  if (known) return known
  const landing = askChain(ctx, row)
    .then((result) => land(ctx, row, result))
    .finally(() => flights.of(ctx).delete(id))
  const flight: Flight = { landing, waiting: 0 }
  flights.of(ctx).set(id, flight)
  // If no caller waits any more, the success is stored for the next caller. The daemon does not stop before that.
  inBackground(ctx, 'facilitator', async () => {
    const result = await landing
    if (result.ok && flight.waiting === 0) await landed(ctx, id, result.transaction)
  })
  return flight
}

/** @returns undefined on a timeout, when the caller disconnects, or when the daemon stops. */
export async function wait(ctx: Context, flight: Flight, signal: AbortSignal): Promise<Landing | undefined> {
  if (signal.aborted || ctx.stopping.aborted) return undefined
  const { promise: left, resolve } = Promise.withResolvers<undefined>()
  const leave = () => resolve(undefined)
  const timer = setTimeout(leave, rulesOf(ctx).waitMs)
  const signals = [signal, ctx.stopping]
  for (const one of signals) one.addEventListener('abort', leave)
  flight.waiting += 1
  try {
    return await Promise.race([flight.landing, left])
  } finally {
    flight.waiting -= 1
    clearTimeout(timer)
    for (const one of signals) one.removeEventListener('abort', leave)
  }
}

/** Settles on the chain. After a chain error the transfer may have happened, so the result is `unavailable`. */
async function askChain({ chain, log }: Context, row: SettlementRow): Promise<SettleResult> {
  const authorization = {
    from: row.payer,
    to: row.pay_to,
    value: row.amount,
    validAfter: row.valid_after,
    validBefore: row.valid_before,
    nonce: row.nonce,
  }
  try {
    return await chain.settle(authorization, row.signature as Hex) // checked before the row was written
  } catch (error) {
    log.warn({ source: 'facilitator', settlement: row.id, err: String(error) }, 'the chain did not answer')
    return { ok: false, failure: 'unavailable', sent: true }
  }
}

async function land(ctx: Context, row: SettlementRow, result: SettleResult): Promise<Landing> {
  if (result.ok) return { ok: true, transaction: result.transaction }
  const { failure, transaction, sent } = result
  const isOver = isFinal(result) || (await neverSettled(ctx, row))
  if (isOver) await drop(ctx, row, sent)
  const fault = settleFaults[failure]
  if (isOver || fault !== 'settlement_pending') return { ok: false, failure: 'refused', fault }
  return { ok: false, failure: 'unavailable', ...compact({ transaction }) }
}

/** Whether the authorization can never be used: its nonce is unused and its window is closed. */
async function neverSettled({ chain, clock }: Context, row: SettlementRow): Promise<boolean> {
  if (row.valid_before >= BigInt(unixSeconds(clock.wall()))) return false
  // If the chain does not answer, keep the row.
  const state = await chain.authorizationState(row.payer, row.nonce, 'final').catch(() => undefined)
  return state?.used === false
}

/** Removes a row whose money did not move, so that its authorization can be settled later. */
async function drop({ store }: Context, { id, seller, created_at }: SettlementRow, sent: boolean): Promise<void> {
  await store.tx(async (t) => {
    const row = await t.table(settlements).getForUpdate(id)
    if (row?.state !== 'sent') return
    await t.table(settlements).delete(id)
    if (!sent) await unspend(t, seller, created_at)
  })
}

export async function landed(ctx: Context, id: string, transaction: Hex | undefined): Promise<void> {
  const at = ctx.clock.wall()
  await ctx.store.tx(async (t) => {
    const row = await t.table(settlements).getForUpdate(id)
    if (row?.state !== 'sent' || transaction === undefined) return
    await t.table(settlements).put({ ...row, state: 'settled', transaction, settled_at: at })
  })
}

const RECOVERY_PAGE = 100

/** Asks the chain about all sent settlements without a result. Called after a crash, and hourly. */
export async function recoverSettlements(ctx: Context): Promise<number> {
  let found = 0
  const slice = { index: 'state', prefix: ['sent'], limit: RECOVERY_PAGE }
  for await (const rows of eachPage(ctx.store.table(settlements), slice)) {
    for (const row of rows) join(ctx, row)
    found += rows.length
  }
  return found
}
