import { describe, expect, it } from 'vitest'
import type { Outcome } from '../../client/link.ts'
import { fakeClock, gone, settle } from '../cockpit.testkit.tsx'
import { createQueries, createQuery } from './query.ts'

/** A query whose answers are given by hand, in the order asked. */
function manual() {
  const clock = fakeClock(0)
  const asked: PromiseWithResolvers<Outcome<string>>[] = []
  const signals: AbortSignal[] = []
  const fetch = (signal: AbortSignal) => {
    const answer = Promise.withResolvers<Outcome<string>>()
    asked.push(answer)
    signals.push(signal)
    return answer.promise
  }
  const query = createQuery(fetch, { everyMs: 2_000, clock })
  const answer = async (value: string) => {
    asked.at(-1)?.resolve({ ok: true, value })
    await settle()
  }
  const fail = async () => {
    asked.at(-1)?.resolve({ ok: false, problem: gone })
    await settle()
  }
  return { clock, query, asked, signals, answer, fail }
}

describe('a query', () => {
  it('asks when it is first watched, and again when its time has come', async () => {
    const { clock, query, asked, answer } = manual()
    expect(asked).toHaveLength(0)
    query.watch(() => undefined)
    expect(asked).toHaveLength(1)
    clock.advance(10_000)
    expect(asked).toHaveLength(1)
    await answer('a')
    expect(query.get()).toEqual({ value: 'a', at: 10_000, problem: undefined, nextAt: 12_000 })
    clock.advance(1_999)
    expect(asked).toHaveLength(1)
    clock.advance(1)
    expect(asked).toHaveLength(2)
  })

  it('keeps the last good value and its age when an answer fails, and recovers by itself', async () => {
    const { clock, query, answer, fail } = manual()
    query.watch(() => undefined)
    await answer('a')
    clock.advance(2_000)
    await fail()
    expect(query.get()).toEqual({ value: 'a', at: 0, problem: gone, nextAt: 4_000 })
    clock.advance(2_000)
    await answer('b')
    expect(query.get()).toMatchObject({ value: 'b', at: 4_000, problem: undefined })
  })

  it('follows a hint at once, but not more often than once a second', async () => {
    const { clock, query, asked, answer } = manual()
    query.watch(() => undefined)
    await answer('a')
    clock.advance(1_000)
    query.hint()
    clock.advance(0)
    expect(asked).toHaveLength(2)
    await answer('b')
    query.hint()
    query.hint()
    clock.advance(999)
    expect(asked).toHaveLength(2)
    clock.advance(1)
    expect(asked).toHaveLength(3)
  })

  it('asks once more for all that was hinted while it asked', async () => {
    const { clock, query, asked, answer } = manual()
    query.watch(() => undefined)
    query.hint()
    query.hint()
    query.refetch()
    expect(asked).toHaveLength(1)
    await answer('a')
    clock.advance(1_000)
    expect(asked).toHaveLength(2)
    await answer('b')
    clock.advance(1_000)
    expect(asked).toHaveLength(2)
  })

  it('ends with its last watcher: nothing is asked, and the answer that comes late changes nothing', async () => {
    const { clock, query, asked, signals, answer } = manual()
    const end = query.watch(() => undefined)
    const endToo = query.watch(() => undefined)
    end()
    expect(signals[0]?.aborted).toBe(false)
    endToo()
    expect(signals[0]?.aborted).toBe(true)
    await answer('late')
    expect(query.get().value).toBeUndefined()
    query.hint()
    query.refetch()
    clock.advance(60_000)
    expect(asked).toHaveLength(1)
    query.watch(() => undefined)
    expect(asked).toHaveLength(2)
  })

  it('shows a broken reader as a problem instead of failing silently', async () => {
    const clock = fakeClock(0)
    const query = createQuery(() => Promise.reject(new Error('cannot read that')), { everyMs: 1_000, clock })
    query.watch(() => undefined)
    await settle()
    expect(query.get().problem).toMatchObject({ kind: 'failed', sentence: 'cannot read that' })
  })
})

describe('all queries', () => {
  it('share what has one name, are asked together, and stand still together', async () => {
    const clock = fakeClock(0)
    let count = 0
    const fetch = async (): Promise<Outcome<number>> => {
      count += 1
      return { ok: true, value: count }
    }
    const queries = createQueries(clock)
    const query = queries.open('a', fetch, 1_000)
    expect(queries.open('a', fetch, 5)).toBe(query)
    query.watch(() => undefined)
    await settle()
    queries.refetch()
    await settle()
    expect(query.get().value).toBe(2)
    queries.freeze(true)
    clock.advance(60_000)
    queries.hint()
    clock.advance(60_000)
    await settle()
    expect(query.get()).toMatchObject({ value: 2, nextAt: undefined })
    queries.freeze(false)
    await settle()
    expect(query.get().value).toBe(3)
  })
})
