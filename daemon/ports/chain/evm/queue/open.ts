import { setTimeout as sleep } from 'node:timers/promises'
import { openTags } from '../rpc/tags.ts'
import { runPump } from './batch.ts'
import { type Core, createSignal, noteError, type QueueOptions } from './core.ts'
import { call, flying, settle } from './enter.ts'
import type { QueueStatus, TxQueue } from './queue.ts'
import { recover } from './recover.ts'
import { tellOld } from './reversal.ts'
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
