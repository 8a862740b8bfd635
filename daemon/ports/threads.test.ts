import { once } from 'node:events'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { fairQueue } from './fair-queue.ts'
import { PRIORITY_STEPS } from './priority.ts'
import { openThreadPool, type PoolLimits, type ThreadCall, type ThreadEnd, type ThreadPool } from './threads.ts'

const FILE = join(import.meta.dirname, '..', '..', 'fixtures', 'kit', 'thread.ts')

let pool: ThreadPool
const open = (limits: Partial<PoolLimits> = {}) => {
  pool = openThreadPool(FILE, {
    ...{ size: 1, maxWaiting: 8, deadlineMs: 60_000, maxHeapMb: 64, idleMs: 60_000 },
    ...limits,
  })
}
afterEach(() => pool?.close())

const run = (
  name: string,
  { who = 'ann', value, signal }: { who?: string; value?: unknown; signal?: AbortSignal } = {},
) => pool.run({ name, args: [value], who, signal })
const failure = (result: Promise<unknown>) =>
  result.then(
    () => 'done',
    (error: { failure?: string; message: string }) => error.failure ?? error.message,
  )

describe('a thread pool', () => {
  it('gives back what a task makes and what it refuses', async () => {
    open()
    const value = { text: 'a', bytes: new Uint8Array([1, 2]) }
    expect(await run('echo', { value })).toEqual(value)
    await expect(run('refuse')).rejects.toMatchObject({ code: 'input_invalid', details: [{ path: 'size' }] })
    expect(await failure(run('throw'))).toContain('inside')
  })

  it.each<[string, string, Partial<PoolLimits>, string]>([
    ['that never ends', 'spin', { deadlineMs: 500 }, 'timeout'],
    ['that ends its thread', 'exit', {}, 'crashed'],
  ])('a task %s fails alone: the next one has a thread', async (_, ...[task, limits, why]) => {
    open(limits)
    const next = run('echo', { value: 1 })
    const [bad, after] = [run(task), run('echo', { value: 2 })]
    expect([await next, await failure(bad), await after]).toEqual([1, why, 2])
  })

  it.runIf(process.platform === 'linux')('leaves the processor to whoever is answered', async () => {
    open()
    const own = getPriority()
    expect([await run('priority'), getPriority()]).toEqual([Math.min(19, own + PRIORITY_STEPS), own])
  })

  it('a task whose caller leaves is ended, running or waiting', async () => {
    open()
    const [leaves, left] = [new AbortController(), new AbortController()]
    const running = failure(run('spin', { signal: leaves.signal }))
    const waiting = failure(run('echo', { signal: left.signal }))
    left.abort()
    expect(await waiting).toBe('aborted')
    leaves.abort()
    expect(await running).toBe('aborted')
    expect(await run('echo', { value: 3 })).toBe(3)
    expect(await failure(run('echo', { signal: AbortSignal.abort() }))).toBe('aborted')
  })

  it('one with many tasks neither delays nor drops those of another', async () => {
    open()
    const order: string[] = []
    const say = (who: string, value: number) => failure(run('echo', { who, value }).then(() => order.push(who)))
    const mallory = Array.from({ length: 20 }, (_, i) => say('mallory', i))
    const ann = await say('ann', 0)
    expect(ann).toBe('done')
    expect(order.filter((who) => who === 'mallory').length).toBeLessThan(4)
    const ends = await Promise.all(mallory)
    expect(ends.filter((end) => end === 'busy').length).toBeGreaterThan(10)
  })

  it('a thread that is told to ends by itself, even before it has started, and answers what it was asked before', async () => {
    const worker = new Worker(FILE)
    const said: unknown[] = []
    worker.on('message', (reply) => said.push(reply))
    worker.postMessage({ name: 'echo', args: [7] } satisfies ThreadCall)
    worker.postMessage({ end: true } satisfies ThreadEnd)
    // One that is ended from outside has 1.
    expect(await once(worker, 'exit')).toEqual([0])
    expect(said).toEqual([{ ready: true }, { value: 7 }])
  })

  it('closed, it ends what runs and takes nothing more', async () => {
    open()
    await run('echo')
    const [running, waiting] = [failure(run('spin')), failure(run('echo'))]
    await pool.close()
    expect([await running, await waiting, await failure(run('echo'))]).toEqual(['aborted', 'aborted', 'aborted'])
  })

  it('a thread whose module does not load fails its task', async () => {
    pool = openThreadPool(`${FILE}.nowhere`, {
      size: 1,
      maxWaiting: 8,
      deadlineMs: 1_000,
      maxHeapMb: 64,
      idleMs: 1_000,
    })
    expect(await failure(run('echo'))).toBe('crashed')
  })
})

describe('a fair queue', () => {
  it('serves every lane in turn, in its own order, and drops of the longest only', () => {
    const pushes = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat()), { maxLength: 60 })
    fc.assert(
      fc.property(pushes, fc.integer({ min: 1, max: 12 }), (items, room) => {
        const queue = fairQueue<{ who: string; at: number }>(room)
        const dropped = items.map(([who], at) => queue.push(who, { who, at })).filter((one) => one !== undefined)
        const served = Array.from({ length: items.length }, () => queue.shift()).filter((one) => one !== undefined)
        expect(served.length).toBe(Math.min(room, items.length))
        expect(served.length + dropped.length).toBe(items.length)
        for (const who of ['a', 'b', 'c']) {
          const own = served.filter((one) => one.who === who).map(({ at }) => at)
          expect(own).toEqual(own.toSorted((one, other) => one - other))
          // Who asked for no more than a third of the room lost nothing.
          const asked = items.filter(([by]) => by === who).length
          if (asked <= Math.floor(room / 3)) expect(own.length).toBe(asked)
        }
      }),
    )
  })
})
