import { bytesToHex } from '@noble/hashes/utils.js'
import type { Hex, Wallet } from '../../../../../src/core/hex.ts'
import { type Head, headIn, quantity } from '../rpc/values.ts'
import { itemOf } from './assign.ts'
import { type Core, noteError } from './core.ts'
import type { TransferOrder } from './queue.ts'
import { authorizationOf, tell, toldOf } from './reversal.ts'
import { type ChainItem, type ChainTransferRow, chainTransfers, chainTxs } from './rows.ts'
import { findUse } from './used.ts'

/** Checks all watched transfers, because a reorganisation may restore or drop them. @throws RpcUnavailableError */
export async function watchReversed(core: Core): Promise<void> {
  core.watchedAt = core.options.wall()
  const final = await finalBlock(core)
  if (final) for (const row of [...core.watched.values()]) await lookAfter(core, row, final)
}

async function finalBlock({ options, tags }: Core): Promise<Head | undefined> {
  const { rpc, finality } = options
  const block = (at: string) => ({ method: 'eth_getBlockByNumber', params: [at, false] })
  const { head, answers } = await rpc.read([block(finality.final)])
  const told = tags.read(finality.final, answers[0], head)
  return typeof told === 'number' ? headIn(await rpc.ask('eth_getBlockByNumber', [quantity(told), false])) : told
}

async function lookAfter(core: Core, row: ChainTransferRow, final: Head): Promise<void> {
  const { reversed, foreign } = row
  if (foreign && !reversed) return lookAfterForeign(core, { row, item: foreign }, final)
  if (reversed?.to === undefined || reversed.valid_before === undefined) return
  const [from, nonce] = row.id.split(':') as [Wallet, Hex] // as their key is made
  const { to, value, valid_before: validBefore } = reversed
  const use = await findUse(core, { authorization: { from, to, value, nonce }, since: row.first_head })
  const isOver = use ? use.block <= final.number : BigInt(final.timestamp) > validBefore
  if (!isOver) return
  const returned = use?.how === 'moved' ? use.transaction : undefined
  const known = await core.options.store.tx(async (t) => {
    const stored = await t.table(chainTransfers).getForUpdate(row.id)
    if (!stored) return undefined
    const { watched: _, ...rest } = stored
    return await t.table(chainTransfers).put({ ...rest, ...(returned ? { returned } : {}) })
  })
  core.watched.delete(row.id)
  if (!known || returned === undefined) return
  core.counts.reversed -= 1
  tell(core, toldOf(known, reversed))
}

const MS = 1_000

/** Starts watching an external facilitator's transfer. The daemon's own transactions are followed already. */
export async function followForeign(
  core: Core,
  { authorization, signature }: Pick<TransferOrder, 'authorization' | 'signature'>,
  transaction: Hex,
): Promise<void> {
  const { store, digestOf } = core.options
  const digest: Hex = `0x${bytesToHex(digestOf(authorization))}`
  const id = `${authorization.from}:${authorization.nonce}`
  if ((await store.table(chainTxs).page('mined', [transaction], { limit: 1 })).rows.length > 0) return
  const first_head = core.head?.number ?? 0
  const row = await store.tx(async (t) => {
    const known = await t.table(chainTransfers).getForUpdate(id)
    const foreign = itemOf({ authorization, digest, signature })
    const base = known ?? { id, digest, tx: transaction, first_head: Math.max(0, first_head - LOOKED_BACK) }
    return await t.table(chainTransfers).put({ ...base, foreign, watched: true })
  })
  core.watched.set(id, row)
  core.watch.ring()
}

/** Number of blocks to search back: the length of a payment window and a margin. */
const LOOKED_BACK = 2_000

type Foreign = { readonly row: ChainTransferRow; readonly item: ChainItem }

/** Resends a facilitator's transfer that the chain dropped, or reports it as reversed. @throws RpcUnavailableError */
async function lookAfterForeign(core: Core, { row, item }: Foreign, final: Head): Promise<void> {
  const { wall, timings } = core.options
  const authorization = authorizationOf(item)
  const use = await findUse(core, { authorization, since: row.first_head })
  if (use?.how === 'moved') {
    if (use.block <= final.number) await unwatch(core, row)
    return
  }
  const isOver = use !== undefined || wall() > Number(item.valid_before) * MS + timings.reversalGraceMs
  if (isOver) await undone(core, row, item)
  else resend(core, row, { authorization, signature: item.signature, priority: 'payment' })
}

/** Resends in the background, because the resend may wait for this watch loop. */
function resend(core: Core, { id }: ChainTransferRow, order: TransferOrder): void {
  if (core.resend === undefined || core.resending.has(id)) return
  core.resending.add(id)
  core
    .resend(order)
    .catch((error: unknown) => noteError(core, error))
    .finally(() => core.resending.delete(id))
}

async function unwatch(core: Core, row: ChainTransferRow): Promise<void> {
  await core.options.store.tx(async (t) => {
    const stored = await t.table(chainTransfers).getForUpdate(row.id)
    if (!stored) return
    const { watched: _, foreign: __, ...rest } = stored
    await t.table(chainTransfers).put(rest)
  })
  core.watched.delete(row.id)
}

async function undone(core: Core, row: ChainTransferRow, item: ChainItem): Promise<void> {
  const { store, wall, observe } = core.options
  const transaction = row.tx as Hex // of a foreign one
  const reversed = { at: wall(), value: item.value, transaction, to: item.to, valid_before: item.valid_before }
  const known = await store.tx(async (t) => {
    const stored = await t.table(chainTransfers).getForUpdate(row.id)
    return stored && (await t.table(chainTransfers).put({ ...stored, reversed }))
  })
  if (!known) return
  core.watched.set(row.id, known)
  core.counts.reversed += 1
  core.reversedAt = wall()
  observe?.({ kind: 'reversed' })
  tell(core, toldOf(known, reversed))
}
