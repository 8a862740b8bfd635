import { RateLimiterMemory } from 'rate-limiter-flexible'
import { AppError } from '../../src/core/error.ts'
import { workerFile } from '../../src/core/folder.ts'
import { dropOldest } from '../../src/core/record.ts'
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts'
import type { JsonObject } from '../../src/model/service.ts'
import type { Validation } from '../../src/schema/compile.ts'
import { defineResource } from '../kernel/context.ts'
import { openThreadPool, type PoolLimits, type Task, ThreadError } from '../ports/threads.ts'

/** Worker-thread milliseconds that a caller's failed or refunded work may use per `WINDOW_MS`. */
const MAX_UNPAID_MS = MINUTE_MS
const WINDOW_MS = 10 * MINUTE_MS

/** Number of newest deliveries whose worker thread time is kept, in case their payment is refunded. */
const MAX_REMEMBERED = 10_000

/** The caller, and the job or payment that the work is for. */
export type WorkOrder = { readonly who: string; readonly id: string }

/** Limits the worker thread time of a caller's failed or refunded work, which nobody pays for. */
type UnpaidTime = {
  /** @throws AppError `unavailable` when the caller has used up its worker thread time. */
  readonly refuse: (who: string) => Promise<void>
  /** Adds to the caller's total the time that failed work took in a worker thread. */
  readonly add: (who: string, ms: number) => Promise<void>
  /** Remembers how long a worker thread took for delivered work. */
  readonly remember: (order: WorkOrder, ms: number) => void
  /** Call it after the order `id` is refunded. The remembered worker-thread time then counts against the caller. */
  readonly wentBack: (id: string) => Promise<void>
}

function openUnpaid(maxMs = MAX_UNPAID_MS): UnpaidTime {
  const spent = new RateLimiterMemory({ points: maxMs, duration: WINDOW_MS / SECOND_MS })
  const delivered = new Map<string, { readonly who: string; readonly ms: number }>()
  async function add(who: string, ms: number): Promise<void> {
    if (ms > 0) await spent.penalty(who, Math.ceil(ms))
  }
  return {
    add,
    async refuse(who) {
      const state = await spent.get(who)
      if (state === null || state.consumedPoints < maxMs) return
      const retryAfter = Math.max(1, Math.ceil(state.msBeforeNext / SECOND_MS))
      const message = `Your recent orders failed or were refunded after ${Math.ceil(maxMs / SECOND_MS)} s of work: try again in ${retryAfter} s.`
      throw new AppError('unavailable', message, { retryAfter })
    },
    remember({ who, id }, ms) {
      delivered.set(id, { who, ms })
      if (delivered.size > MAX_REMEMBERED) dropOldest(delivered)
    },
    async wentBack(id) {
      const work = delivered.get(id)
      delivered.delete(id)
      if (work) await add(work.who, work.ms)
    },
  }
}

type Refused = Extract<Validation, { ok: false }>

/**
 * Operations that worker threads run (`operations.ts`). JSON is passed as text, because objects would be copied member
 * by member.
 */
export type Operations = {
  /** @throws AppError invalid_request that names the faulty place in the schema. */
  readonly compileInput: (schemaText: string, path: string) => void
  /** @throws AppError invalid_request that names the faulty place in the schema. */
  readonly compileDeliverable: (schemaText: string, path: string) => void
  /** The input with the schema's defaults filled in. `text` is absent if nothing changed, to save the transfer. */
  readonly checkInput: (
    schemaText: string,
    inputText: string,
  ) => { readonly ok: true; readonly text?: string } | Refused
  /** Whether a deliverable matches its schema; defaults are not filled in. */
  readonly checkDeliverable: (schemaText: string, deliverableText: string) => { readonly ok: true } | Refused
  readonly exampleInput: (schemaText: string) => JsonObject | undefined
  /** Computes the result of a first-party service from its input and the data fetched for it. */
  readonly make: (slug: string, input: never, source: unknown) => unknown
  /** Runs a step of a first-party service. Steps parse untrusted data. */
  readonly step: (name: string, args: readonly unknown[]) => unknown
}
type Name = keyof Operations

/** Runs operations on worker threads, because untrusted users can make them costly. */
export type Compute = {
  /**
   * Runs an operation on a worker thread. `how.who` names the caller; waiting callers take turns.
   * @throws ThreadError if the operation did not finish; the operation's AppError; Error for its other failures.
   */
  readonly run: <N extends Name>(name: N, args: Parameters<Operations[N]>, how: How) => Promise<Result<N>>
  readonly unpaid: UnpaidTime
  readonly close: () => Promise<void>
}
export const compute = defineResource<Compute>('compute')

type Result<N extends Name> = Awaited<ReturnType<Operations[N]>>
export type How = Pick<Task, 'who' | 'signal' | 'onRan'>

/** 1.8 times the 435 MB measured for the largest inputs; a limit, not a reservation. */
const MAX_HEAP_MB = 768
const shared = { size: 2, maxWaiting: 256, idleMs: MINUTE_MS } as const
/** Schema checks take at most tenths of a second. Their own pool keeps them from waiting for services. */
const CHECKS: PoolLimits = { ...shared, deadlineMs: 10 * SECOND_MS, maxHeapMb: MAX_HEAP_MB }
const SERVICES: PoolLimits = { ...shared, deadlineMs: 20 * SECOND_MS, maxHeapMb: MAX_HEAP_MB }

/** Operations that use the `services` pool; all others use the `checks` pool. */
const ofServices: ReadonlySet<Name> = new Set(['make', 'step'])

export type ThreadsChange = {
  readonly checks?: Partial<PoolLimits>
  readonly services?: Partial<PoolLimits>
  readonly unpaidMs?: number
}

export function openCompute(change: ThreadsChange = {}): Compute {
  const file = workerFile(import.meta.url, './compute')
  const checks = openThreadPool(file, { ...CHECKS, ...change.checks })
  const services = openThreadPool(file, { ...SERVICES, ...change.services })
  return {
    run: (name, args, how) => {
      const pool = ofServices.has(name) ? services : checks
      return pool.run({ name, args, ...how }) as Promise<never> // the operation's own result
    },
    unpaid: openUnpaid(change.unpaidMs),
    close: async () => {
      await Promise.all([checks.close(), services.close()])
    },
  }
}

/** Whether a task exceeded its time or memory. */
export function isBeyondBounds(error: unknown): boolean {
  return error instanceof ThreadError && (error.failure === 'timeout' || error.failure === 'memory')
}

/** Converts a `ThreadError` to `unavailable`; returns other errors unchanged. */
export function asUnavailable(error: unknown): unknown {
  if (!(error instanceof ThreadError)) return error
  const why = error.failure === 'busy' ? 'Too many checks are waiting' : 'The check was interrupted'
  return new AppError('unavailable', `${why}; try again shortly.`, { retryAfter: 1, cause: error })
}
