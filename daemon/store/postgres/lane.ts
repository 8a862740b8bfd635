import { AppError } from '../../../src/core/error.ts'
import { StoreStopped } from '../errors.ts'
import type { Tx } from '../port.ts'
import type { LaneBody } from './batch.ts'
import { type Connection, isLost } from './connection.ts'
import { patiently } from './retry.ts'
import { attempt, drop, isCommitted, type Writer, type WriterParts } from './writer.ts'

/*
 * The queue of writers. Each turn locks the one row of `souk_lane`, takes in what other processes committed, runs the
 * waiting bodies one after another in memory, writes all their rows at once, and commits. So bodies run alone, in all
 * processes together, and share the round trips and the sync.
 */

const MAX_BODIES = 64
/** Turns that fail for lack of a database before their callers are told. */
const MAX_RETRIES = 150

export type PgLane = {
  tx<T>(body: (t: Tx) => Promise<T>): Promise<T>
  stats(): { readonly seq: number; readonly records: number; readonly syncs: number }
  /** Waits for the queue, then runs `last` in the session and ends it. */
  close(last: (connection: Connection) => Promise<unknown>): Promise<void>
}

type Job = {
  readonly body: LaneBody
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

type LaneStart = { readonly seq: number; readonly records: number; readonly session: Connection }

export function createLane(parts: WriterParts, { seq, records, session }: LaneStart): PgLane {
  const writer: Writer = { parts, seen: seq, records, syncs: 0, session, failure: undefined }
  const run = createTurns(writer)
  let queue: Job[] = []
  let pumping: Promise<void> | undefined

  async function pump(): Promise<void> {
    // Callers of this turn of the event loop share the first batch.
    await Promise.resolve()
    while (queue.length > 0) {
      const jobs = queue.slice(0, MAX_BODIES)
      queue = queue.slice(jobs.length)
      await run(jobs).catch((error: unknown) => {
        for (const job of jobs) job.reject(error)
      })
    }
    pumping = undefined
  }

  return {
    tx: <T>(body: (t: Tx) => Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        queue.push({ body, resolve: resolve as (value: unknown) => void, reject })
        pumping ??= pump()
      }),
    stats: () => ({ seq: writer.seen, records: writer.records, syncs: writer.syncs }),
    async close(last) {
      await pumping
      // A session that does not answer any more ends anyway.
      if (writer.session !== undefined) await last(writer.session).catch(() => undefined)
      await drop(writer)
    },
  }
}

/** Runs batches until they are committed or refused. */
function createTurns(writer: Writer) {
  const { isOver } = writer.parts
  let turns = 0

  /** The outcome of a batch whose commit was not answered. It is found out, however long that takes, until the store stops. */
  const findOut = (id: string): Promise<boolean> =>
    patiently(() => isCommitted(writer, id), { maxRetries: Number.POSITIVE_INFINITY, isOver })

  async function once(bodies: readonly LaneBody[], id: string) {
    if (writer.failure !== undefined) throw writer.failure
    try {
      return await attempt(writer, { bodies, id, findOut })
    } catch (error) {
      await release(writer, error)
      throw error
    }
  }

  async function run(jobs: readonly Job[]): Promise<void> {
    turns += 1
    const id = `${writer.parts.instance}/${turns}`
    const bodies = jobs.map(({ body }) => body)
    await patiently(() => once(bodies, id), { maxRetries: MAX_RETRIES, isOver }).then(
      (outcomes) => settle(jobs, outcomes),
      (error: unknown) => refuse(jobs, error),
    )
  }

  /** An error of the server ends the transaction of all bodies, so each runs again by itself. */
  async function refuse(jobs: readonly Job[], error: unknown): Promise<void> {
    if (jobs.length === 1 || error instanceof StoreStopped || error instanceof AppError) throw error
    for (const job of jobs) await run([job]).catch(job.reject)
  }

  return run
}

function settle(jobs: readonly Job[], outcomes: Awaited<ReturnType<typeof attempt>>): void {
  for (const [n, outcome] of outcomes.entries()) {
    if ('error' in outcome) jobs[n]?.reject(outcome.error)
    else jobs[n]?.resolve(outcome.value)
  }
}

/** Ends the transaction, or the session if it was lost. */
async function release(writer: Writer, error: unknown): Promise<void> {
  writer.parts.cache.clear()
  if (isLost(error)) await drop(writer)
  else await writer.session?.script('rollback').catch(() => drop(writer))
}
