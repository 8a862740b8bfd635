import { z } from 'zod'
import { StoredHex, StoredWallet } from '../../../../../src/core/codecs.ts'
import { chainTxStates } from '../../../../../src/model/payment.ts'
import { defineCollection } from '../../../../store/port.ts'

/** A transfer inside a transaction: its authorization and what signs it, from before it is sent until it is final. */
const ChainItem = z.strictObject({
  from: StoredWallet,
  to: StoredWallet,
  value: z.bigint(),
  valid_after: z.bigint(),
  valid_before: z.bigint(),
  nonce: StoredHex,
  digest: StoredHex,
  signature: StoredHex,
})
export type ChainItem = z.infer<typeof ChainItem>

/** One set of signed bytes for a nonce; each of them may be mined. */
const ChainSend = z.strictObject({
  hash: StoredHex,
  /** null once the transaction is final. */
  raw: StoredHex.nullable(),
  max_fee: z.bigint(),
  tip: z.bigint(),
  /** Epoch milliseconds of the machine. */
  at: z.int(),
})

const ChainTxRow = z.strictObject({
  /** `<signer>:<nonce>`. */
  id: z.string(),
  version: z.int(),
  signer: StoredWallet,
  nonce: z.int(),
  to: StoredWallet,
  data: StoredHex,
  gas: z.int(),
  /** Id of the order, where it is a call. */
  call: z.string().exactOptional(),
  items: z.array(ChainItem),
  sends: z.array(ChainSend),
  /** `superseded`: a transaction of somebody else took the nonce. */
  state: z.enum(chainTxStates),
  /** There while it is followed: until it is final or superseded. */
  open: z.literal(true).optional(),
  included: z
    .strictObject({ hash: StoredHex, block: z.int(), block_hash: StoredHex, ok: z.boolean(), at: z.int() })
    .nullable(),
  /** The hash of it that is in a block. */
  mined: StoredHex.optional(),
  /** Places of the items that were told as moved. */
  settled: z.array(z.int()),
  /** Places of those that a reorganisation undid and that are not settled anew yet. */
  lost: z.array(z.int()),
  /** Head of the chain when it was first signed: its events are searched from there. */
  first_head: z.int(),
  updated_at: z.int(),
})
export type ChainTxRow = z.infer<typeof ChainTxRow>

const ChainTransferRow = z.strictObject({
  /** `<from>:<nonce>` of the authorization. */
  id: z.string(),
  version: z.int(),
  digest: StoredHex,
  /** The latest transaction that carries it. */
  tx: z.string(),
  first_head: z.int(),
  /** What moved and was undone for good. */
  reversed: z
    .strictObject({
      at: z.int(),
      value: z.bigint(),
      transaction: StoredHex,
      /** Absent in rows of earlier builds. */
      to: StoredWallet.exactOptional(),
      valid_before: z.bigint().exactOptional(),
    })
    .exactOptional(),
  /** What somebody else's transaction moved: nobody but us sends it again if the chain drops that. */
  foreign: ChainItem.exactOptional(),
  /** Until the chain is final about it: of a reversed one, whose money may come back, or of a foreign one. */
  watched: z.literal(true).exactOptional(),
  /** What brought it back, beyond every reorganisation. */
  returned: StoredHex.exactOptional(),
})
export type ChainTransferRow = z.infer<typeof ChainTransferRow>

const ChainSignerRow = z.strictObject({
  /** The address. */
  id: StoredWallet,
  version: z.int(),
  next_nonce: z.int(),
})

// A copy without its people has another gas key or none, so that nothing of this can be gone on with.
export const chainTxs = defineCollection('chain_txs', {
  schema: ChainTxRow,
  key: 'id',
  indexes: [
    { name: 'open', fields: ['signer', 'nonce'], where: { field: 'open', present: true } },
    { name: 'call', fields: ['call', 'nonce'], where: { field: 'call', present: true } },
    { name: 'newest', fields: ['signer', 'nonce'], order: 'desc' },
    { name: 'mined', fields: ['mined'], where: { field: 'mined', present: true } },
    { name: 'final', fields: ['updated_at'], where: { field: 'state', equals: 'final' } },
  ],
})

export const chainTransfers = defineCollection('chain_transfers', {
  schema: ChainTransferRow,
  key: 'id',
  indexes: [
    { name: 'reversed', fields: ['id'], where: { field: 'reversed', present: true } },
    { name: 'watched', fields: ['id'], where: { field: 'watched', present: true } },
  ],
})

export const chainSigners = defineCollection('chain_signers', {
  schema: ChainSignerRow,
  key: 'id',
  indexes: [],
})

/** What a store must be opened with for `openTxQueue`. */
export const queueCollections = [chainTxs, chainTransfers, chainSigners] as const
