import { payeeFields } from '../../../src/api/endpoint/list-fields.ts'
import type { payeesApi } from '../../../src/api/sections/earnings.ts'
import { DEFAULT_PAGE } from '../../../src/core/limits.ts'
import { usdc } from '../../../src/core/money.ts'
import { compact } from '../../../src/core/record.ts'
import type { FreeHandlers } from '../../endpoint/handler.ts'
import type { Context } from '../../kernel/context.ts'
import { type ParticipantRow, participants } from '../../kernel/rows.ts'
import { eachPage } from '../../store/each-page.ts'
import { offsetPage } from '../../store/offset-page.ts'
import { isSearch, type SearchAsked, STRIDE_ROWS, searchedPage } from '../../store/searched-page.ts'
import { earnedAs } from '../ledger/earnings.ts'
import { type SoldWeek, soldFigures } from './sold.ts'
import { pendingOf, screened, waitsOf } from './waiting.ts'

const sellers = ['provider', 'both'] as const

export const payeeRoutes: FreeHandlers<typeof payeesApi> = {
  listPayees: async ({ query }, { ctx, now }) => {
    const asked = { limit: DEFAULT_PAGE, offset: 0, ...compact(query), now }
    const { limit, offset } = asked
    const { rows, ...found } = isSearch(asked) ? await searchSellers(ctx, asked) : await someSellers(ctx, asked)
    const week = await soldFigures.of(ctx).week()
    const payees = await Promise.all(rows.map((row) => payeeOf(ctx, row, week)))
    return { payees, ...found, limit, offset }
  },
}

/** One page of sellers: participants of both types that may sell. */
async function someSellers(ctx: Context, { limit, offset }: { readonly limit: number; readonly offset: number }) {
  return ctx.store.read(async (t) => {
    const rows: ParticipantRow[] = []
    let total = 0
    for (const type of sellers) {
      const slice = { limit: limit - rows.length, offset: Math.max(0, offset - total) }
      total += await t.table(participants).count('type', [type])
      if (slice.limit === 0) continue
      rows.push(...(await offsetPage(t.table(participants), { index: 'type', prefix: [type], ...slice })).rows)
    }
    return { rows, total }
  })
}

async function searchSellers(ctx: Context, asked: SearchAsked) {
  const table = ctx.store.table(participants)
  async function* pieces() {
    for (const type of sellers) yield* eachPage(table, { index: 'type', prefix: [type], limit: STRIDE_ROWS })
  }
  const counts = await Promise.all(sellers.map((type) => table.count('type', [type])))
  const count = counts.reduce((sum, one) => sum + one, 0)
  return searchedPage({ fields: payeeFields, factsOf: factsIn(ctx), pieces: pieces(), count }, asked)
}

const factsIn = (ctx: Context) => async (row: ParticipantRow, uses: (field: keyof typeof payeeFields) => boolean) => {
  const isAsked = uses('due') || uses('paid') || uses('earned')
  const sums = isAsked ? await sumsOf(ctx, row) : { earned: null, paid: null, due: null }
  const sold = uses('sold') ? (await soldFigures.of(ctx).week()).soldBy(row.id) : null
  return { id: row.id, name: row.name, wallet: row.wallet, sold, ...sums }
}

/** Reads both sums in one transaction, so that a concurrent payout is neither counted twice nor missed. */
function sumsOf(ctx: Context, caller: ParticipantRow) {
  return ctx.store.read(async (t) => {
    const earned = await earnedAs(t, caller.id, 'sale')
    const due = await pendingOf(t, { ctx, caller, sanctioned: undefined })
    return { earned, due, paid: usdc(earned - due) }
  })
}

async function payeeOf(ctx: Context, caller: ParticipantRow, { soldBy }: SoldWeek) {
  const sanctioned = await screened(ctx, caller)
  return ctx.store.read(async (t) => {
    const earned = await earnedAs(t, caller.id, 'sale')
    const { held, pending, waiting, nextSettlementAt } = await waitsOf(t, { ctx, caller, sanctioned })
    return {
      participant_id: caller.id,
      name: caller.name,
      wallet: caller.wallet,
      sold: soldBy(caller.id),
      earned,
      paid: usdc(earned - pending),
      due: pending,
      held,
      waiting: [...waiting],
      next_settlement_at: nextSettlementAt,
    }
  })
}
