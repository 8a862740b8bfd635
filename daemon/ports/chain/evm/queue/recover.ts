import { everyRow } from '../../../../store/each-page.ts'
import { numberIn } from '../rpc/values.ts'
import { openTx, transmit } from './assign.ts'
import { type Core, seeHead } from './core.ts'
import { QueueRefused } from './queue.ts'
import { restore } from './reversal.ts'
import { chainSigners, chainTransfers, chainTxs } from './rows.ts'

const PAGE = 500

/** Resends an earlier process's transactions, in order of nonce. @throws QueueRefused, RpcUnavailableError */
export async function recover(core: Core): Promise<void> {
  const { rpc, store, signer, chainId } = core.options
  const { head, answers } = await rpc.read([
    { method: 'eth_chainId', params: [] },
    { method: 'eth_getTransactionCount', params: [signer.address, 'latest'] },
  ])
  const [id, count] = answers.map((answer) => (answer.ok ? numberIn(answer.result) : undefined))
  if (id !== chainId) throw new QueueRefused(`The node is on chain ${id}, not ${chainId}: use another --rpc-url.`)
  if (count === undefined) throw new QueueRefused('The node did not return the transaction count of the gas key.')
  seeHead(core, head)
  for (const row of await everyRow(store.table(chainTxs), { index: 'open', prefix: [signer.address], limit: PAGE })) {
    openTx(core, row)
  }
  core.nextNonce = await nextNonce(core, count)
  refuseGap(core, count)
  for (const tx of [...core.open.values()].sort((a, b) => a.row.nonce - b.row.nonce)) {
    if (tx.row.state === 'signed') transmit(core, tx)
    for (const place of tx.row.lost) restore(core, tx, place)
  }
  const undone = await everyRow(store.table(chainTransfers), { index: 'reversed', prefix: [], limit: PAGE })
  for (const row of undone.filter(({ returned }) => returned === undefined)) {
    core.counts.reversed += 1
    core.reversedAt = Math.max(core.reversedAt, row.reversed?.at ?? 0)
  }
  const watched = await everyRow(store.table(chainTransfers), { index: 'watched', prefix: [], limit: PAGE })
  for (const row of watched) core.watched.set(row.id, row)
}

/** The next nonce: the store's counter or, for a new store, the chain's transaction count. */
async function nextNonce({ options }: Core, count: number): Promise<number> {
  const { store, signer } = options
  const own = await store.table(chainSigners).get(signer.address)
  if (!own) {
    await store.tx((t) => t.table(chainSigners).insert({ id: signer.address, next_nonce: count }))
    return count
  }
  if (count > own.next_nonce) {
    throw new QueueRefused(
      `The gas key ${signer.address} was used elsewhere (${count} transactions on the chain, ${own.next_nonce} in this folder): use a separate gas key for this marketplace.`,
    )
  }
  return own.next_nonce
}

/** Refuses to start if the chain lacks a transaction that cannot be resent, because its bytes are no longer stored. */
function refuseGap(core: Core, count: number): void {
  for (let nonce = count; nonce < core.nextNonce; nonce++) {
    const sends = core.open.get(nonce)?.row.sends ?? []
    if (sends.some(({ raw }) => raw !== null)) continue
    throw new QueueRefused(
      `The chain lacks the final transaction ${nonce} of the gas key: it is another chain, or its history was reset.`,
    )
  }
}
