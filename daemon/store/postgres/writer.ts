import type { AnyRow } from '../engine/order.ts'
import { StoreStopped } from '../errors.ts'
import type { Change, Write } from '../port.ts'
import { type BatchParts, type BodyBatch, type LaneBody, runBodies } from './batch.ts'
import { type Connection, isLost } from './connection.ts'

/* One attempt to run and commit a batch of transaction bodies under the lock of the database. */

/** Turns between two removals of old rows of the change feed, and how many transactions are kept. */
const TURNS_PER_REMOVAL = 1_000
const KEPT_CHANGES = 10_000

export type WriterParts = BatchParts & {
  readonly connect: () => Promise<Connection>
  /** Id of this process's row in `souk_instances`: without the row, it may not write. */
  readonly instance: string
  /** Whether other processes read the feed. Without it, its rows only prove that a transaction was committed. */
  readonly isShared: boolean
  /** Called with each committed change, in order. */
  readonly deliver: (change: Change) => void
  readonly onFatal: (error: StoreStopped) => void
  /** Whether nothing is tried again, because the store stops. */
  readonly isOver: () => boolean
}

export type Writer = {
  readonly parts: WriterParts
  /** Number of the last transaction that this process knows. */
  seen: number
  records: number
  /** Number of commits. */
  syncs: number
  session: Connection | undefined
  failure: StoreStopped | undefined
}

export async function connected(writer: Writer): Promise<Connection> {
  if (writer.session?.isCut() === false) return writer.session
  writer.session = await writer.parts.connect()
  return writer.session
}

/** Ends the session; nothing that it read counts any more. */
export async function drop(writer: Writer): Promise<void> {
  const old = writer.session
  writer.session = undefined
  writer.parts.cache.clear()
  await old?.end()
}

function stop(writer: Writer, message: string): never {
  writer.failure = new StoreStopped(message)
  writer.parts.onFatal(writer.failure)
  throw writer.failure
}

/** Takes the lock, and takes in what others committed. */
async function lock(writer: Writer, connection: Connection): Promise<void> {
  const [, row, mine] = await connection.script(
    `begin isolation level read committed; select seq::float8, records::float8 from souk_lane where id = 1 for update; select 1 from souk_instances where id = '${writer.parts.instance}'`,
  )
  if (mine?.length !== 1) stop(writer, 'another daemon took over the database, so this one stops')
  writer.records = Number(row?.[0]?.records)
  const seq = Number(row?.[0]?.seq)
  if (seq > writer.seen) await catchUp(writer, connection, seq)
}

type StoredChange = readonly [seq: number, writes: readonly [string, string, AnyRow | null][]]

async function catchUp(writer: Writer, connection: Connection, upTo: number): Promise<void> {
  const rows = await connection.query('select writes from souk_changes where upto > $1 order by upto', [writer.seen])
  for (const { writes } of rows)
    for (const [seq, list] of (writes ?? []) as readonly StoredChange[])
      if (seq === writer.seen + 1) take(writer, { seq, writes: list.map((write) => restored(writer.parts, write)) })
  if (writer.seen !== upTo)
    stop(writer, 'changes of other processes were removed before this one had read them, so it stops')
}

function restored({ tables }: WriterParts, [collection, key, doc]: StoredChange[1][number]): Write {
  const codec = tables.get(collection)?.shape.codec
  return { collection, key, row: doc === null || codec === undefined ? null : codec.fromJson(doc) }
}

function take(writer: Writer, change: Change): void {
  writer.seen = change.seq
  for (const { collection, key, row } of change.writes) writer.parts.cache.put(collection, key, row as AnyRow | null)
  writer.parts.deliver(change)
}

/** Writes and commits in one round trip. */
async function commit(writer: Writer, connection: Connection, { batch, id }: { batch: BodyBatch; id: string }) {
  const { statements, seq, grown, feed } = batch
  const { instance, isShared } = writer.parts
  const sent = [
    ...statements,
    ['update souk_lane set seq = $1, records = records + $2 where id = 1', [seq, grown]] as const,
    [
      'insert into souk_changes (upto, batch, instance, writes) values ($1, $2, $3, $4::text::json)',
      [seq, id, instance, isShared ? feed() : null],
    ] as const,
  ].map(([text, values]) => connection.query(text, values))
  if (writer.syncs % TURNS_PER_REMOVAL === 0)
    sent.push(connection.query('delete from souk_changes where upto < $1', [seq - KEPT_CHANGES]))
  const all = await Promise.allSettled([...sent, connection.commit()])
  // The first error is the cause of the others.
  const failed = all.find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}

/** Runs bodies and commits what they wrote. @returns their outcomes. @throws if nothing was committed */
export async function attempt(
  writer: Writer,
  { bodies, id, findOut }: { bodies: readonly LaneBody[]; id: string; findOut: (id: string) => Promise<boolean> },
): Promise<BodyBatch['outcomes']> {
  const connection = await connected(writer)
  await lock(writer, connection)
  const batch = await runBodies(bodies, { connection, seq: writer.seen, parts: writer.parts })
  if (batch.seq === writer.seen) await connection.script('rollback')
  else {
    await commit(writer, connection, { batch, id }).catch(async (error: unknown) => {
      if (!isLost(error) || !(await findOut(id))) throw error
    })
    writer.records += batch.grown
    writer.syncs += 1
  }
  for (const { change } of batch.outcomes) if (change !== undefined) take(writer, change)
  return batch.outcomes
}

/** Looks for a batch under the lock: whoever held it before has committed or never will. */
export async function isCommitted(writer: Writer, id: string): Promise<boolean> {
  await drop(writer)
  const connection = await connected(writer)
  await connection.script('begin; select 1 from souk_lane where id = 1 for update')
  const found = await connection.query('select 1 from souk_changes where batch = $1', [id])
  await connection.script('rollback')
  return found.length > 0
}
