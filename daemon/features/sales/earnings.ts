import type { z } from 'zod'
import type { earningsApi, settlementStatuses, waitingReasons } from '../../../src/api/sections/earnings.ts'
import { DEFAULT_PAGE } from '../../../src/core/limits.ts'
import { type Usdc, usdc, ZERO } from '../../../src/core/money.ts'
import { crons } from '../../crons/rows.ts'
import { everyHour } from '../../crons/schedule.ts'
import type { FreeHandlers } from '../../endpoint/handler.ts'
import type { Context } from '../../kernel/context.ts'
import { isSuspended, type ParticipantRow } from '../../kernel/rows.ts'
import { eachPage } from '../../store/each-page.ts'
import type { ReadTx } from '../../store/port.ts'
import { escrowPausedAt } from '../jobs/buyer.ts'
import { deciderOf } from '../jobs/dispute-decision.ts'
import { type JobRow, jobs } from '../jobs/rows.ts'
import { earnedAs } from '../ledger/earnings.ts'
import { account } from '../ledger/legs.ts'
import { balanceOf } from '../ledger/post.ts'
import { type EarningRow, earnings } from '../ledger/rows.ts'
import { keptOf, openPayoutOf } from '../payouts/payouts.ts'
import { type PayoutRow, payouts } from '../payouts/rows.ts'
import { compliance } from '../sanctions/sanctions.ts'

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

/** Maximum number of jobs in escrow per read. */
const HELD_SLICE = 1_000
const SETTLEMENT = 'provider-settlement'

type Reason = (typeof waitingReasons)[number]
type Group = { reason: Reason; amount: Usdc; sales: number; until: number | null }

/** Whether the wallet is sanctioned; undefined if no sanctions list is loaded. Call it before reading the books. */
export async function screened(ctx: Context, { wallet }: ParticipantRow): Promise<boolean | undefined> {
  return compliance
    .of(ctx)
    .isSanctioned(wallet)
    .catch(() => undefined) // no list: that is the answer, and the settlement waits for it, too
}

type WaitingQuery = { readonly ctx: Context; readonly caller: ParticipantRow; readonly sanctioned: boolean | undefined }

/** Held and pending money of a provider, each amount with one reason, and when the next settlement is due. */
export async function waitsOf(t: ReadTx, { ctx, caller, sanctioned }: WaitingQuery) {
  const inEscrow = await heldGroups(t, caller)
  const due = await dueGroups(t, { ctx, caller, sanctioned })
  const groups = [...inEscrow, ...due].filter(({ amount }) => amount > ZERO)
  return {
    held: sumOf(inEscrow),
    pending: sumOf(due),
    waiting: groups.map(({ reason, amount, sales, until }) => ({ reason, amount_usd: amount, sales, until })),
    nextSettlementAt: groups.find(({ reason }) => reason === 'scheduled')?.until ?? null,
  }
}

/** Earnings that have left escrow but are not in the wallet yet. */
export async function pendingOf(t: ReadTx, asked: WaitingQuery): Promise<Usdc> {
  return sumOf(await dueGroups(t, asked))
}

function sumOf(groups: readonly Group[]): Usdc {
  return usdc(groups.reduce((sum, { amount }) => sum + amount, 0n))
}

async function heldGroups(t: ReadTx, { id }: ParticipantRow): Promise<readonly Group[]> {
  const groups = new Map<Reason, Group>()
  const isPaused = (await escrowPausedAt(t)) !== null
  for await (const rows of eachPage(t.table(jobs), { index: 'provider_held', prefix: [id], limit: HELD_SLICE })) {
    for (const job of rows) count(groups, job, isPaused)
  }
  return [...groups.values()]
}

function count(groups: Map<Reason, Group>, job: JobRow, isPaused: boolean): void {
  const { reason, until } = heldBy(job, isPaused)
  const group = groups.get(reason) ?? { reason, amount: ZERO, sales: 0, until: null }
  groups.set(reason, {
    reason,
    amount: usdc(group.amount + job.provider_amount),
    sales: group.sales + 1,
    until: group.until === null || until === null ? (group.until ?? until) : Math.min(group.until, until),
  })
}

function heldBy(job: JobRow, isPaused: boolean): { readonly reason: Reason; readonly until: number | null } {
  const { status, deadline_at, next_event_at, dispute } = job
  if (status === 'disputed') return { reason: 'disputed', until: deciderOf(dispute)?.at ?? null }
  if (status === 'completed') return { reason: 'in_review', until: next_event_at }
  if (status !== 'verified') return { reason: 'undelivered', until: deadline_at }
  return isPaused ? { reason: 'escrow_paused', until: null } : { reason: 'release_due', until: next_event_at }
}

async function dueGroups(t: ReadTx, asked: WaitingQuery): Promise<readonly Group[]> {
  const { ctx, caller } = asked
  const source = account.provider(caller.id)
  const open = await openPayoutOf(t, caller.wallet)
  const carries = open?.source === source ? open.amount : ZERO
  const carrier: Reason = open?.status === 'needs_operator' ? 'no_key' : 'on_its_way'
  const group = (reason: Reason, amount: Usdc, until: number | null = null) => ({ reason, amount, sales: 0, until })
  const reason = await reasonOf(t, asked, open !== undefined)
  const next = reason === 'scheduled' || reason === 'payout_first' ? everyHour.after(ctx.clock.now()) : null
  return [
    group(reason, await balanceOf(t, source), next),
    group(ctx.switches.now().paused ? 'paused' : carrier, carries),
    group('sanctioned', await keptOf(t, { wallet: caller.wallet, source })),
  ]
}

/** What delays the next settlement; checks the same conditions as the settlement cron, in its order. */
async function reasonOf(t: ReadTx, { ctx, caller, sanctioned }: WaitingQuery, isCarried: boolean): Promise<Reason> {
  if (ctx.switches.now().paused) return 'paused'
  if (((await t.table(crons).get(SETTLEMENT))?.paused_at ?? null) !== null) return 'settlement_paused'
  if (isSuspended(caller)) return 'suspended'
  if (sanctioned === undefined) return 'unscreened'
  if (sanctioned) return 'sanctioned'
  return isCarried ? 'payout_first' : 'scheduled'
}
