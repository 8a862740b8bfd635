import type { AccountKind } from '../../../src/model/ledger.ts'
import type { CronResult } from '../../crons/cron.ts'
import type { DueWork } from '../../crons/due-work.ts'
import type { Context } from '../../kernel/context.ts'
import { readPlatform } from '../../kernel/switches.ts'
import { commit, type Draw } from '../../store/draw.ts'
import { eachPage } from '../../store/each-page.ts'
import type { ReadTx, Tx } from '../../store/port.ts'
import { type AccountRow, accounts } from './rows.ts'

/** Maximum accounts per read. */
const SLICE_ROWS = 500

export type AccountItem = {
  readonly account: AccountRow
  /** Whether the account's owner is sanctioned, checked before the transaction. */
  readonly sanctioned: boolean
  readonly at: number
}

type AccountWork = {
  readonly name: string
  readonly kind: AccountKind
  /** Whether an account with money has work; checked again in the transaction. */
  readonly isDue: (t: ReadTx, item: AccountItem, ctx: Context) => Promise<boolean>
  readonly act: (t: Tx, draw: Draw, item: AccountItem & { readonly ctx: Context }) => Promise<unknown>
  /** Whether the account's owner may not be paid. */
  readonly isSanctioned?: (ctx: Context, account: AccountRow) => Promise<boolean>
}

/**
 * Work on accounts that hold money. Each account is one transaction that checks it again, so repeats are harmless.
 * Waits while paid activity is paused.
 */
export function accountWork({ name, kind, isDue, act, isSanctioned }: AccountWork): DueWork {
  const sanctionedOf = async (ctx: Context, account: AccountRow) => (await isSanctioned?.(ctx, account)) ?? false

  async function dueOf(ctx: Context, rows: readonly AccountRow[]): Promise<string[]> {
    const at = ctx.clock.now()
    const items = await Promise.all(
      rows.map(async (account) => ({ account, at, sanctioned: await sanctionedOf(ctx, account) })),
    )
    return ctx.store.read(async (t) => {
      if ((await readPlatform(t)).paused_at !== null) return []
      const due: string[] = []
      for (const item of items) if (await isDue(t, item, ctx)) due.push(item.account.id)
      return due
    })
  }

  async function due(ctx: Context, _now: number, limit: number): Promise<readonly string[]> {
    const ids: string[] = []
    for await (const rows of eachPage(ctx.store.table(accounts), {
      index: 'kind',
      prefix: [kind],
      limit: SLICE_ROWS,
    })) {
      ids.push(...(await dueOf(ctx, rows)))
      if (ids.length >= limit) break
    }
    return ids.slice(0, limit)
  }

  return {
    name,
    due,
    async run(ctx, id, at) {
      const seen = await ctx.store.table(accounts).get(id)
      if (!seen) return
      const sanctioned = await sanctionedOf(ctx, seen)
      await commit(ctx, async (t, draw) => {
        if ((await readPlatform(t)).paused_at !== null) return
        const account = await t.table(accounts).get(id)
        if (!account) return
        const item = { account, sanctioned, at }
        if (await isDue(t, item, ctx)) await act(t, draw, { ...item, ctx })
      })
    },
    // Waiting money is always due.
    nextDue: async (ctx, from) => ((await due(ctx, from, 1)).length > 0 ? from : null),
  }
}

/** Skips payouts while paid activity is paused (decisions §12). */
export async function restsWhilePaused(ctx: Context): Promise<CronResult> {
  const { paused_at } = await ctx.store.read(readPlatform)
  return paused_at === null ? undefined : { skip: 'paused' }
}
