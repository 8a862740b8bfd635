import { setTimeout as sleep } from 'node:timers/promises'
import type { Wallet } from '../../../../../src/core/hex.ts'
import { everyRow } from '../../../../store/each-page.ts'
import type { Signer } from '../../key.ts'
import { openTags } from '../rpc/tags.ts'
import { numberIn, RpcUnavailableError } from '../rpc/values.ts'
import { openTx, transmit } from './assign.ts'
import { runPump } from './batch.ts'
import { type Core, createSignal, type GasSender, isClosed, noteError, type QueueOptions, seeHead } from './core.ts'
import { call, flying, settle } from './enter.ts'
import { QueueRefused, type QueueStatus, type TxQueue } from './queue.ts'
import { restore, tellOld } from './reversal.ts'
import { type ChainTxRow, chainSigners, chainTransfers, chainTxs } from './rows.ts'
import { finalRow, runWatch } from './watch.ts'
import { followForeign } from './watched.ts'

const MS = 1_000
/** Longest wait for a node when the queue closes. */
const CLOSE_MS = 3_000

/** Creates the queue of one gas key. The store must be opened with `queueCollections`. */
export function openTxQueue(options: QueueOptions): TxQueue {
  const core = newCore(options)
  let running: Promise<unknown> | undefined
  return {
    start: async () => {
      await recover(core)
      running = Promise.all([runPump(core), runWatch(core)]).catch((error: unknown) => noteError(core, error))
    },
    settle: (order) => settle(core, order),
    call: (order) => call(core, order),
    status: () => statusOf(core),
    changeSigner: (next, handOver) => changeSigner(core, next, handOver),
    forget: (signer) => forget(core, signer),
    onReversed: (listener) => {
      core.listeners.add(listener)
      void tellOld(core, listener).catch((error: unknown) => noteError(core, error))
      return () => {
        core.listeners.delete(listener)
      }
    },
    followForeign: (order, transaction) => followForeign(core, order, transaction),
    onDropped: (resend) => {
      core.resend = resend
    },
    close: async () => {
      core.closing.abort()
      core.pump.ring()
      core.watch.ring()
      await Promise.race([running, sleep(CLOSE_MS, undefined, { ref: false })])
    },
  }
}

function newCore(options: QueueOptions): Core {
  const sender = { signer: options.signer, nextNonce: 0 }
  const former = (options.former ?? []).map((signer) => ({ signer, nextNonce: 0 }))
  return {
    options,
    sender,
    senders: new Map([sender, ...former].map((one) => [one.signer.address, one])),
    isHeld: false,
    isAssembling: false,
    works: new Map(),
    waiting: [],
    open: new Map(),
    flying: new Set(),
    watched: new Map(),
    watchedAt: 0,
    resending: new Set(),
    headAt: 0,
    tip: 0n,
    purseAt: 0,
    tokenPaused: false,
    inclusionMs: 0,
    stuck: false,
    lookedAt: 0,
    followedAt: 0,
    tags: openTags(),
    dirty: false,
    dueAt: 0,
    firstLookMs: 0,
    unanswered: 0,
    askedAt: 0,
    countedAt: 0,
    isMissing: false,
    crowd: 0,
    line: new Map(),
    counts: { resent: 0, replaced: 0, reorged: 0, reversed: 0, foreign: 0, failed: 0 },
    reorgedAt: 0,
    reversedAt: 0,
    listeners: new Set(),
    pump: createSignal(),
    watch: createSignal(),
    closing: new AbortController(),
  }
}

function statusOf(core: Core): QueueStatus {
  const { head, counts, options } = core
  const { count, oldestMs } = flying(core)
  return {
    head: head && { number: head.number, ageMs: Math.max(0, options.wall() - head.timestamp * MS) },
    gasBalance: core.gasBalance,
    signer: core.sender.signer.address,
    waiting: core.waiting.length,
    inFlight: count,
    oldestMs,
    held: core.held ?? (core.stuck ? 'fee' : undefined),
    tokenPaused: core.tokenPaused,
    resent: counts.resent,
    replaced: counts.replaced,
    reorged: counts.reorged,
    reorgedAt: core.reorgedAt,
    reversed: counts.reversed,
    reversedAt: core.reversedAt,
    foreignNonces: counts.foreign,
    failed: counts.failed,
    lastFailed: core.lastFailed,
    lastError: core.lastError,
  }
}

