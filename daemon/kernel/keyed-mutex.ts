import { AppError } from '../../src/core/error.ts'

/** Calls that may stand for one thing at once; more are refused. */
export const MAX_WAITING = 256
const RETRY_SECONDS = 1

/** A place among those that wait for a thing, kept until it is left. */
export type Seat = {
  /** Runs after those that came to their turn before it. */
  readonly run: <T>(work: () => Promise<T>) => Promise<T>
  readonly leave: () => void
}

/** Runs work on one thing at a time, in the order of the calls; on different things at once. */
export type KeyedMutex = {
  /** A seat for what has to be written before the turn comes. @throws AppError 503 when all are taken. */
  readonly enter: (key: string) => Seat
  /** @throws AppError 503 when all seats are taken: the work was not begun. */
  readonly run: <T>(key: string, work: () => Promise<T>) => Promise<T>
}

/**
 * What moves money for a thing and what ends the thing come one after the other within this process, so that
 * who comes second is refused before any of its money has moved. What a transaction checks holds without them.
 */
export function keyedMutex(): KeyedMutex {
  const queues = new Map<string, { last: Promise<unknown>; seats: number }>()

  function enter(key: string): Seat {
    const queue = queues.get(key) ?? { last: Promise.resolve(), seats: 0 }
    if (queue.seats >= MAX_WAITING) {
      throw new AppError('unavailable', 'Too many calls wait for the same thing.', { retryAfter: RETRY_SECONDS })
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
