import type { Hex } from '../../../src/core/hex.ts'
import type { PaymentFault } from '../../../src/core/payment-fault.ts'
import { SECOND_MS, unixSeconds } from '../../../src/core/time.ts'
import { type Context, defineResource, inBackground } from '../../kernel/context.ts'
import { shortLived } from '../../kernel/short-lived.ts'
import { flights, landed } from './flights.ts'
import { type SettlementRow, settlements } from './rows.ts'

/** Minimum time for which a settlement's success is kept for delivery, even if its authorization has expired. */
const LATE_MS = 120 * SECOND_MS
/** Maximum number of times that a success is sent again because the daemon was killed while sending it. */
export const MAX_DOUBTS = 3

/** Random id of this start of the daemon. A delivery that an earlier start left unfinished is in doubt. */
const handingStart = defineResource<string>('facilitator-start')
const START_BYTES = 16

export function openSettlements(ctx: Context): void {
  flights.open(ctx, shortLived())
  handingStart.open(ctx, ctx.entropy(START_BYTES).toString('hex'))
}

export type SettleOutcome =
  | { readonly ok: true; readonly transaction: Hex; readonly row: SettlementRow }
  | { readonly ok: false; readonly fault: PaymentFault; readonly transaction?: Hex }

export type Receiver = {
  readonly ctx: Context
  /** Aborted when the receiver disconnects. */
  readonly signal: () => AbortSignal
  /** Whether the whole response was sent; resolves when the response ends. */
  readonly sent: () => Promise<boolean>
}

/**
 * Whether a settlement's success was delivered, or is being delivered. If the daemon was killed during the delivery,
 * this is in doubt, and the same seller may ask again up to `MAX_DOUBTS` times.
 */
export function isHanded(ctx: Context, { state, handed_by, doubts = 0 }: SettlementRow): boolean {
  if (state !== 'handing') return state === 'handed'
  return handed_by === handingStart.of(ctx) || doubts >= MAX_DOUBTS
}

/** Whether an undelivered success is still kept. The time limit is short, because others can copy the calldata. */
export function isKept({ clock }: Context, { valid_before, settled_at }: SettlementRow): boolean {
  const now = clock.wall()
  return valid_before > BigInt(unixSeconds(now)) || now < (settled_at ?? 0) + LATE_MS
}

/**
 * Delivers the one success of an authorization. The row has state `handing` before the first byte is sent, and `handed`
 * after the last. If the caller disconnects during the delivery, the next caller gets the success.
 */
export async function hand(receiver: Receiver, id: string, transaction?: Hex): Promise<SettleOutcome> {
  const { ctx, signal, sent } = receiver
  if (signal().aborted) {
    await landed(ctx, id, transaction)
    return { ok: false, fault: 'settlement_pending' } // nobody reads it
  }
  const row = await begin(ctx, id, transaction)
  if (!row?.transaction) return { ok: false, fault: 'duplicate_settlement' }
  inBackground(ctx, 'facilitator', async () => end(ctx, row, await sent()))
  return { ok: true, transaction: row.transaction, row }
}

async function begin(ctx: Context, id: string, transaction?: Hex): Promise<SettlementRow | undefined> {
  const at = ctx.clock.wall()
  return ctx.store.tx(async (t) => {
    const held = await t.table(settlements).getForUpdate(id)
    const hash = transaction ?? held?.transaction
    if (!held || isHanded(ctx, held) || !hash) return undefined
    const { doubts = 0, settled_at } = held
    return t.table(settlements).put({
      ...held,
      state: 'handing',
      transaction: hash,
      settled_at: settled_at ?? at,
      handed_at: at,
      handed_by: handingStart.of(ctx),
      doubts: held.state === 'handing' ? doubts + 1 : doubts,
    })
  })
}

/** Records whether the whole response was sent. If it was not, the success waits for the next caller. */
async function end({ store }: Context, { id, handed_at, handed_by }: SettlementRow, isSent: boolean): Promise<void> {
  await store.tx(async (t) => {
    const row = await t.table(settlements).getForUpdate(id)
    if (row?.state !== 'handing' || row.handed_at !== handed_at || row.handed_by !== handed_by) return
    await t.table(settlements).put(isSent ? { ...row, state: 'handed' } : { ...row, state: 'settled', handed_at: null })
  })
}
