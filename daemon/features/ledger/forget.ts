import { accountKind, accountOwner } from '../../../src/model/ledger.ts'
import { counters } from '../../kernel/rows.ts'
import type { ReadTx, Tx } from '../../store/port.ts'
import { account } from './legs.ts'
import { balanceOf } from './post.ts'
import { type HistoryRow, history, type LedgerRow, ledger } from './rows.ts'

/*
 * The books are append-only, except for fully returned holds. Anyone with a cent could create holds and returns
 * endlessly. A hold and its return are therefore removed with their payment.
 */

/** Id of the counter of removed transactions, which the audit takes into account. */
const FORGOTTEN_COUNTER = 'ledger_forgotten'

const audits = new WeakMap<object, number>()

/** Blocks removals while `work` reads the books. */
export async function whileKept<T>(store: object, work: () => Promise<T>): Promise<T> {
  audits.set(store, (audits.get(store) ?? 0) + 1)
  try {
    return await work()
  } finally {
    audits.set(store, (audits.get(store) ?? 1) - 1)
  }
}

export function areBooksKept(store: object): boolean {
  return (audits.get(store) ?? 0) > 0
}

export async function forgottenCount(t: ReadTx): Promise<number> {
  return (await t.table(counters).get(FORGOTTEN_COUNTER))?.value ?? 0
}

/**
 * Removes transactions and their balance history. Does nothing unless their lines sum to zero for each account, and the
 * remaining history still ends with the balance.
 */
export async function forgetCancelled(t: Tx, ids: readonly string[]): Promise<void> {
  const rows = await t.table(ledger).getMany(ids)
  if (rows.length !== ids.length || !doCancelOut(rows)) return
  const owners = new Set(balancesIn(rows).map(accountOwner))
  const shown: HistoryRow[] = []
  for (const owner of owners) {
    const keys = rows.map((row) => `${row.id}:${owner}`)
    if (!(await endsWithBalance(t, owner, new Set(keys)))) return
    shown.push(...(await t.table(history).getMany(keys)))
  }
  for (const { key } of shown) await t.table(history).delete(key)
  for (const { id } of rows) await t.table(ledger).delete(id)
  await t.table(counters).getForUpdate(FORGOTTEN_COUNTER)
  await t.table(counters).put({ id: FORGOTTEN_COUNTER, value: (await forgottenCount(t)) + rows.length })
}

function balancesIn(rows: readonly LedgerRow[]): string[] {
  return rows.flatMap(({ lines }) => lines.map((line) => line.account)).filter((name) => accountKind(name) === 'bal')
}

function doCancelOut(rows: readonly LedgerRow[]): boolean {
  const sums = new Map<string, bigint>()
  for (const { lines } of rows) {
    for (const { account: name, delta } of lines) sums.set(name, (sums.get(name) ?? 0n) + delta)
  }
  return [...sums.values()].every((sum) => sum === 0n)
}

async function endsWithBalance(t: Tx, owner: string, going: ReadonlySet<string>): Promise<boolean> {
  const { rows } = await t.table(history).page('participant', [owner], { limit: going.size + 1 })
  const last = rows.find(({ key }) => !going.has(key))
  return (last?.balance_after ?? 0n) === (await balanceOf(t, account.balance(owner)))
}
