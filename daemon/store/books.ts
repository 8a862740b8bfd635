import type { Usdc } from '../../src/core/money.ts'
import { usdc } from '../../src/core/money.ts'
import { type Leg, linesOf, mayBeNegative } from '../rules/books.ts'
import { accounts, ledger } from './collections.ts'
import type { Draw } from './draw.ts'
import type { ReadTx, Tx } from './port.ts'

export type Entry = {
  readonly kind: string
  readonly ref: { readonly kind: string; readonly id: string }
  readonly legs: readonly Leg[]
  readonly at: number
}

/**
 * Writes one transaction of the books with the running balances it changes.
 * @throws Error when an account other than `ext` would turn negative: the whole tx fails.
 * @returns its id, or null when nothing moved.
 */
export async function post(t: Tx, draw: Draw, entry: Entry): Promise<string | null> {
  const lines = linesOf(entry.legs)
  if (lines.length === 0) return null
  for (const line of lines) await apply(t, line.account, line.delta)
  const id = draw.id('transaction')
  await t.table(ledger).insert({
    id,
    kind: entry.kind,
    ref_kind: entry.ref.kind,
    ref_id: entry.ref.id,
    lines,
    at: entry.at,
  })
  return id
}

async function apply(t: Tx, id: string, delta: Usdc): Promise<void> {
  const table = t.table(accounts)
  const held = await table.getForUpdate(id)
  const balance = usdc((held?.balance ?? 0n) + delta)
  if (balance < 0n && !mayBeNegative(id)) throw new Error(`account ${id} would be ${balance}`)
  await table.put({ id, balance })
}

/** Running balance of an account, 0 before its first line. */
export async function balanceOf(t: ReadTx, id: string): Promise<Usdc> {
  return (await t.table(accounts).get(id))?.balance ?? usdc(0n)
}
