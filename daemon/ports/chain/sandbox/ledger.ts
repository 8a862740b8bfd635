import { z } from 'zod'
import { Micro, StoredHex, StoredWallet } from '../../../../src/core/codecs.ts'
import { defineCollection, stored } from '../../../store/port.ts'
import { sandboxRegistryCollections } from './registry-rows.ts'

const wallet = StoredWallet
const bytes32 = StoredHex

/** The token of a sandbox, created at the first open. */
const SandboxTokenRow = z.strictObject({
  id: z.literal('token'),
  version: z.int(),
  asset: wallet,
  pay_to: wallet,
  /** Sum of all account balances. */
  supply: Micro,
})
export type SandboxTokenRow = z.infer<typeof SandboxTokenRow>

const SandboxAccountRow = z.strictObject({
  wallet,
  version: z.int(),
  balance: Micro,
  /** UTC day of the latest faucet grant; `faucet_granted` is the total of that day. */
  faucet_day: z.int(),
  faucet_granted: Micro,
})
export type SandboxAccountRow = z.infer<typeof SandboxAccountRow>

const SandboxTransferRow = z.strictObject({
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
})
export type SandboxTransferRow = z.infer<typeof SandboxTransferRow>

export const sandboxTokens = defineCollection('sandbox_tokens', {
  schema: SandboxTokenRow,
  addresses: ['asset', 'pay_to'],
  indexes: [],
})

export const sandboxAccounts = defineCollection('sandbox_accounts', {
  schema: SandboxAccountRow,
  key: 'wallet',
  addresses: ['wallet'],
  indexes: [{ name: 'wallet', fields: ['wallet'] }],
})

export const sandboxTransfers = defineCollection('sandbox_transfers', {
  schema: SandboxTransferRow,
  addresses: ['from', 'to'],
  indexes: [{ name: 'transaction', fields: ['transaction'], unique: true }],
})

/** Collections for `openSandboxChain`. */
export const sandboxCollections = [
  sandboxTokens,
  sandboxAccounts,
  sandboxTransfers,
  ...sandboxRegistryCollections,
] as const
