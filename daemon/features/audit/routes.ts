import { holdFields, payoutFields } from '../../../src/api/endpoint/list-fields.ts'
import { auditApi } from '../../../src/api/sections/money.ts'
import { AppError, existing, invalidField } from '../../../src/core/error.ts'
import { DEFAULT_PAGE } from '../../../src/core/limits.ts'
import { formatAmount, type Usdc, usdc } from '../../../src/core/money.ts'
import { compact } from '../../../src/core/record.ts'
import { type HeldKind, heldKinds } from '../../../src/model/ledger.ts'
import type { Call, FreeHandlers } from '../../endpoint/handler.ts'
import { once } from '../../endpoint/once.ts'
import { audit, emit } from '../../events/event-log.ts'
import { participants } from '../../kernel/rows.ts'
import { commit } from '../../store/draw.ts'
import { eachPage, offsetPage } from '../../store/each-page.ts'
import type { Draw, ReadTx, Tx } from '../../store/port.ts'
import { isSearch, listedPage, type SearchAsked, STRIDE_ROWS, searchedPage } from '../../store/searched-page.ts'
import { openByDue } from '../jobs/order/by-due.ts'
import { jobs } from '../jobs/rows.ts'
import { aboutJob, isLate } from '../jobs/view.ts'
import { account, legsOf } from '../ledger/legs.ts'
import { balanceOf, post } from '../ledger/post.ts'
import { type AccountRow, accounts } from '../ledger/rows.ts'
import { balanceFacts } from '../payments/balance.ts'
import { settleFound, takeAdvance } from '../payouts/advances.ts'
import { type PayoutRow, payouts, payoutView } from '../payouts/rows.ts'
import { settleUnserved } from '../subscriptions/unserved.ts'
import { auditBooks } from './audit.ts'
import { type HeldFunds, heldFundsOf } from './held-funds.ts'

type HeldRow = AccountRow & { kind: HeldKind }

async function* accountsOf(t: ReadTx, kinds: readonly HeldKind[]): AsyncGenerator<readonly HeldRow[]> {
  for (const kind of kinds)
    for await (const piece of eachPage(t.table(accounts), { index: 'kind', prefix: [kind], limit: STRIDE_ROWS }))
      yield piece.map((row) => ({ ...row, kind }))
}

/**
 * Held accounts of all kinds except escrow, then escrow accounts by their job's due time. Escrow without an open job,
 * which is a fault, comes last. A limit therefore cuts off the latest.
 */
export async function* soonestAccounts(t: ReadTx, kinds: readonly HeldKind[]): AsyncGenerator<readonly HeldRow[]> {
  const others = kinds.filter((kind) => kind !== 'esc')
  yield* accountsOf(t, others)
  if (others.length === kinds.length) return
  const seen = new Set<string>()
  for await (const piece of openByDue(t.table(jobs))) {
    const rows = await t.table(accounts).getMany(piece.map(({ id }) => account.escrow(id)))
    const held = rows.filter(({ balance }) => balance !== 0n)
    for (const { id } of held) seen.add(id)
    yield held.map((row) => ({ ...row, kind: 'esc' }))
  }
  if ((await t.table(accounts).count('kind', ['esc'])) <= seen.size) return
  for await (const piece of accountsOf(t, ['esc'])) yield piece.filter(({ id }) => !seen.has(id))
}

/** Sorts held money: first what waits for the operator or has no next event, then by time, then by account name. */
export function soonestFirst(a: HeldFunds, b: HeldFunds): number {
  const [x, y] = [momentOf(a), momentOf(b)]
  if (x === y) return a.account < b.account ? -1 : 1
  return x < y ? -1 : 1
}

function momentOf({ next_event: event, next_event_at: at }: HeldFunds): number {
  return event === null || event === 'remind' || at === null ? Number.NEGATIVE_INFINITY : at
}

export const auditRoutes: FreeHandlers<typeof auditApi> = {
  getHolds: async ({ query }, { ctx, now }) => {
    const { limit = DEFAULT_PAGE, offset = 0, kind } = query
    const kinds = kind ? [kind] : heldKinds
    const asked = { ...query, limit, offset, now }
    if (isSearch(asked)) {
      const { rows, ...found } = await searchHolds(ctx.store, kinds, asked)
      return { holds: await ctx.store.read((t) => holdViews(t, rows, now)), ...found }
    }
    const { rows, total } = await ctx.store.read(async (t) => {
      const page = await heldAccounts(t, { kinds, limit, offset })
      const held = await Promise.all(page.rows.map((row) => heldFundsOf(t, row, now)))
      return { ...page, rows: await holdViews(t, held, now) }
    })
    return { holds: rows, total, limit, offset }
  },

  getAudit: async (_input, { ctx }) => auditBooks(ctx),

  getPayouts: async ({ query }, { ctx, now }) => {
    const { status } = query
    const part = status ? { index: 'status', prefix: [status] } : { index: 'newest', prefix: [] }
    const list = { rows: payouts, ...part, fields: payoutFields, factsOf: payoutFacts }
    const { rows, ...found } = await listedPage(ctx.store, list, { ...query, now })
    return { payouts: rows.map(payoutView), ...found }
  },

  /**
   * Moves money between a balance and the operator's account. The event log and the admin log keep the reason. With an
   * `Idempotency-Key`, repeated requests move it once.
   */
  adjustBalance: async ({ params, body }, call) => {
    const { ctx, now, retry } = call
    if (body.amount === 0n) throw invalidField('amount', 'must not be 0')
    const { schema } = auditApi.adjustBalance.reply
    return commit(ctx, (t, draw) =>
      once(t, { retry, schema, now }, () => adjust(t, draw, { id: params.id, ...body, call })),
    )
  },
}

