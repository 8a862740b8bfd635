import { z } from 'zod'
import { chainNetworks } from '../../../../../src/core/authorization.ts'
import { Micro, StoredHex, StoredWallet } from '../../../../../src/core/codecs.ts'
import { keysOf } from '../../../../../src/core/record.ts'
import { keyRoles, keyStates } from '../../../../../src/model/payment.ts'
import { defineCollection, type Store } from '../../../../store/port.ts'
import { chainGrants } from '../faucet.ts'
import { queueCollections } from '../queue/rows.ts'

const LONGEST_NAME = 64

/** The chain of a data folder; it cannot change. */
export const chainHomes = defineCollection('chain_homes', {
  schema: z.strictObject({
    id: z.literal('chain'),
    version: z.int(),
    mode: z.enum(keysOf(chainNetworks)),
    /** Hash of the first block, which identifies the chain. On a devnet it may change. */
    genesis: StoredHex,
    /** `gas_key` owns this installation's contracts; `pay_to` receives payments. */
    gas_key: StoredWallet,
    pay_to: StoredWallet,
    salt: StoredHex,
    /** Contract addresses by name. A chain without these contracts counts as another chain and is refused. */
    contracts: z.record(z.string().max(LONGEST_NAME), StoredWallet),
    from_block: z.int(),
    /** Latest block when the last backup was made. */
    seen: z.int().exactOptional(),
    /** Set by a restore until the books have caught up with the chain; `until` is the last block to compare. */
    restored: z.strictObject({ until: z.int().nullable() }).exactOptional(),
  }),
  addresses: ['gas_key', 'pay_to'],
  indexes: [],
})
export type ChainHomeRow = z.infer<typeof chainHomes.schema>

/** A key of the operator, current and former. Like the transactions of the gas key, it is in no anonymised export. */
export const operatorKeys = defineCollection('operator_keys', {
  schema: z.strictObject({
    /** The address. */
    id: StoredWallet,
    version: z.int(),
    role: z.enum(keyRoles),
    state: z.enum(keyStates),
    /** Epoch milliseconds of the machine. */
    since: z.int(),
    until: z.int().exactOptional(),
    leaked: z.literal(true).exactOptional(),
    /** Where the key is: a file, in the folder of a devnet only its name. Never the key. */
    source: z.string(),
    /** Number of finished sweeps; `sweep` is stored before it is sent. */
    sweeps: z.int(),
    sweep: z.strictObject({ to: StoredWallet, amount: Micro }).exactOptional(),
    swept: Micro,
  }),
  indexes: [{ name: 'newest', fields: ['since'], order: 'desc' }],
})
export type OperatorKeyRow = z.infer<typeof operatorKeys.schema>

export function changeHome(store: Pick<Store, 'tx'>, change: (home: ChainHomeRow) => ChainHomeRow): Promise<void> {
  return store.tx(async (t) => {
    const home = await t.table(chainHomes).getForUpdate('chain')
    if (home) await t.table(chainHomes).put(change(home))
  })
}

/** Tells the next start to compare the books with the chain, and closes the store. @returns its chain, if it has one */
export async function markRestored(store: Pick<Store, 'tx' | 'table' | 'close'>): Promise<ChainHomeRow | undefined> {
  try {
    await changeHome(store, (home) => ({ ...home, restored: { until: null } }))
    return await store.table(chainHomes).get('chain')
  } finally {
    await store.close()
  }
}

export const evmCollections = [chainHomes, operatorKeys, chainGrants, ...queueCollections] as const
