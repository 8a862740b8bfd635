import { AppError } from '../../../src/core/error.ts'
import type { Hex } from '../../../src/core/hex.ts'
import { usdc } from '../../../src/core/money.ts'
import { DAY_MS, SECOND_MS } from '../../../src/core/time.ts'
import type { Context } from '../../kernel/context.ts'
import type { Draft, ReadTx } from '../../store/port.ts'
import { authorizationId } from '../payments/order.ts'
import type { FacilitatorAsk } from './ask.ts'
import { join, wait } from './flights.ts'
import { hand, isHanded, isKept, type Receiver, type SettleOutcome } from './hand.ts'
import { rulesOf, type ServedSeller, spend } from './policy.ts'
import { type SettlementRow, settlements } from './rows.ts'

/** Maximum settlements of one payer that wait for the chain. `MAX_SENT` limits those of all payers. */
const MAX_SENT_OF_PAYER = 256
const MAX_SENT = 4_096
/** Maximum time for which a row is kept because its authorization is still usable. */
const MAX_NEEDED_MS = 3_650 * DAY_MS

export type Settling = Receiver & {
  readonly asked: FacilitatorAsk
  readonly seller: ServedSeller
}

export function idOf(ctx: Context, { credential }: FacilitatorAsk): string {
  return authorizationId(ctx, credential)
}

/** Whether a request repeats a settlement: seller, requirement and signed bytes are the same. */
export function isRepeated(row: SettlementRow, { asked, seller }: Pick<Settling, 'asked' | 'seller'>): boolean {
  const { authorization, signature } = asked.credential
  return (
    row.seller === seller.id &&
    row.requirement === asked.fingerprint &&
    row.signature === signature &&
    row.pay_to === authorization.to &&
    row.amount === authorization.value &&
    row.valid_after === authorization.validAfter &&
    row.valid_before === authorization.validBefore
  )
}

/** Stores a settlement before it is sent. @returns the existing row, or the new one */
export function begin({ ctx, asked, seller }: Settling): Promise<SettlementRow> {
  const wall = ctx.clock.wall()
  const { dailyGas } = rulesOf(ctx)
  return ctx.store.tx(async (t) => {
    const id = idOf(ctx, asked)
    const known = await t.table(settlements).getForUpdate(id)
    if (known) return known
    await refuseTooMany(t, asked.credential.authorization.from)
    if (seller.wallet !== null) await spend(t, { seller, wall, dailyGas })
    return t.table(settlements).put(draftOf(id, { asked, seller, wall }))
  })
}

type Beginning = { readonly asked: FacilitatorAsk; readonly seller: ServedSeller; readonly wall: number }

function draftOf(id: string, { asked, seller, wall }: Beginning): Draft<SettlementRow> {
  const { authorization, signature } = asked.credential
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  const end = validBefore * BigInt(SECOND_MS)
  const latest = wall + MAX_NEEDED_MS
  return {
    id,
    seller: seller.id,
    requirement: asked.fingerprint,
    state: 'sent',
    x402_version: asked.version,
    payer: from,
    pay_to: to,
    amount: usdc(value),
    valid_after: validAfter,
    valid_before: validBefore,
    nonce,
    signature,
    resource: asked.resource,
    transaction: null,
    needed_until: end < BigInt(latest) ? Number(end) : latest,
    created_at: wall,
    settled_at: null,
    handed_at: null,
  }
}

/** @throws AppError 429 if the payer has too many waiting settlements, 503 if all payers together have too many */
async function refuseTooMany(t: ReadTx, payer: string): Promise<void> {
  if ((await t.table(settlements).count('sent_payer', [payer])) >= MAX_SENT_OF_PAYER) {
    throw new AppError('rate_limited', `${MAX_SENT_OF_PAYER} payments of this wallet are being settled.`, {
      retryAfter: 1,
    })
  }
  if ((await t.table(settlements).count('state', ['sent'])) >= MAX_SENT) {
    throw new AppError('unavailable', 'Too many payments are being settled: try again in a moment.', { retryAfter: 1 })
  }
}

/**
 * Settles a payment. The success is delivered once, to a connected caller whose request equals the stored request. If
 * the wait ends without a result, the response is `settlement_pending`, but the money may still move.
 */
export async function finish(settling: Settling, row: SettlementRow): Promise<SettleOutcome> {
  const { ctx } = settling
  if (!isRepeated(row, settling) || isHanded(ctx, row)) return { ok: false, fault: 'duplicate_settlement' }
  if (row.state !== 'sent') return isKept(ctx, row) ? hand(settling, row.id) : { ok: false, fault: 'expired' }
  const flight = join(ctx, row)
  const result = await wait(ctx, flight, settling.signal())
  if (result === undefined) return pending(ctx, row)
  if (result.ok) return hand(settling, row.id, result.transaction)
  if (result.failure === 'unavailable') return pending(ctx, row, result.transaction)
  return { ok: false, fault: result.fault }
}

/** Response for a settlement in progress. After this response, existing server packages retry. */
async function pending({ chain }: Context, row: SettlementRow, hash?: Hex): Promise<SettleOutcome> {
  // Without a hash, ask the chain for it. If the chain does not know it either, the response has no hash.
  const known = hash ?? (await chain.authorizationState(row.payer, row.nonce).catch(() => undefined))?.transaction
  return { ok: false, fault: 'settlement_pending', ...(known === undefined ? {} : { transaction: known }) }
}
