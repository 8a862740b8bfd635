import { z } from 'zod'
import { Micro, StoredHex, StoredWallet } from '../../../../src/core/codecs.ts'
import { defineCollection, stored } from '../../../store/port.ts'
import { sandboxRegistryCollections } from './registry-rows.ts'

const wallet = StoredWallet
const bytes32 = StoredHex

/** The token of a sandbox, created at the first open. */
export const sandboxTokens = defineCollection('sandbox_tokens', {
  schema: z.strictObject({
    id: z.literal('token'),
    version: z.int(),
    asset: wallet,
    pay_to: wallet,
    /** Sum of all account balances. */
    supply: Micro,
  }),
  addresses: ['asset', 'pay_to'],
  indexes: [],
})
export type SandboxTokenRow = z.infer<typeof sandboxTokens.schema>

export const sandboxAccounts = defineCollection('sandbox_accounts', {
  schema: z.strictObject({
    wallet,
    version: z.int(),
    balance: Micro,
    /** UTC day of the latest faucet grant; `faucet_granted` is the total of that day. */
    faucet_day: z.int(),
    faucet_granted: Micro,
  }),
  key: 'wallet',
  addresses: ['wallet'],
  indexes: [{ name: 'wallet', fields: ['wallet'] }],
})
export type SandboxAccountRow = z.infer<typeof sandboxAccounts.schema>

export const sandboxTransfers = defineCollection('sandbox_transfers', {
  schema: z.strictObject({
    /** `<from>:<nonce>` of an authorization, `payout:<id>`, or `mint:<wallet>:<account version>`. */
    ...stored,
    kind: z.enum(['authorization', 'payout', 'mint']),
    /** null for minted money. */
    from: wallet.nullable(),
    to: wallet,
    amount: Micro,
    /** Signed digest; the same id with another digest is refused. */
    digest: bytes32.nullable(),
    transaction: bytes32,
    /** Epoch milliseconds of the machine. */
    at: z.int(),
  }),
  addresses: ['from', 'to'],
  indexes: [{ name: 'transaction', fields: ['transaction'], unique: true }],
})
export type SandboxTransferRow = z.infer<typeof sandboxTransfers.schema>

/** Collections for `openSandboxChain`. */
export const sandboxCollections = [
  sandboxTokens,
  sandboxAccounts,
  sandboxTransfers,
  ...sandboxRegistryCollections,
] as const
