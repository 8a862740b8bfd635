import type { HeldKind } from '../../../src/model/ledger.ts'
import { eachPage } from '../../store/each-page.ts'
import type { ReadTx } from '../../store/port.ts'
import { STRIDE_ROWS } from '../../store/searched-page.ts'
import { openByDue } from '../jobs/order/by-due.ts'
import { jobs } from '../jobs/rows.ts'
import { account } from '../ledger/legs.ts'
import { type AccountRow, accounts } from '../ledger/rows.ts'
import type { HeldFunds } from './held-funds.ts'

/* Held money by when something happens to it: what nothing moves by itself stands before the rest. */

export type HeldRow = AccountRow & { kind: HeldKind }

/** Of one kind after the other, as the accounts are called. */
export async function* accountsOf(t: ReadTx, kinds: readonly HeldKind[]): AsyncGenerator<readonly HeldRow[]> {
  for (const kind of kinds)
    for await (const piece of eachPage(t.table(accounts), { index: 'kind', prefix: [kind], limit: STRIDE_ROWS }))
      yield piece.map((row) => ({ ...row, kind }))
}

/**
 * The same, so that a list which is too long to be looked at as a whole loses what comes last: what is held for jobs
 * follows their due times. Money of no open job, which is a fault of the books, is found behind all of them.
 */
export async function* soonestAccounts(t: ReadTx, kinds: readonly HeldKind[]): AsyncGenerator<readonly HeldRow[]> {
  const others = kinds.filter((kind) => kind !== 'esc')
  yield* accountsOf(t, others)
  if (others.length === kinds.length) return
  const seen = new Set<string>()
  for await (const piece of openByDue(t.table(jobs))) {
    const rows = await t.table(accounts).getMany(piece.map(({ id }) => account.escrow(id)))
    // An account that is empty holds nothing.
    const held = rows.filter(({ balance }) => balance !== 0n)
    for (const { id } of held) seen.add(id)
    yield held.map((row) => ({ ...row, kind: 'esc' }))
  }
  if ((await t.table(accounts).count('kind', ['esc'])) <= seen.size) return
  for await (const piece of accountsOf(t, ['esc'])) yield piece.filter(({ id }) => !seen.has(id))
}

/** What waits for a person, or for nobody, then by time; of two at once, by the name of the account. */
export function soonestFirst(a: HeldFunds, b: HeldFunds): number {
  const [x, y] = [momentOf(a), momentOf(b)]
  if (x === y) return a.account < b.account ? -1 : 1
  return x < y ? -1 : 1
}

function momentOf({ next_event: event, next_event_at: at }: HeldFunds): number {
  return event === null || event === 'remind' || at === null ? Number.NEGATIVE_INFINITY : at
}