async function searchHolds(t: ReadTx, kinds: readonly HeldKind[], asked: SearchAsked) {
  const table = t.table(accounts)
  const isSoonest = asked.sort === 'soonest'
  async function* pieces() {
    for await (const piece of isSoonest ? soonestAccounts(t, kinds) : accountsOf(t, kinds))
      yield Promise.all(piece.map((row) => heldFundsOf(t, row, asked.now)))
  }
  const counts = await Promise.all(kinds.map((kind) => table.count('kind', [kind])))
  const count = counts.reduce((sum, one) => sum + one, 0)
  const compare = isSoonest ? soonestFirst : undefined
  return searchedPage({ fields: holdFields, factsOf: holdFacts, pieces: pieces(), count, compare }, asked)
}

function holdFacts({ account: name, kind, owner, amount, reason }: HeldFunds) {
  return { account: name, kind, owner: owner?.id ?? null, amount, reason }
}

async function heldAccounts(
  t: ReadTx,
  { kinds, limit, offset }: { kinds: readonly HeldKind[]; limit: number; offset: number },
): Promise<{ rows: HeldRow[]; total: number }> {
  const rows: HeldRow[] = []
  let before = 0
  for (const kind of kinds) {
    const wanted = { limit: limit - rows.length, offset: Math.max(0, offset - before) }
    before += await t.table(accounts).count('kind', [kind])
    if (wanted.limit === 0) continue
    const page = await offsetPage(t.table(accounts), { index: 'kind', prefix: [kind], ...wanted })
    rows.push(...page.rows.map((row) => ({ ...row, kind })))
  }
  return { rows, total: before }
}

/** Held money as the API returns it: without `expected`, and with the job of escrow money. */
function holdViews(t: ReadTx, rows: readonly HeldFunds[], now: number) {
  return Promise.all(
    rows.map(async ({ expected: _, ...hold }) => {
      const job = hold.kind === 'esc' && hold.owner ? await t.table(jobs).get(hold.owner.id) : undefined
      if (!job) return hold
      return { ...hold, job: { status: job.status, late: isLate(job, now), about: await aboutJob(t, job) } }
    }),
  )
}

function payoutFacts({ id, status, kind, wallet, amount, blocked, last_error: error, created_at: age }: PayoutRow) {
  return { id, status, kind, wallet, amount, blocked, error, age }
}

type Adjustment = {
  readonly id: string
  readonly amount: Usdc
  readonly reason: string
  readonly settles?: string | undefined
  readonly call: Pick<Call, 'requestId' | 'now' | 'wall'>
}

async function adjust(t: Tx, draw: Draw, { id, amount, reason, settles, call }: Adjustment) {
  const participant = existing(await t.table(participants).get(id), 'The participant')
  const found = settles === undefined ? undefined : await t.table(payouts).get(settles)
  if (found) await settleFound(t, draw, { id: found.id, reason, at: call.now })
  else if (settles !== undefined) await settleUnserved(t, { id: settles, participantId: id, now: call.now })
  await refuseOverdraft(t, amount < 0n ? account.balance(id) : account.oper, amount)
  const subject = { kind: 'participant', id }
  const most = usdc(found && amount > 0n ? amount : 0n)
  const { amount: paid } = await takeAdvance(t, { wallet: participant.wallet, most })
  const rest = legsOf.adjustment({ participantId: id, amount: usdc(amount - paid) })
  const legs = [...legsOf.reversal({ from: account.oper, amount: paid }), ...rest]
  const posted = await post(t, draw, { kind: 'adjustment', ref: subject, legs, at: call.now })
  const transaction_id = posted as string // an amount that is not 0 moves something
  const detail = { amount: formatAmount(amount), transaction_id, ...compact({ settles }) }
  const data = { ...detail, reason }
  await emit(t, draw, { type: 'admin.balance_adjusted', participantId: id, subject, data, at: call.now })
  await audit(t, draw, { act: 'balance.adjust', subject, reason, changed: true, detail, by: call })
  const { total } = await balanceFacts(t, participant)
  return { participant_id: id, adjusted: amount, balance: total, transaction_id }
}

async function refuseOverdraft(t: ReadTx, from: string, amount: bigint): Promise<void> {
  const needed = usdc(amount < 0n ? -amount : amount)
  const there = await balanceOf(t, from)
  if (there >= needed) return
  const whose = from === account.oper ? "The operator's account" : 'The balance'
  throw new AppError('conflict', `${whose} has $${formatAmount(there)}; this needs $${formatAmount(needed)}.`)
}
