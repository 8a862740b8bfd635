import type { Hex, Wallet } from '../../../../../src/core/hex.ts'
import type { Draft, Tx } from '../../../../store/port.ts'
import { transferCall, transfersCall } from './calldata.ts'
import { type Core, type GasSender, noteError, type OpenTx, pass, type QueueWork, type TransferWork } from './core.ts'
import type { Fees } from './fees.ts'
import { type ChainItem, type ChainTxRow, chainSigners, chainTransfers, chainTxs } from './rows.ts'
import { type SignedTx, signTransaction } from './signer.ts'
import { ALONE_GAS, batchedCalls, batchGas, ITEM_GAS } from './simulate.ts'

export type Payload = { readonly to: Wallet; readonly data: Hex; readonly gas: number; readonly value?: bigint }
export type Parcel = {
  readonly works: readonly QueueWork[]
  readonly payload: Payload
  readonly fees: Fees
  readonly sender: GasSender
}

export function transferPayload(core: Core, works: readonly TransferWork[]): Payload {
  const { batch, token } = core.options
  const [first] = works
  if (works.length === 1 && first) {
    const { authorization, signature } = first
    return { to: token, data: transferCall(authorization, signature), gas: ALONE_GAS }
  }
  if (!batch) throw new RangeError('without a batch contract, each transfer needs its own transaction')
  const data = transfersCall(batch.kind, batchedCalls(core, works, ITEM_GAS))
  return { to: batch.address, data, gas: batchGas(works.length) }
}

/** Takes the next nonce, signs a transaction, and stores it in one durable write, before it is sent. */
export async function assign(core: Core, { works, payload, fees, sender }: Parcel): Promise<OpenTx> {
  const { store, wall } = core.options
  const { signer } = sender
  const { nonce, raw, hash } = await signedNext(core, { payload, fees, sender })
  const transfers = works.filter((work) => work.kind === 'transfer')
  const call = works.find((work) => work.kind === 'call')
  const draft: Draft<ChainTxRow> = {
    id: `${signer.address}:${nonce}`,
    signer: signer.address,
    nonce,
    ...payload,
    ...(call ? { call: call.order.id } : {}),
    items: transfers.map(itemOf),
    sends: [{ hash, raw, max_fee: fees.maxFee, tip: fees.tip, at: wall() }],
    state: 'signed',
    open: true,
    included: null,
    settled: [],
    lost: [],
    first_head: core.head?.number ?? 0,
    updated_at: wall(),
  }
  await pass(core, 'before_store')
  const row = await store.tx(async (t) => {
    await takeNonce(t, signer.address, nonce)
    for (const { key, digest, since = draft.first_head } of transfers) {
      const table = t.table(chainTransfers)
      const known = await table.getForUpdate(key)
      await table.put({ ...known, id: key, digest, tx: draft.id, first_head: known?.first_head ?? since })
    }
    return await t.table(chainTxs).insert(draft)
  })
  sender.nextNonce = nonce + 1
  const tx = openTx(core, row)
  works.forEach((work, place) => {
    work.tx = tx
    if (work.kind === 'transfer') work.since ??= row.first_head
    tx.works.set(place, work)
  })
  await pass(core, 'after_store')
  return tx
}

/** Signs with the next nonce; again if the nonce was given up while the signer worked. */
async function signedNext(
  core: Core,
  { payload, fees, sender }: Omit<Parcel, 'works'>,
): Promise<SignedTx & { nonce: number }> {
  const { chainId } = core.options
  for (;;) {
    const nonce = sender.nextNonce
    const signed = await signTransaction(sender.signer, { chainId, nonce, ...payload, ...fees })
    if (nonce === sender.nextNonce) return { nonce, ...signed }
  }
}

async function takeNonce(t: Tx, signer: Wallet, nonce: number): Promise<void> {
  const signers = t.table(chainSigners)
  const own = await signers.getForUpdate(signer)
  if (own?.next_nonce !== nonce) throw new Error('another queue uses this gas key in the same store')
  await signers.update(signer, own.version, { next_nonce: nonce + 1 })
}

export function openTx(core: Core, row: ChainTxRow): OpenTx {
  const now = core.options.wall()
  const tx: OpenTx = {
    row,
    works: new Map(),
    firstSentAt: now,
    sentAt: now,
    sentHead: core.head?.number ?? row.first_head,
    resends: 0,
    isFollowed: false,
    confirmed: Promise.withResolvers(),
  }
  core.open.set(row.id, tx)
  if (row.state === 'signed') core.flying.add(tx)
  return tx
}

/** Sends a transaction's latest bytes. Whether they were accepted is read from the chain, not from the reply. */
export function transmit(core: Core, tx: OpenTx): void {
  const raw = tx.row.sends.at(-1)?.raw
  if (!raw) return
  tx.sentAt = core.options.wall()
  tx.sentHead = core.head?.number ?? tx.sentHead
  core.unanswered += 1
  core.askedAt = tx.sentAt
  const reply = core.options.rpc.send(raw).finally(() => {
    core.unanswered -= 1
  })
  const follow = async (): Promise<void> => {
    await pass(core, 'sent_without_reply')
    const answer = await reply
    await pass(core, 'after_reply')
    if (!answer.ok) {
      noteError(core, answer.message)
      core.purseAt = 0
    }
    // If a check of earlier sends is already due, do not delay it.
    if (!core.dirty) core.dueAt = answer.ok ? tx.sentAt + core.firstLookMs : 0
    core.dirty = true
    core.watch.ring()
  }
  follow().catch((error: unknown) => noteError(core, error))
  core.watch.ring()
}

export function itemOf({
  authorization,
  digest,
  signature,
}: Pick<TransferWork, 'authorization' | 'digest' | 'signature'>): ChainItem {
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  return { from, to, value, valid_after: validAfter, valid_before: validBefore, nonce, digest, signature }
}