const PAGE = 500

/** Resends an earlier process's transactions, in order of nonce. @throws QueueRefused, RpcUnavailableError */
async function recover(core: Core): Promise<void> {
  const { rpc, store, chainId } = core.options
  const id = numberIn(await rpc.ask('eth_chainId', []))
  if (id !== chainId) throw new QueueRefused(`The node is on chain ${id}, not ${chainId}: use another --rpc-url.`)
  for (const sender of core.senders.values()) {
    const count = await countOf(core, sender.signer)
    for (const row of await openRows(core, sender.signer.address)) openTx(core, row)
    sender.nextNonce = await nextNonce(core, sender.signer, count)
    refuseGap(core, sender, count)
  }
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

function openRows({ options }: Core, signer: Wallet): Promise<ChainTxRow[]> {
  return everyRow(options.store.table(chainTxs), { index: 'open', prefix: [signer], limit: PAGE })
}

async function countOf(core: Core, { address }: Signer): Promise<number> {
  const { rpc } = core.options
  const { head, answers } = await rpc.read([{ method: 'eth_getTransactionCount', params: [address, 'latest'] }])
  if (!answers[0]?.ok) throw new QueueRefused('The node did not return the transaction count of the gas key.')
  seeHead(core, head)
  return numberIn(answers[0].result)
}

async function changeSigner(core: Core, signer: Signer, handOver: () => Promise<void>): Promise<void> {
  const sender = { signer, nextNonce: await nextNonce(core, signer, await countOf(core, signer)) }
  core.isHeld = true
  try {
    await untilLanded(core)
    await handOver()
    core.senders.set(signer.address, sender)
    core.sender = sender
    core.purseAt = 0
  } finally {
    core.isHeld = false
    core.pump.ring()
  }
}

/** Waits until every transaction is in a block, or its nonce was used by others. @throws RpcUnavailableError */
async function untilLanded(core: Core): Promise<void> {
  while (core.isAssembling || core.flying.size > 0) {
    if (isClosed(core)) throw new RpcUnavailableError('the daemon stops')
    await sleep(core.options.timings.pollMs, undefined, { ref: false })
  }
}

async function forget(core: Core, signer: Wallet): Promise<void> {
  const { store, wall } = core.options
  const rows = await openRows(core, signer)
  await store.tx(async (t) => {
    for (const { id } of rows) {
      const row = await t.table(chainTxs).getForUpdate(id)
      if (row) await t.table(chainTxs).put({ ...row, ...finalRow(row, wall()) })
    }
  })
  for (const { id } of rows) core.open.delete(id)
  core.senders.delete(signer)
}

/** The next nonce: the store's counter or, for a new store, the chain's transaction count. */
async function nextNonce({ options }: Core, signer: Signer, count: number): Promise<number> {
  const { store } = options
  // Others may have used a key that was replaced.
  const adopts = options.adopts === true || signer !== options.signer
  const own = await store.table(chainSigners).get(signer.address)
  if (!own || (adopts && count > own.next_nonce)) {
    await store.tx(async (t) => {
      await t.table(chainSigners).getForUpdate(signer.address)
      await t.table(chainSigners).put({ id: signer.address, next_nonce: count })
    })
    return count
  }
  if (count > own.next_nonce) {
    throw new QueueRefused(
      `The gas key ${signer.address} was used elsewhere (${count} transactions on the chain, ${own.next_nonce} in this folder): use a separate gas key for this marketplace. An old copy of the folder must go through souk admin backup and souk restore.`,
    )
  }
  return own.next_nonce
}

/** Refuses to start if the chain lacks a transaction that cannot be resent, because its bytes are no longer stored. */
function refuseGap(core: Core, { signer, nextNonce: next }: GasSender, count: number): void {
  for (let nonce = count; nonce < next; nonce++) {
    const sends = core.open.get(`${signer.address}:${nonce}`)?.row.sends ?? []
    if (sends.some(({ raw }) => raw !== null)) continue
    throw new QueueRefused(
      `The chain lacks the final transaction ${nonce} of the gas key: it is another chain, or its history was reset.`,
    )
  }
}
