import { MINUTE_MS } from '../../../src/core/time.ts'
import type { AccountKind } from '../../../src/model/ledger.ts'
import { type Cron, defineCron } from '../../crons/cron.ts'
import { type DueWork, earliestDue, runDueWork } from '../../crons/due-work.ts'
import { everyHour } from '../../crons/schedule.ts'
import type { Context } from '../../kernel/context.ts'
import { readPlatform } from '../../kernel/switches.ts'
import { commit } from '../../store/draw.ts'
import { eachPage } from '../../store/each-page.ts'
import type { Draw, ReadTx, Tx } from '../../store/port.ts'
import { type AccountRow, accounts } from './rows.ts'

const SLICE_ROWS = 500

export type AccountItem = {
  readonly account: AccountRow
  /** Whether the account's owner is sanctioned. Checked before the transaction. */
  readonly sanctioned: boolean
  readonly at: number
}

type AccountWork = {
  readonly name: string
  readonly kind: AccountKind
  /** Whether work is due for an account. Checked again in the transaction. */
  readonly isDue: (t: ReadTx, item: AccountItem, ctx: Context) => Promise<boolean>
  readonly act: (t: Tx, draw: Draw, item: AccountItem & { readonly ctx: Context }) => Promise<unknown>
  /** Whether the account's owner may not be paid. */
  readonly isSanctioned?: (ctx: Context, account: AccountRow) => Promise<boolean>
}

/**
 * Due work on accounts that hold money. Each account has its own transaction, which checks `isDue` again, so that a
 * repeat does nothing. No work is due while paid activity is paused.
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
    // Waiting money is always due, so the next due time is `from`.
    nextDue: async (ctx, from) => ((await due(ctx, from, 1)).length > 0 ? from : null),
  }
}

type AccountCron = {
  readonly name: string
  /** The rounds run in order. All work of one round is done before the next round begins. */
  readonly rounds: readonly (readonly DueWork[])[]
  /** Runs after each round. */
  readonly after?: (ctx: Context) => Promise<unknown>
}

/** An hourly cron for work on accounts. Skipped while paid activity is paused (decisions §12). */
export function accountCron({ name, rounds, after }: AccountCron): Cron {
  return defineCron({
    name,
    schedule: everyHour,
    deadlineMs: 10 * MINUTE_MS,
    inHealth: true,
    async run(call) {
      const { paused_at } = await call.ctx.store.read(readPlatform)
      if (paused_at !== null) return { skip: 'paused' }
      for (const works of rounds) {
        await runDueWork(works, call)
        if (!call.signal.aborted) await after?.(call.ctx)
      }
      return undefined
    },
    nextDue: (ctx, from) => earliestDue(rounds.flat(), ctx, from),
  })
}
