import type { z } from 'zod'
import type { earningsApi, settlementStatuses } from '../../../src/api/sections/earnings.ts'
import { DEFAULT_PAGE } from '../../../src/core/limits.ts'
import { usdc } from '../../../src/core/money.ts'
import type { FreeHandlers } from '../../endpoint/handler.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import type { ReadTx } from '../../store/port.ts'
import { type JobRow, jobs } from '../jobs/rows.ts'
import { earnedAs } from '../ledger/earnings.ts'
import { account } from '../ledger/legs.ts'
import { type EarningRow, earnings } from '../ledger/rows.ts'
import { type PayoutRow, payouts } from '../payouts/rows.ts'
import { screened, waitsOf } from './waiting.ts'

/** Maximum recent payouts searched. Enough for all listed sales, since each payout carries at least one sale. */
const PAYOUTS_LOOKED_AT = 100

type Answer = z.output<(typeof earningsApi.getEarnings)['reply']['schema']>
type Status = (typeof settlementStatuses)[number]

export const earningsRoutes: FreeHandlers<typeof earningsApi> = {
  getEarnings: async (_input, { ctx, caller }) => {
    const sanctioned = await screened(ctx, caller)
    return ctx.store.read(async (t) => {
      const lifetime = await earnedAs(t, caller.id, 'sale')
      const { held, pending, waiting, nextSettlementAt } = await waitsOf(t, { ctx, caller, sanctioned })
      return {
        settled_usd: usdc(lifetime - pending),
        held_usd: held,
        pending_usd: pending,
        lifetime_usd: lifetime,
        next_settlement_at: nextSettlementAt,
        waiting: [...waiting],
        recent_settlements: await recent(t, caller),
        currency: 'USDC',
      }
    })
  },
}

async function recent(t: ReadTx, { id }: ParticipantRow): Promise<Answer['recent_settlements']> {
  const carriers = (await t.table(payouts).page('source', [account.provider(id)], { limit: PAYOUTS_LOOKED_AT })).rows
  const { rows } = await t.table(earnings).page('own', [id, 'sales'], { limit: DEFAULT_PAGE })
  const sold = await t.table(jobs).getMany(rows.filter(({ ref_kind }) => ref_kind === 'job').map((row) => row.ref_id))
  const byId = new Map(sold.map((job) => [job.id, job]))
  return rows.map((row) => settlementView(row, byId.get(row.ref_id), carriers))
}

function settlementView(row: EarningRow, job: JobRow | undefined, carriers: readonly PayoutRow[]) {
  const { status, tx_hash } = carriage(row, carriers)
  return {
    settlement_id: row.transaction_id,
    id: row.transaction_id,
    status,
    tx_hash,
    provider_amount_usd: row.amount,
    service_id: job?.service_id ?? null,
    job_id: job?.id ?? null,
    posting_id: job?.posting_id ?? null,
    created_at: row.at,
  }
}

/** A payout takes the whole account, so the first confirmed payout after a sale carried the sale's earnings. */
function carriage({ seq }: EarningRow, carriers: readonly PayoutRow[]): { status: Status; tx_hash: string | null } {
  const after = carriers.filter(({ covers }) => covers >= seq).sort((one, other) => one.covers - other.covers)
  const arrived = after.find(({ status }) => status === 'confirmed')
  if (arrived) return { status: 'settled', tx_hash: arrived.transaction }
  if (after.some(({ open }) => open)) return { status: 'processing', tx_hash: null }
  return { status: after.some(({ blocked }) => blocked) ? 'blocked' : 'pending', tx_hash: null }
}
