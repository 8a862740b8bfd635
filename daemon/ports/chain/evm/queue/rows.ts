import { z } from 'zod'
import { StoredHex, StoredWallet } from '../../../../../src/core/codecs.ts'
import { chainTxStates } from '../../../../../src/model/payment.ts'
import { defineCollection, stored } from '../../../../store/port.ts'

/** A transfer in a transaction, with its authorization. The signature is kept until the transaction is final. */
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

/** One signed version of a transaction. Any version for the nonce may be mined. */
const ChainSend = z.strictObject({
  hash: StoredHex,
  /** null once the transaction is final. */
  raw: StoredHex.nullable(),
  max_fee: z.bigint(),
  tip: z.bigint(),
  /** Epoch milliseconds of the machine. */
  at: z.int(),
})

const ChainSignerRow = z.strictObject({ id: StoredWallet, version: z.int(), next_nonce: z.int() })

// Anonymised exports have another gas key, so they leave out these rows.
export const chainTxs = defineCollection('chain_txs', {
  schema: z.strictObject({
    /** `<signer>:<nonce>`. */
    ...stored,
    signer: StoredWallet,
    nonce: z.int(),
    to: StoredWallet,
    data: StoredHex,
    gas: z.int(),
    /** ETH that the transaction moves, in wei. */
    value: z.bigint().exactOptional(),
    call: z.string().exactOptional(),
    items: z.array(ChainItem),
    sends: z.array(ChainSend),
    /** `superseded`: another program's transaction used the nonce. */
    state: z.enum(chainTxStates),
    /** Set until the transaction is final or superseded. */
    open: z.literal(true).optional(),
    included: z
      .strictObject({
        hash: StoredHex,
        block: z.int(),
        block_hash: StoredHex,
        ok: z.boolean(),
        at: z.int(),
        /** Gas fee; absent in rows of earlier builds. */
        cost_wei: z.bigint().exactOptional(),
      })
      .nullable(),
    /** Hash of the included version. */
    mined: StoredHex.optional(),
    /** Indexes of the items whose transfers were reported as settled. */
    settled: z.array(z.int()),
    /** Indexes of reorged items that have not settled again. */
    lost: z.array(z.int()),
    /** Number of the latest block at the time of the first signature. Event searches start at this block. */
    first_head: z.int(),
    updated_at: z.int(),
  }),
  indexes: [
    { name: 'open', fields: ['signer', 'nonce'], where: { field: 'open', present: true } },
    { name: 'call', fields: ['call', 'nonce'], where: { field: 'call', present: true } },
    { name: 'newest', fields: ['signer', 'nonce'], order: 'desc' },
    { name: 'mined', fields: ['mined'], where: { field: 'mined', present: true } },
    { name: 'final', fields: ['updated_at'], where: { field: 'state', equals: 'final' } },
  ],
})
export type ChainTxRow = z.infer<typeof chainTxs.schema>

export const chainTransfers = defineCollection('chain_transfers', {
  schema: z.strictObject({
    /** `<from>:<nonce>` of the authorization. */
    ...stored,
    digest: StoredHex,
    /** Id of the transfer's latest transaction, or the hash of an external facilitator's transaction. */
    tx: z.string(),
    first_head: z.int(),
    /** Set if the transfer was permanently reversed. */
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
    /** Set if an external facilitator sent the transfer; the daemon resends it if the chain drops it. */
    foreign: ChainItem.exactOptional(),
    /** Set on reversed transfers and those of external facilitators, until they are final. */
    watched: z.literal(true).exactOptional(),
    /** Finalized transaction that moved the money after the reversal. */
    returned: StoredHex.exactOptional(),
  }),
  indexes: [
    { name: 'reversed', fields: ['id'], where: { field: 'reversed', present: true } },
    { name: 'watched', fields: ['id'], where: { field: 'watched', present: true } },
  ],
})
export type ChainTransferRow = z.infer<typeof chainTransfers.schema>

export const chainSigners = defineCollection('chain_signers', { schema: ChainSignerRow, indexes: [] })

/** Collections for `openTxQueue`. */
export const queueCollections = [chainTxs, chainTransfers, chainSigners] as const
