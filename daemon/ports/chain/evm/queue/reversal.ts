import type { Authorization } from '../../../../../src/core/authorization.ts'
import type { Hex, Wallet } from '../../../../../src/core/hex.ts'
import { eachPage } from '../../../../store/each-page.ts'
import type { Reversal, SettleResult } from '../../chain.ts'
import { type Core, noteError, type OpenTx, type TransferWork } from './core.ts'
import { requeue } from './outcome.ts'
import { type ChainItem, type ChainTransferRow, chainTransfers, chainTxs } from './rows.ts'

const PAGE = 500

/** Settles a reorged transfer again; reports it as reversed if that is impossible. */
export function restore(core: Core, tx: OpenTx, place: number): void {
  const item = tx.row.items[place]
  if (!item) return
  const key = `${item.from}:${item.nonce}`
  const known = core.works.get(key)
  const work = known?.kind === 'transfer' ? known : transferWork(core, item)
  work.undone ??= tx.row.sends.at(-1)?.hash
  work.since ??= tx.row.first_head
  work.done.promise
    .then((result) => ended(core, { tx, place, item, result }))
    .catch((error: unknown) => noteError(core, error))
  if (known) return
  core.works.set(key, work)
  requeue(core, work)
}

type Ended = { readonly tx: OpenTx; readonly place: number; readonly item: ChainItem; readonly result: SettleResult }

async function ended(core: Core, { tx, place, item, result }: Ended): Promise<void> {
  const { store, wall, observe } = core.options
  const { from, nonce, value } = item
  const transaction = tx.row.sends.at(-1)?.hash
  if (!result.ok && result.failure === 'unavailable') return
  let watched: ChainTransferRow | undefined
  await store.tx(async (t) => {
    const row = await t.table(chainTxs).getForUpdate(tx.row.id)
    if (!row) return
    const lost = row.lost.filter((other) => other !== place)
    const isOver = lost.length === 0 && row.state === 'superseded'
    tx.row = await t.table(chainTxs).update(row.id, row.version, { lost, ...(isOver ? { open: undefined } : {}) })
    if (result.ok || !transaction) return
    const transfers = t.table(chainTransfers)
    const transfer = await transfers.getForUpdate(`${from}:${nonce}`)
    const reversed = { at: wall(), value, transaction, to: item.to, valid_before: item.valid_before }
    if (transfer) watched = await transfers.update(transfer.id, transfer.version, { reversed, watched: true })
  })
  if (tx.row.open === undefined) core.open.delete(tx.row.id)
  if (result.ok || !transaction) return
  if (watched) core.watched.set(watched.id, watched)
  core.counts.reversed += 1
  core.reversedAt = wall()
  observe?.({ kind: 'reversed' })
  tell(core, { from, nonce, value, transaction })
}

export async function tellOld({ options }: Core, listener: (reversal: Reversal) => void): Promise<void> {
  const part = { index: 'reversed', prefix: [], limit: PAGE }
  for await (const rows of eachPage(options.store.table(chainTransfers), part)) {
    for (const row of rows) if (row.reversed) listener(toldOf(row, row.reversed))
  }
}

export function toldOf({ id, returned }: ChainTransferRow, { value, transaction }: Reversed): Reversal {
  const [from, nonce] = id.split(':') as [Wallet, Hex] // as their key is made
  return { from, nonce, value, transaction, ...(returned ? { returned } : {}) }
}

type Reversed = NonNullable<ChainTransferRow['reversed']>

/** Reports a reversal to all listeners; a listener that fails does not stop the others. */
export function tell(core: Core, reversal: Reversal): void {
  for (const listener of core.listeners) {
    try {
      listener(reversal)
    } catch (error) {
      noteError(core, error)
    }
  }
}

function transferWork(core: Core, item: ChainItem): TransferWork {
  const { digest, signature } = item
  return newTransfer(core, { authorization: authorizationOf(item), signature, digest, priority: 'payout' })
}

export function authorizationOf({ from, to, value, valid_after, valid_before, nonce }: ChainItem): Authorization {
  return { from, to, value, validAfter: valid_after, validBefore: valid_before, nonce }
}

type Given = Pick<TransferWork, 'authorization' | 'signature' | 'digest' | 'priority'>

export function newTransfer(core: Core, given: Given): TransferWork {
  return {
    kind: 'transfer',
    key: `${given.authorization.from}:${given.authorization.nonce}`,
    ...given,
    done: Promise.withResolvers(),
    alone: false,
    tries: 0,
    notBefore: 0,
    at: core.options.wall(),
  }
}
