import { z } from 'zod'
import { chainNetworks } from '../../../../../src/core/authorization.ts'
import { StoredHex, StoredWallet } from '../../../../../src/core/codecs.ts'
import { keysOf } from '../../../../../src/core/record.ts'
import { defineCollection } from '../../../../store/port.ts'
import { chainGrants } from '../faucet.ts'
import { queueCollections } from '../queue/rows.ts'

const LONGEST_NAME = 64

/** The chain of a data folder: what it began on it stays on. */
const ChainHomeRow = z.strictObject({
  id: z.literal('chain'),
  version: z.int(),
  mode: z.enum(keysOf(chainNetworks)),
  /** Hash of the first block: which of many chains with the same number it is. A devnet tells another one at each start. */
  genesis: StoredHex,
  /** Whom the contracts of this installation obey, and whom people are told to pay. */
  gas_key: StoredWallet,
  pay_to: StoredWallet,
  /** What the contracts of this installation differ by from those of others. */
  salt: StoredHex,
  /** Where they are, by name, once they are: a chain without them is another one. They stay as they were made. */
  contracts: z.record(z.string().max(LONGEST_NAME), StoredWallet),
  /** Nothing of souk's happened in a block before. */
  from_block: z.int(),
})
export type ChainHomeRow = z.infer<typeof ChainHomeRow>

export const chainHomes = defineCollection('chain_homes', {
  schema: ChainHomeRow,
  key: 'id',
  addresses: ['gas_key', 'pay_to'],
  indexes: [],
})

/** What a store must be opened with for a chain. */
export const evmCollections = [chainHomes, chainGrants, ...queueCollections] as const
