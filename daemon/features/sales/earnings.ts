import type { z } from 'zod'
import type { earningsApi, settlementStatuses } from '../../../src/api/sections/earnings.ts'
import { DEFAULT_PAGE } from '../../../src/core/limits.ts'
import { type Usdc, usdc, ZERO } from '../../../src/core/money.ts'
import type { FreeHandler, FreeHandlers } from '../../endpoint/handler.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import { eachPage } from '../../store/each-page.ts'
import type { ReadTx } from '../../store/port.ts'
import { type JobRow, jobs } from '../jobs/rows.ts'
import { earnedAs } from '../ledger/earnings.ts'
import { account } from '../ledger/legs.ts'
import { balanceOf } from '../ledger/post.ts'
import { type EarningRow, earnings } from '../ledger/rows.ts'
import { keptOf, openPayoutOf } from '../payouts/payouts.ts'
import { type PayoutRow, payouts } from '../payouts/rows.ts'

/** Payouts that are looked at for those that carry the latest sales: each carries one of them at least. */
const PAYOUTS_LOOKED_AT = 100
/** Jobs in escrow whose net is summed at once. */
const HELD_SLICE = 1_000

type Answer = z.output<(typeof earningsApi.getEarnings)['reply']['schema']>
type Status = (typeof settlementStatuses)[number]

const getEarnings: FreeHandler<typeof earningsApi.getEarnings> = async (_input, { ctx, caller }) =>
  ctx.store.read(async (t) => {
    const lifetime = await earnedAs(t, caller.id, 'sale')
    const pending = await onItsWay(t, caller)
    return {
      settled_usd: usdc(lifetime - pending),
      held_usd: await heldFor(t, caller),
      pending_usd: pending,
      lifetime_usd: lifetime,
      recent_settlements: await recent(t, caller),
      currency: 'USDC',
    }
  })

/** The latest payouts of what the participant sold. */
async function payoutsOf(t: ReadTx, id: string): Promise<readonly PayoutRow[]> {
  return (await t.table(payouts).page('source', [account.provider(id)], { limit: PAYOUTS_LOOKED_AT })).rows
}

/** What was earned and has not reached the wallet: not set aside, set aside, kept. */
async function onItsWay(t: ReadTx, { id, wallet }: ParticipantRow): Promise<Usdc> {
  const source = account.provider(id)
  const open = await openPayoutOf(t, wallet)
  const setAside = open?.source === source ? open.amount : ZERO
  return usdc((await balanceOf(t, source)) + setAside + (await keptOf(t, { wallet, source })))
}

async function heldFor(t: ReadTx, { id }: ParticipantRow): Promise<Usdc> {
  let sum = 0n
  for await (const rows of eachPage(t.table(jobs), { index: 'provider_held', prefix: [id], limit: HELD_SLICE })) {
    sum = rows.reduce((total, job) => total + job.provider_amount, sum)
  }
  return usdc(sum)
}

async function recent(t: ReadTx, { id }: ParticipantRow): Promise<Answer['recent_settlements']> {
  const carriers = await payoutsOf(t, id)
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

/** A payout takes all that there is: the first one that arrived after a sale carried it. */
function carriage({ seq }: EarningRow, carriers: readonly PayoutRow[]): { status: Status; tx_hash: string | null } {
  const after = carriers.filter(({ covers }) => covers >= seq).sort((one, other) => one.covers - other.covers)
  const arrived = after.find(({ status }) => status === 'confirmed')
  if (arrived) return { status: 'settled', tx_hash: arrived.transaction }
  if (after.some(({ open }) => open)) return { status: 'processing', tx_hash: null }
  return { status: after.some(({ blocked }) => blocked) ? 'blocked' : 'pending', tx_hash: null }
}

export const earningsRoutes: FreeHandlers<typeof earningsApi> = { getEarnings }
