import { z } from 'zod'
import { Micro } from '../../../src/core/codecs.ts'
import { keysOf } from '../../../src/core/record.ts'
import { type AccountKind, accountKinds, entryKinds, historyTypes, LedgerLine } from '../../../src/model/ledger.ts'
import { earningRoles } from '../../../src/model/words.ts'
import { type AnyCollection, defineCollection, type Store, stored } from '../../store/port.ts'

/** An append-only transaction; its lines sum to zero (decisions §5). */
export const ledger = defineCollection('ledger', {
  schema: z.strictObject({
    ...stored,
    /** Transaction number, without gaps, in commit order. An audit reports the last one as `as_of`. */
    seq: z.int(),
    kind: z.enum(keysOf(entryKinds)),
    ref_kind: z.string(),
    ref_id: z.string(),
    lines: z.array(LedgerLine),
    at: z.int(),
  }),
  indexes: [
    { name: 'seq', fields: ['seq'], unique: true },
    { name: 'at', fields: ['at'] },
    { name: 'job', fields: ['ref_id', 'seq'], where: { field: 'ref_kind', equals: 'job' } },
  ],
})
export type LedgerRow = z.infer<typeof ledger.schema>

/** Balance of one account, the sum of its lines. An account at zero has no row. */
export const accounts = defineCollection('accounts', {
  schema: z.strictObject({ ...stored, kind: z.enum(accountKinds), balance: Micro }),
  indexes: [{ name: 'kind', fields: ['kind'] }],
})
export type AccountRow = z.infer<typeof accounts.schema>

/** One line of a participant's balance history, with the new balance (decisions §4). */
export const history = defineCollection('history', {
  schema: z.strictObject({
    /** `<transaction id>:<participant id>`. */
    key: z.string(),
    version: z.int(),
    transaction_id: z.string(),
    participant_id: z.string(),
    /** Transaction number. */
    seq: z.int(),
    type: z.enum(historyTypes),
    /** Signed. */
    amount: Micro,
    balance_after: Micro,
    ref_kind: z.string(),
    ref_id: z.string(),
    at: z.int(),
  }),
  key: 'key',
  indexes: [{ name: 'participant', fields: ['participant_id', 'seq'], order: 'desc' }],
})
export type HistoryRow = z.infer<typeof history.schema>

/** One amount earned by a participant, written with its transaction. */
export const earnings = defineCollection('earnings', {
  schema: z.strictObject({
    /** `<transaction id>:<role>`. */
    ...stored,
    owner_id: z.string(),
    role: z.enum(earningRoles),
    stream: z.enum(['sales', 'referrals']),
    /** Transaction number. */
    seq: z.int(),
    kind: z.enum(keysOf(entryKinds)),
    transaction_id: z.string(),
    amount: Micro,
    /** Total earnings of the owner in this role, including this earning. */
    total_after: Micro,
    referred_id: z.string().nullable(),
    /** Total earnings of the owner from the referred participant, including this row's earning. */
    referred_total_after: Micro,
    ref_kind: z.string(),
    ref_id: z.string(),
    at: z.int(),
  }),
  indexes: [
    { name: 'own', fields: ['owner_id', 'stream', 'seq'], order: 'desc' },
    { name: 'own_role', fields: ['owner_id', 'role', 'seq'], order: 'desc' },
    {
      name: 'own_referred',
      fields: ['owner_id', 'referred_id', 'seq'],
      order: 'desc',
      where: { field: 'stream', equals: 'referrals' },
    },
  ],
})
export type EarningRow = z.infer<typeof earnings.schema>

export const ledgerCollections: readonly AnyCollection[] = [ledger, accounts, history, earnings]

export async function hasMoneyIn({ store }: { readonly store: Store }, kinds: readonly AccountKind[]) {
  const table = store.table(accounts)
  const counts = await Promise.all(kinds.map((kind) => table.count('kind', [kind])))
  return counts.some((count) => count > 0)
}
