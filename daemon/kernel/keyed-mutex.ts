import { AppError } from '../../src/core/error.ts'

/** Maximum number of calls that wait for one object. Further calls are refused. */
export const MAX_WAITING = 256
const RETRY_SECONDS = 1

/** A place in the queue of an object. The caller holds it until it calls `leave`. */
export type Seat = {
  /** Runs `work` after the work of all earlier callers in the queue. */
  readonly run: <T>(work: () => Promise<T>) => Promise<T>
  readonly leave: () => void
}

/** Runs work on an object one call at a time, in call order. Work on different objects runs concurrently. */
export type KeyedMutex = {
  /** Takes a place in the queue early, for callers that store something before their work. @throws AppError 503 */
  readonly enter: (key: string) => Seat
  /** @throws AppError 503 if too much work for the key waits already; `work` was then not started */
  readonly run: <T>(key: string, work: () => Promise<T>) => Promise<T>
}

/**
 * Creates the mutex. It serialises the actions that move an object's money or end the object, so that a second action
 * is refused before money moves. Transactions are correct without this mutex, too.
 */
export function keyedMutex(): KeyedMutex {
  const queues = new Map<string, { last: Promise<unknown>; seats: number }>()

  function enter(key: string): Seat {
    const queue = queues.get(key) ?? { last: Promise.resolve(), seats: 0 }
    if (queue.seats >= MAX_WAITING) {
      throw new AppError('unavailable', 'Too many requests wait for the same record.', { retryAfter: RETRY_SECONDS })
    }
    queues.set(key, queue)
    queue.seats += 1
    return {
      run(work) {
        const turn = queue.last.then(work, work)
        queue.last = turn
        return turn
      },
      leave() {
        queue.seats -= 1
        if (queue.seats === 0) queues.delete(key)
      },
    }
  }

  async function run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const seat = enter(key)
    try {
      return await seat.run(work)
    } finally {
      seat.leave()
    }
  }

  return { enter, run }
}
