import { setTimeout as sleep } from 'node:timers/promises'
import { everyRow } from '../../../../store/each-page.ts'
import { openTags } from '../rpc/tags.ts'
import { numberIn } from '../rpc/values.ts'
import { openTx, transmit } from './assign.ts'
import { runPump } from './batch.ts'
import { type Core, createSignal, noteError, type QueueOptions, seeHead } from './core.ts'
import { call, flying, settle } from './enter.ts'
import { QueueRefused, type QueueStatus, type TxQueue } from './queue.ts'
import { restore, tellOld } from './reversal.ts'
import { chainSigners, chainTransfers, chainTxs } from './rows.ts'
import { runWatch } from './watch.ts'
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
  return {
    options,
    works: new Map(),
    waiting: [],
    open: new Map(),
    flying: new Set(),
    watched: new Map(),
    watchedAt: 0,
    resend: undefined,
    resending: new Set(),
    nextNonce: 0,
    head: undefined,
    headAt: 0,
    tip: 0n,
    gasBalance: undefined,
    purseAt: 0,
    held: undefined,
    tokenPaused: false,
    inclusionMs: 0,
    stuck: false,
    looked: undefined,
    lookedAt: 0,
    canon: undefined,
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
    lastError: undefined,
    lastFailed: undefined,
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
    signer: options.signer.address,
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
  const { store, signer, adopts = false } = options
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
function refuseGap(core: Core, count: number): void {
  for (let nonce = count; nonce < core.nextNonce; nonce++) {
    const sends = core.open.get(nonce)?.row.sends ?? []
    if (sends.some(({ raw }) => raw !== null)) continue
    throw new QueueRefused(
      `The chain lacks the final transaction ${nonce} of the gas key: it is another chain, or its history was reset.`,
    )
  }
}
