import { type Core, noteError, type OpenTx } from './core.ts'
import { requeue } from './outcome.ts'
import { restore } from './reversal.ts'
import { chainSigners, chainTxs } from './rows.ts'

/** A transaction of somebody else took the nonce: what ours carried goes into another one, and moves once all the same. */
export async function supersede(core: Core, tx: OpenTx, count: number): Promise<void> {
  const { store, signer, wall, observe } = core.options
  const { id, version, nonce, settled, lost } = tx.row
  const next = Math.max(core.nextNonce, count)
  tx.row = await store.tx(async (t) => {
    const own = await t.table(chainSigners).getForUpdate(signer.address)
    if (own) await t.table(chainSigners).update(own.id, own.version, { next_nonce: next })
    // What was told as moved is followed until it moved anew.
    const undone = [...new Set([...settled, ...lost])]
    return await t.table(chainTxs).update(id, version, {
      state: 'superseded',
      open: undone.length > 0 ? true : undefined,
      lost: undone,
      updated_at: wall(),
    })
  })
  core.flying.delete(tx)
  core.nextNonce = next
  core.counts.foreign += 1
  noteError(core, `nonce ${nonce} was taken by a transaction that is not ours`)
  observe?.({ kind: 'superseded' })
  const works = [...tx.works.values()]
  tx.works.clear()
  for (const work of works) requeue(core, work)
  if (tx.row.lost.length === 0) core.open.delete(nonce)
  for (const place of tx.row.lost) restore(core, tx, place)
}
