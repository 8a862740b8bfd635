import type { AccountKind } from '../../../src/model/ledger.ts'
import type { CronResult } from '../../crons/cron.ts'
import type { DueWork } from '../../crons/due-work.ts'
import { readPlatform } from '../../kernel/switches.ts'
import type { World } from '../../kernel/world.ts'
import { commit, type Draw } from '../../store/draw.ts'
import type { ReadTx, Tx } from '../../store/port.ts'
import { type AccountRow, accounts } from './rows.ts'

/** Accounts looked at in one read. */
const SLICE_ROWS = 500

export type AccountItem = {
  readonly account: AccountRow
  /** What `facts` found before the transaction. */
  readonly sanctioned: boolean
  readonly at: number
}

type AccountWork = {
  readonly name: string
  readonly kind: AccountKind
  /** Whether something can be done with an account that holds money; asked again in the transaction. */
  readonly isDue: (t: ReadTx, item: AccountItem, world: World) => Promise<boolean>
  readonly act: (t: Tx, draw: Draw, item: AccountItem & { readonly world: World }) => Promise<unknown>
  /** Whether who the account is for may not be paid. */
  readonly isSanctioned?: (world: World, account: AccountRow) => Promise<boolean>
}

/**
 * Work whose items are the accounts of a kind that hold money: each is one transaction, which looks at the account
 * again, so that it is done once however often it is tried. All of it rests while paid activity is paused.
 */
export function accountWork({ name, kind, isDue, act, isSanctioned }: AccountWork): DueWork {
  const sanctionedOf = async (world: World, account: AccountRow) => (await isSanctioned?.(world, account)) ?? false

  async function dueOf(world: World, rows: readonly AccountRow[]): Promise<string[]> {
    const at = world.clock.now()
    const items = await Promise.all(
      rows.map(async (account) => ({ account, at, sanctioned: await sanctionedOf(world, account) })),
    )
    return world.store.read(async (t) => {
      if ((await readPlatform(t)).paused_at !== null) return []
      const due: string[] = []
      for (const item of items) if (await isDue(t, item, world)) due.push(item.account.id)
      return due
    })
  }

  async function due(world: World, _now: number, limit: number): Promise<readonly string[]> {
    const ids: string[] = []
    let after: string | undefined
    for (let more = true; more && ids.length < limit; ) {
      const query = { limit: SLICE_ROWS, ...(after === undefined ? {} : { after }) }
      const page = await world.store.table(accounts).page('kind', [kind], query)
      ids.push(...(await dueOf(world, page.rows)))
      after = page.cursor ?? after
      more = page.more
    }
    return ids.slice(0, limit)
  }

  return {
    name,
    due,
    async run(world, id, at) {
      const seen = await world.store.table(accounts).get(id)
      if (!seen) return
      const sanctioned = await sanctionedOf(world, seen)
      await commit(world, async (t, draw) => {
        if ((await readPlatform(t)).paused_at !== null) return
        const account = await t.table(accounts).get(id)
        if (!account) return
        const item = { account, sanctioned, at }
        if (await isDue(t, item, world)) await act(t, draw, { ...item, world })
      })
    },
    // Money that waits has been due since it came.
    nextDue: async (world, from) => ((await due(world, from, 1)).length > 0 ? from : null),
  }
}

/** While paid activity is paused nothing is paid out, and the run says so (decisions §12). */
export async function restsWhilePaused(world: World): Promise<CronResult> {
  const { paused_at } = await world.store.read(readPlatform)
  return paused_at === null ? undefined : { skip: 'paused' }
}
