import type { Hex } from '../../../src/core/hex.ts'
import type { PaymentFault } from '../../../src/core/payment-fault.ts'
import { SECOND_MS, unixSeconds } from '../../../src/core/time.ts'
import { type Context, inBackground } from '../../kernel/context.ts'
import { defineResource } from '../../kernel/resource.ts'
import { shortLived } from '../../kernel/short-lived.ts'
import { flights, landed } from './flights.ts'
import { type SettlementRow, settlements } from './rows.ts'

/** After its window, a success that nobody received is kept for who settles late by this much. */
const LATE_MS = 120 * SECOND_MS
/** A success is handed out again this often where a daemon was killed before it knew that it had arrived. */
export const MAX_DOUBTS = 3

/** Names this start of the daemon: what another one was handing out is in doubt. */
const handingStart = defineResource<string>('facilitator-start')
const START_BYTES = 16

/** What settlements work with while the daemon runs. */
export function openSettlements(ctx: Context): void {
  flights.open(ctx, shortLived())
  handingStart.open(ctx, ctx.entropy(START_BYTES).toString('hex'))
}

export type SettleOutcome =
  | { readonly ok: true; readonly transaction: Hex; readonly row: SettlementRow }
  | { readonly ok: false; readonly fault: PaymentFault; readonly transaction?: Hex }

/** Who waits for an answer. */
export type Receiver = {
  readonly ctx: Context
  /** Aborted when it goes away. */
  readonly signal: () => AbortSignal
  /** Whether the whole answer left, once that is over. */
  readonly sent: () => Promise<boolean>
}

/**
 * Whether its success is out, or on its way to somebody. What a daemon was handing out when it was killed is in doubt:
 * that may be asked for again, by the same seller and for the same requirement.
 */
export function isHanded(ctx: Context, { state, handed_by, doubts = 0 }: SettlementRow): boolean {
  if (state !== 'handing') return state === 'handed'
  return handed_by === handingStart.of(ctx) || doubts >= MAX_DOUBTS
}

/** Settled calldata is public: who is shown it later than that is not the one who paid. */
export function isKept({ clock }: Context, { valid_before, settled_at }: SettlementRow): boolean {
  const now = clock.wall()
  return valid_before > BigInt(unixSeconds(now)) || now < (settled_at ?? 0) + LATE_MS
}

/**
 * Hands the one success of an authorization out. That it is on its way is durable before a byte of it is sent; that it
 * left whole, right after. A caller that hung up before leaves it to who asks for it again.
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

/** It left whole; or it did not, and waits for who asks for it again. */
async function end({ store }: Context, { id, handed_at, handed_by }: SettlementRow, isSent: boolean): Promise<void> {
  await store.tx(async (t) => {
    const row = await t.table(settlements).getForUpdate(id)
    if (row?.state !== 'handing' || row.handed_at !== handed_at || row.handed_by !== handed_by) return
    await t.table(settlements).put(isSent ? { ...row, state: 'handed' } : { ...row, state: 'settled', handed_at: null })
  })
}
