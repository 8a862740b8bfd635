import type { waitingReasons } from '../../../src/api/sections/earnings.ts'
import { type Usdc, usdc, ZERO } from '../../../src/core/money.ts'
import { crons } from '../../crons/rows.ts'
import { everyHour } from '../../crons/schedule.ts'
import type { Context } from '../../kernel/context.ts'
import { isSuspended } from '../../kernel/participant.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import { eachPage } from '../../store/each-page.ts'
import type { ReadTx } from '../../store/port.ts'
import { deciderOf } from '../jobs/dispute-decision.ts'
import { escrowPausedAt } from '../jobs/release.ts'
import { type JobRow, jobs } from '../jobs/rows.ts'
import { account } from '../ledger/legs.ts'
import { balanceOf } from '../ledger/post.ts'
import { keptOf, openPayoutOf } from '../payouts/payouts.ts'
import { compliance } from '../sanctions/sanctions.ts'

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
