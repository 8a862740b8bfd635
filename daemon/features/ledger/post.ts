import { type Usdc, usdc } from '../../../src/core/money.ts'
import {
  accountKind,
  accountOwner,
  type EntryKind,
  entryKinds,
  type HistoryType,
  type Leg,
  linesOf,
  mayBeNegative,
} from '../../../src/model/ledger.ts'
import { counters, nextNumber } from '../../kernel/rows.ts'
import type { Draw, ReadTx, Tx } from '../../store/port.ts'
import { rememberEarnings } from './earnings.ts'
import { accounts, history, ledger } from './rows.ts'

type Ref = { readonly kind: string; readonly id: string }

export type EntryDraft = {
  readonly kind: EntryKind
  readonly ref: Ref
  readonly legs: readonly Leg[]
  /** (default: new) */
  readonly id?: string
  readonly at: number
  /** Type and reference that the balance history shows, if they do not follow from the kind. */
  readonly shownAs?: { readonly type: HistoryType; readonly ref: Ref }
}

/** Id of the counter that numbers transactions, without gaps, in commit order. */
export const LEDGER_COUNTER = 'ledger'

/**
 * Writes one transaction with running balances and balance histories.
 * @throws Error if an account that may not be negative would turn so.
 * @returns the transaction's id, or null if nothing moved
 */
export async function post(t: Tx, draw: Draw, entry: EntryDraft): Promise<string | null> {
  const lines = linesOf(entry.legs)
  if (lines.length === 0) return null
  const id = entry.id ?? draw.id('transaction')
  const seq = await nextNumber(t, LEDGER_COUNTER)
  for (const line of lines) {
    const balance = await apply(t, line.account, line.delta)
    if (accountKind(line.account) === 'bal') await remember(t, { entry, id, seq, line, balance })
  }
  await rememberEarnings(t, { ...entry, id, seq })
  await t
    .table(ledger)
    .insert({ id, seq, kind: entry.kind, ref_kind: entry.ref.kind, ref_id: entry.ref.id, lines, at: entry.at })
  return id
}

export async function lastSeq(t: ReadTx): Promise<number> {
  return (await t.table(counters).get(LEDGER_COUNTER))?.value ?? 0
}

/** An account at zero has no row, so that closed holds, escrows and payouts leave no rows. */
async function apply(t: Tx, id: string, delta: Usdc): Promise<Usdc> {
  const table = t.table(accounts)
  const locked = await table.getForUpdate(id)
  const balance = usdc((locked?.balance ?? 0n) + delta)
  if (balance < 0n && !mayBeNegative(id)) throw new Error(`account ${id} would become negative: ${balance}`)
  if (balance === 0n) await table.delete(id)
  else await table.put({ id, kind: accountKind(id), balance })
  return balance
}

type Remembered = {
  readonly entry: EntryDraft
  readonly id: string
  readonly seq: number
  readonly line: { readonly account: string; readonly delta: Usdc }
  readonly balance: Usdc
}

async function remember(t: Tx, { entry, id, seq, line, balance }: Remembered): Promise<void> {
  const type = entry.shownAs?.type ?? entryKinds[entry.kind]
  if (type === null) throw new Error(`${entry.kind} must not change a balance, but changes ${line.account}`)
  const ref = entry.shownAs?.ref ?? entry.ref
  const participantId = accountOwner(line.account)
  await t.table(history).insert({
    key: `${id}:${participantId}`,
    transaction_id: id,
    participant_id: participantId,
    seq,
    type,
    amount: line.delta,
    balance_after: balance,
    ref_kind: ref.kind,
    ref_id: ref.id,
    at: entry.at,
  })
}

/** Balance of an account; 0 without a row. */
export async function balanceOf(t: ReadTx, id: string): Promise<Usdc> {
  return (await t.table(accounts).get(id))?.balance ?? usdc(0n)
}
