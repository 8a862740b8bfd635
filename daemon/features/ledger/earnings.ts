import { usdc, ZERO } from '../../../src/core/money.ts'
import { accountKind, accountOwner, type EntryKind, type Leg, saleKinds } from '../../../src/model/ledger.ts'
import type { EarningRole } from '../../../src/model/words.ts'
import type { Draft, ReadTx, Tx } from '../../store/port.ts'
import { type EarningRow, earnings } from './rows.ts'

type Entry = {
  readonly id: string
  readonly seq: number
  readonly kind: EntryKind
  readonly ref: { readonly kind: string; readonly id: string }
  readonly legs: readonly Leg[]
  readonly at: number
}

/** Records what provider and referrers earned in a sale, in the transaction that posts the sale. */
export async function rememberEarnings(t: Tx, entry: Entry): Promise<void> {
  if (!saleKinds.has(entry.kind)) return
  for (const leg of entry.legs) {
    const role = accountKind(leg.to) === 'prov' ? 'sale' : leg.share?.role
    if (role && leg.amount > ZERO) await t.table(earnings).insert(await earningOf(t, { entry, leg, role }))
  }
}

type Earned = { readonly entry: Entry; readonly leg: Leg; readonly role: EarningRole }

async function earningOf(t: ReadTx, { entry, leg, role }: Earned): Promise<Draft<EarningRow>> {
  const owner_id = accountOwner(leg.to)
  const referred_id = leg.share?.referredId ?? null
  return {
    id: `${entry.id}:${role}`,
    owner_id,
    role,
    stream: role === 'sale' ? 'sales' : 'referrals',
    seq: entry.seq,
    kind: entry.kind,
    transaction_id: entry.id,
    amount: leg.amount,
    total_after: usdc((await earnedAs(t, owner_id, role)) + leg.amount),
    referred_id,
    referred_total_after: usdc((await earnedBy(t, owner_id, referred_id)) + leg.amount),
    ref_kind: entry.ref.kind,
    ref_id: entry.ref.id,
    at: entry.at,
  }
}

export async function earnedAs(t: ReadTx, ownerId: string, role: EarningRole) {
  const { rows } = await t.table(earnings).page('own_role', [ownerId, role], { limit: 1 })
  return rows[0]?.total_after ?? ZERO
}

/** Total earnings of a participant from referring another participant. */
export async function earnedBy(t: ReadTx, ownerId: string, referredId: string | null) {
  if (referredId === null) return ZERO
  const { rows } = await t.table(earnings).page('own_referred', [ownerId, referredId], { limit: 1 })
  return rows[0]?.referred_total_after ?? ZERO
}
