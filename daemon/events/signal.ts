import { AppError } from '../../src/core/error.ts'
import { defineResource } from '../kernel/context.ts'
import { type Store, writtenRow } from '../store/port.ts'
import { events } from './rows.ts'

/** Maximum number of readers that wait at the same time, per caller and in total. */
export const MAX_WAITERS_PER_CALLER = 8
export const MAX_WAITERS = 500
const TRY_AGAIN_SECONDS = 5

/** The participant whose events a reader waits for; null for the administrator, who waits for all events. */
type Hearer = string | null

export type SignalPlace = {
  /** Number of signals so far. Read it before reading the log, so that no event in between is missed. */
  readonly heard: () => number
  /** Resolves when the count exceeds `heard`, the daemon stops, or `signal` fires. */
  readonly after: (heard: number, signal: AbortSignal) => Promise<void>
  readonly leave: () => void
}

/** Wakes readers that wait for events. The readers then read the log themselves. */
export type EventSignal = {
  /** Registers a reader until it leaves or `signal` fires. @throws AppError rate_limited when all places are taken */
  readonly enter: (hearer: Hearer, signal: AbortSignal) => SignalPlace
}

export const eventSignal = defineResource<EventSignal>('event-signal')

type Waiter = { rings: number; wake: () => void }

export function openEventSignal(store: Store, stopping: AbortSignal): EventSignal {
  const waiters = new Map<Hearer, Set<Waiter>>()
  let entered = 0

  const ring = (hearer: Hearer) => {
    for (const waiter of waiters.get(hearer) ?? []) {
      waiter.rings += 1
      waiter.wake()
    }
  }
  const unsubscribe = store.subscribe(({ writes }) => {
    const told = writes.map((write) => writtenRow(events, write)).filter((row) => row)
    if (told.length === 0 || waiters.size === 0) return
    const hearers = told.map((row) => row?.participant_id ?? null)
    for (const hearer of new Set([null, ...hearers])) ring(hearer)
  })
  const stop = () => {
    unsubscribe()
    for (const hearer of waiters.keys()) ring(hearer)
  }
  stopping.addEventListener('abort', stop, { once: true })

  function enter(hearer: Hearer, signal: AbortSignal): SignalPlace {
    const own = waiters.get(hearer) ?? new Set()
    if (own.size >= MAX_WAITERS_PER_CALLER) throw full(`You have ${MAX_WAITERS_PER_CALLER} open event streams`)
    if (entered >= MAX_WAITERS) throw full(`The marketplace has ${MAX_WAITERS} open event streams`)
    const waiter: Waiter = { rings: 0, wake: () => undefined }
    own.add(waiter)
    waiters.set(hearer, own)
    entered += 1
    const leave = () => {
      signal.removeEventListener('abort', leave)
      if (!own.delete(waiter)) return
      entered -= 1
      if (own.size === 0) waiters.delete(hearer)
    }
    signal.addEventListener('abort', leave, { once: true })
    return {
      leave,
      heard: () => waiter.rings,
      after: async (heard, over) => {
        if (waiter.rings !== heard || over.aborted || stopping.aborted) return
        const woken = Promise.withResolvers<void>()
        waiter.wake = woken.resolve
        over.addEventListener('abort', () => woken.resolve(), { once: true })
        await woken.promise
      },
    }
  }

  return { enter }
}

function full(what: string): AppError {
  return new AppError('rate_limited', `${what} already: close one first.`, { retryAfter: TRY_AGAIN_SECONDS })
}
