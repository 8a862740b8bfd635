import { bytesToHex } from '@noble/hashes/utils.js'
import type { Hex } from '../../../../../src/core/hex.ts'
import type { SettleResult } from '../../chain.ts'
import { type CallWork, type Core, inFlight, isClosed, noteError, type QueueWork, type TransferWork } from './core.ts'
import { called, refused, sentFacts, settled } from './outcome.ts'
import type { CallOrder, OrderOutcome, TransferOrder } from './queue.ts'
import { receiptIn } from './receipt.ts'
import { newTransfer } from './reversal.ts'
import { type ChainTxRow, chainTransfers, chainTxs } from './rows.ts'

/** Maximum length of a contract wallet's signature. */
export const MAX_SIGNATURE_BYTES = 4_096
/** Limit of unfinished orders; more are refused. */
const MAX_WAITING = 10_000

export async function settle(core: Core, order: TransferOrder): Promise<SettleResult> {
  if (order.signature.length > 2 + 2 * MAX_SIGNATURE_BYTES) {
    return { ok: false, failure: 'signature_invalid', sent: false }
  }
  const work = await joinTransfer(core, order)
  if (!work) return { ok: false, failure: 'unavailable', sent: false }
  const result = await within(core, work.done.promise)
  if (result?.ok && order.until === 'confirmed') return await confirmed(core, result)
  return result ?? { ok: false, failure: 'unavailable', ...sentFacts(work) }
}

/** Finds or creates an order's work. Undefined if the queue is full or closed, or another order blocks its nonce. */
async function joinTransfer(core: Core, order: TransferOrder): Promise<TransferWork | undefined> {
  const digest: Hex = `0x${bytesToHex(core.options.digestOf(order.authorization))}`
  const key = `${order.authorization.from}:${order.authorization.nonce}`
  for (let known = core.works.get(key); known?.kind === 'transfer'; known = core.works.get(key)) {
    if (known.digest === digest) return known
    // Another unfinished order has this nonce. Wait for its end, because only one of the two can move money.
    if ((await within(core, known.done.promise)) === undefined) return undefined
  }
  if (isFull(core)) return undefined
  const work = newTransfer(core, { ...order, digest })
  core.works.set(key, work)
  admitTransfer(core, work).catch((error: unknown) => {
    noteError(core, error)
    refused(core, work, 'unavailable')
  })
  return work
}

function isFull(core: Core): boolean {
  return isClosed(core) || core.works.size >= MAX_WAITING
}

/** Reads from the rows whether a transfer has settled, is in flight, or must be sent. */
async function admitTransfer(core: Core, work: TransferWork): Promise<void> {
  const { store } = core.options
  const transfer = await store.table(chainTransfers).get(work.key)
  const row = transfer && (await store.table(chainTxs).get(transfer.tx))
  work.since = transfer?.first_head
  if (transfer?.digest !== work.digest || !row) {
    wait(core, work)
    return
  }
  const place = row.items.findIndex(({ digest }) => digest === work.digest)
  // The row in memory may be newer than the stored one.
  const tx = core.open.get(row.id)
  const latest = tx?.row ?? row
  if (latest.included && latest.settled.includes(place)) {
    settled(core, work, { transaction: latest.included.hash, already: true })
  } else if (tx && latest.state === 'signed') {
    work.tx = tx
    tx.works.set(place, work)
  } else {
    work.transaction = latest.sends.at(-1)?.hash
    wait(core, work)
  }
}

function wait(core: Core, work: QueueWork): void {
  core.waiting.push(work)
  core.pump.ring()
}

export async function call(core: Core, order: CallOrder): Promise<OrderOutcome> {
  const key = `call:${order.id}`
  const known = core.works.get(key)
  if (!known && isFull(core)) return { ok: false, failure: 'unavailable', sent: false }
  const work = known?.kind === 'call' ? known : newCall(core, key, order)
  if (work !== known) {
    core.works.set(key, work)
    admitCall(core, work).catch((error: unknown) => {
      noteError(core, error)
      called(core, work, { ok: false, failure: 'unavailable', ...sentFacts(work) })
    })
  }
  const outcome = await within(core, work.done.promise)
  return outcome ?? { ok: false, failure: 'unavailable', ...sentFacts(work) }
}

function newCall({ options }: Core, key: string, order: CallOrder): CallWork {
  return {
    kind: 'call',
    key,
    order,
    done: Promise.withResolvers(),
    tries: 0,
    notBefore: 0,
    at: options.wall(),
  }
}

async function admitCall(core: Core, work: CallWork): Promise<void> {
  const { store } = core.options
  const query = { limit: 1, order: 'desc' } as const
  const [row] = (await store.table(chainTxs).page('call', [work.order.id], query)).rows
  const tx = row && core.open.get(row.id)
  const latest = tx?.row ?? row
  if (!latest || latest.state === 'superseded') wait(core, work)
  else if (latest.included) await tellAgain(core, work, latest)
  else if (tx) {
    work.tx = tx
    tx.works.set(0, work)
  } else wait(core, work)
}

async function tellAgain(core: Core, work: CallWork, { included }: ChainTxRow): Promise<void> {
  if (!included) return
  const { hash: transaction } = included
  if (!included.ok) {
    called(core, work, { ok: false, failure: 'reverted', sent: true, transaction })
    return
  }
  const receipt = receiptIn(await core.options.rpc.ask('eth_getTransactionReceipt', [transaction]))
  if (receipt) called(core, work, { ok: true, transaction, already: true, logs: receipt.logs })
  else called(core, work, { ok: false, failure: 'unavailable', sent: true, transaction })
}

/** Waits until a transaction is confirmed; returns `unavailable` if that takes longer than `waitMs`. */
async function confirmed(core: Core, result: SettleResult & { ok: true }): Promise<SettleResult> {
  const { transaction } = result
  const tx = [...core.open.values()].find(({ row }) => row.included?.hash === transaction)
  if (!tx || tx.row.state === 'confirmed') return result
  const isSure = await within(
    core,
    tx.confirmed.promise.then(() => true),
  )
  return isSure ? result : { ok: false, failure: 'unavailable', sent: true, transaction }
}

/** The promise's value; undefined when the waiting time is over or the queue closes. */
async function within<T>({ options, closing }: Core, promise: Promise<T>): Promise<T | undefined> {
  const ended = Promise.withResolvers<undefined>()
  const end = (): void => ended.resolve(undefined)
  if (closing.signal.aborted) end()
  const timer = setTimeout(end, options.timings.waitMs)
  closing.signal.addEventListener('abort', end)
  try {
    return await Promise.race([promise, ended.promise])
  } finally {
    clearTimeout(timer)
    closing.signal.removeEventListener('abort', end)
  }
}

export function flying(core: Core): { readonly count: number; readonly oldestMs: number } {
  const out = inFlight(core)
  const now = core.options.wall()
  return { count: out.length, oldestMs: out.reduce((most, { firstSentAt }) => Math.max(most, now - firstSentAt), 0) }
}
