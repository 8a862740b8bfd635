import type { Hex, Wallet } from '../../../../src/core/hex.ts'
import type { Store } from '../../../store/port.ts'
import type { ChainTransaction, ChainTransactions } from '../chain.ts'
import { type SandboxTransferRow, sandboxTransfers } from './ledger.ts'

/** A ledger has no queue: what is asked for by its hash is there, and final. */
export function sandboxTransactions(store: Store, asset: Wallet): ChainTransactions {
  return {
    page: async () => ({ rows: [], total: 0 }),
    find: async (hash) => {
      const [row] = (await store.table(sandboxTransfers).page('transaction', [hash.toLowerCase()], { limit: 1 })).rows
      return row && shown(row, asset)
    },
    sweep: async () => 0,
  }
}

/** Minted money comes from the token itself. */
function shown(row: SandboxTransferRow, asset: Wallet): ChainTransaction {
  const { id, from, to, amount, transaction, at, kind } = row
  const nonce = (kind === 'authorization' ? id.split(':').at(-1) : transaction) as Hex // as their key is made
  return {
    id,
    nonce: 0,
    to: asset,
    state: 'final',
    call: null,
    transfers: [{ from: from ?? asset, to, value: amount, nonce, state: 'moved' }],
    hashes: [transaction],
    maxFee: 0n,
    sentAt: at,
    included: { hash: transaction, block: 0, ok: true, at },
  }
}
