import { z } from 'zod'
import { Micro, StoredWallet } from '../../../../src/core/codecs.ts'
import { defineCollection } from '../../../store/port.ts'

/** What the faucet of a devnet gave a wallet. */
const ChainGrantRow = z.strictObject({
  wallet: StoredWallet,
  version: z.int(),
  /** Day (UTC, days since the epoch) of the latest grant and what was granted on it. */
  day: z.int(),
  granted: Micro,
  /** Grants of all days: each is an order of its own. */
  grants: z.int(),
})

export const chainGrants = defineCollection('chain_grants', {
  schema: ChainGrantRow,
  key: 'wallet',
  addresses: ['wallet'],
  indexes: [],
})
