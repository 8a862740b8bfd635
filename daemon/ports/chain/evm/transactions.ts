import type { Hex, Wallet } from '../../../../src/core/hex.ts'
import { pick } from '../../../../src/core/record.ts'
import { offsetPage } from '../../../store/each-page.ts'
import type { Store, Tx } from '../../../store/port.ts'
import type { ChainTransaction, ChainTransactions } from '../chain.ts'
import { type ChainTxRow, chainTransfers, chainTxs } from './queue/rows.ts'

/** Maximum number of open transactions that are searched for a hash, oldest first. */
const MAX_SCANNED = 1_000
/** Number of rows that one store transaction reads. */
const SWEEP_ROWS = 200
const HASH = /^0x[0-9a-f]{64}$/i
const NONCE = /^\d{1,15}$/

type Parts = { readonly store: Store; readonly gas: { readonly senders: readonly Wallet[] } }

/** Reads the transactions of the gas key, and of those before it, from the queue's rows. */
export function openTransactions({ store, gas }: Parts): ChainTransactions {
  const table = () => store.table(chainTxs)

  async function byHash(hash: string): Promise<ChainTxRow | undefined> {
    const [mined] = (await table().page('mined', [hash], { limit: 1 })).rows
    if (mined) return mined
    const { rows } = await table().page('open', [], { limit: MAX_SCANNED })
    return rows.find(({ sends }) => sends.some((send) => send.hash === hash))
  }

  function sweepSome({ before, after, isNeeded }: Place): Promise<Swept> {
    return store.tx(async (t) => {
      const page = await t.table(chainTxs).page('final', [], { limit: SWEEP_ROWS, ...(after && { after }) })
      const old = page.rows.filter((row) => row.updated_at < before)
      const counts = await Promise.all(old.map((row) => forgetUnlessNeeded(t, row, isNeeded)))
      return {
        count: counts.filter(Boolean).length,
        after: page.more && old.length === page.rows.length ? page.cursor : null,
      }
    })
  }

  return {
    page: async ({ isOpen, limit, offset }) => {
      const index = isOpen ? 'open' : 'newest'
      return store.read(async (t) => {
        const found: ChainTxRow[] = []
        let total = 0
        for (const signer of isOpen ? gas.senders.toReversed() : gas.senders) {
          const room = limit - found.length
          const slice = { index, prefix: [signer], limit: room, offset: Math.max(0, offset - total) }
          if (room > 0) found.push(...(await offsetPage(t.table(chainTxs), slice)).rows)
          total += await t.table(chainTxs).count(index, [signer])
        }
        return { rows: found.map(shown), total }
      })
    },
    find: async (id) => {
      const key = NONCE.test(id) ? `${gas.senders[0]}:${Number(id)}` : id.toLowerCase()
      const row = HASH.test(id) ? await byHash(key) : await table().get(key)
      return row && shown(row)
    },
    sweep: async (before, isNeeded) => {
      let removed = 0
      for (let after: string | null = ''; after !== null; ) {
        const swept: Swept = await sweepSome({ before, after, isNeeded })
        removed += swept.count
        after = swept.after
      }
      return removed
    },
  }
}

type IsNeeded = Parameters<ChainTransactions['sweep']>[1]
type Place = { readonly before: number; readonly after: string; readonly isNeeded: IsNeeded }
type Swept = { readonly count: number; readonly after: string | null }

async function forgetUnlessNeeded(t: Tx, row: ChainTxRow, isNeeded: IsNeeded): Promise<boolean> {
  const { id, items } = row
  if (row.call !== undefined || (await isAnyNeeded(row, isNeeded))) return false
  await t.table(chainTxs).delete(id)
  for (const { from, nonce } of items) {
    const transfer = await t.table(chainTransfers).get(`${from}:${nonce}`)
    // Keep transfers that are now in another transaction, and reversed transfers.
    if (transfer?.tx === id && !transfer.reversed) await t.table(chainTransfers).delete(transfer.id)
  }
  return true
}

async function isAnyNeeded({ items }: ChainTxRow, isNeeded: IsNeeded): Promise<boolean> {
  for (const { from, nonce } of items) if (await isNeeded(from, nonce)) return true
  return false
}

function shown(row: ChainTxRow): ChainTransaction {
  const { id, nonce, to, state, call = null, items, sends, included } = row
  return {
    ...{ id, nonce, to, state, call },
    transfers: items.map((item, place) => ({
      from: item.from,
      to: item.to,
      value: item.value,
      nonce: item.nonce,
      state: stateOf(row, place),
    })),
    hashes: sends.map(({ hash }): Hex => hash),
    maxFee: sends.at(-1)?.max_fee ?? 0n,
    sentAt: sends[0]?.at ?? row.updated_at,
    included: included && { ...pick(included, { hash: 0, block: 0, ok: 0, at: 0 }), costWei: included.cost_wei },
  }
}

function stateOf(
  { settled, lost, included, state }: ChainTxRow,
  place: number,
): ChainTransaction['transfers'][number]['state'] {
  if (lost.includes(place)) return 'undone'
  if (included === null) return state === 'superseded' ? 'failed' : 'open'
  return settled.includes(place) ? 'moved' : 'failed'
}
