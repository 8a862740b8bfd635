import { AppError } from '../../src/core/error.ts'

/** Calls that wait for one thing; more are refused. */
const MAX_WAITING = 256

/** Runs work on one thing at a time, in the order of the calls; on different things at once. */
export type KeyedMutex = <T>(key: string, work: () => Promise<T>) => Promise<T>

/**
 * What moves money for a thing and what ends the thing come one after the other within this process, so that
 * who comes second is refused before any of its money has moved. What a transaction checks holds without them.
 */
export function keyedMutex(): KeyedMutex {
  const queues = new Map<string, { last: Promise<unknown>; waiting: number }>()
  return async (key, work) => {
    const queue = queues.get(key) ?? { last: Promise.resolve(), waiting: 0 }
    if (queue.waiting >= MAX_WAITING) {
      throw new AppError('rate_limited', 'Too many calls wait for the same thing.', { retryAfter: 1 })
    }
    queues.set(key, queue)
    queue.waiting += 1
    const turn = queue.last.then(work, work)
    queue.last = turn
    try {
      return await turn
    } finally {
      queue.waiting -= 1
      if (queue.waiting === 0) queues.delete(key)
    }
  }
}
