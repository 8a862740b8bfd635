import type { StatementPeriod } from '../../../src/api/sections/books.ts'
import { at } from '../../../src/core/record.ts'
import type { Context } from '../../kernel/context.ts'
import type { ParticipantRow, PartyRow } from '../../kernel/rows.ts'
import type { AnyCollection, Collection, ReadTx, Row, Scalar } from '../../store/port.ts'

/** Rows per read. Other work runs between two reads. */
export const PAGE_ROWS = 100

export type ExportWalk = {
  readonly ctx: Context
  readonly who: ParticipantRow
  readonly now: number
  /** Of the movements. */
  readonly period: StatementPeriod
}

/** Source of one record kind: its collections, and the walk through them. */
export type Source<V> = {
  readonly from: readonly string[]
  readonly pages: (reading: ExportWalk) => AsyncGenerator<readonly V[]>
}

/** What a view may use besides the row. */
export type Around = {
  readonly t: ReadTx
  readonly who: ParticipantRow
  readonly now: number
  /** Current wall time, which decides whether some tokens have expired. */
  readonly wall: number
  readonly baseUrl: string
  readonly period: StatementPeriod
}

type View<R, V> = (row: R, around: Around) => V | undefined | Promise<V | undefined>

type Place<R extends Row> = {
  readonly collection: Collection<R>
  readonly index: string
  readonly prefix: (who: ParticipantRow) => readonly Scalar[]
}

/** Rows of an index, oldest first, so that rows added during the export come last. */
export function listed<R extends Row, V>(place: Place<R>, view: View<R, V>): Source<V> {
  const { collection, index } = place
  return {
    from: [collection.name],
    pages: (reading) => walk(reading, { collection, index, prefix: place.prefix(reading.who) }, view),
  }
}

/** The row with the participant's id, if any. */
export function single<R extends Row, V>(collection: Collection<R>, view: View<R, V>): Source<V> {
  return {
    from: [collection.name],
    pages: async function* (reading) {
      yield await reading.ctx.store.read(async (t) => {
        const row = await t.table(collection).get(reading.who.id)
        return row ? shown([row], view, aroundOf(t, reading)) : []
      })
    },
  }
}

type Sides<R extends Row> = { readonly parties: Collection<PartyRow>; readonly subjects: Collection<R> }

/** Records in which the participant's wallet is a party. */
export function sided<R extends Row, V>({ parties, subjects }: Sides<R>, view: View<R, V>): Source<V> {
  const place = { collection: parties, index: 'wallet', prefix: ({ wallet }: ParticipantRow) => [wallet] }
  const found = listed(place, async ({ subject_id }, around) => {
    const row = await around.t.table(subjects).get(subject_id)
    return row && view(row, around)
  })
  return { from: [parties.name, subjects.name], pages: found.pages }
}

type Under<P, R extends Row> = Omit<Place<R>, 'prefix'> & {
  readonly outer: Source<P>
  readonly idOf: (outer: P) => string
}

/** Rows nested under records of another kind, such as the messages of each thread. */
export function under<P, R extends Row, V>(nested: Under<P, R>, view: View<R, V>): Source<V> {
  const { outer, idOf, collection, index } = nested
  return {
    from: [collection.name],
    pages: async function* (reading) {
      for await (const page of outer.pages(reading)) {
        for (const one of page) yield* walk(reading, { collection, index, prefix: [idOf(one)] }, view)
      }
    },
  }
}

type Slice<R extends Row> = Omit<Place<R>, 'prefix'> & { readonly prefix: readonly Scalar[] }

async function* walk<R extends Row, V>(
  reading: ExportWalk,
  { collection, index, prefix }: Slice<R>,
  view: View<R, V>,
): AsyncGenerator<readonly V[]> {
  let after: string | null = null
  for (let more = true; more; ) {
    const query = { limit: PAGE_ROWS, order: 'asc' as const, ...(after === null ? {} : { after }) }
    const page = await reading.ctx.store.read(async (t) => {
      const { rows, ...place } = await t.table(collection).page(index, prefix, query)
      return { ...place, records: await shown(rows, view, aroundOf(t, reading)) }
    })
    yield page.records
    after = page.cursor
    more = page.more
  }
}

function aroundOf(t: ReadTx, { ctx, who, now, period }: ExportWalk): Around {
  return { t, who, now, period, wall: ctx.clock.wall(), baseUrl: ctx.baseUrl() }
}

async function shown<R, V>(rows: readonly R[], view: View<R, V>, around: Around): Promise<V[]> {
  const records: V[] = []
  for (const row of rows) {
    const record = await view(row, around)
    if (record !== undefined) records.push(record)
  }
  return records
}

/** Adds files to records. The files are read one at a time, outside the transaction. */
export function filled<P, V>(source: Source<P>, fill: (record: P, ctx: Context) => Promise<V>): Source<V> {
  return {
    from: source.from,
    pages: async function* (reading) {
      for await (const page of source.pages(reading)) {
        for (const record of page) yield [await fill(record, reading.ctx)]
      }
    },
  }
}

/** The same source, for a view that also reads these collections. */
export function withMore<V>(source: Source<V>, ...more: readonly AnyCollection[]): Source<V> {
  return { ...source, from: [...source.from, ...more.map(({ name }) => name)] }
}

/** Joins sources, each of them in order of its dates, to one in order of all dates. */
export function merged<V extends { readonly date: number }>(...sources: readonly Source<readonly V[]>[]): Source<V> {
  return {
    from: sources.flatMap(({ from }) => from),
    pages: async function* (reading) {
      const streams = sources.map(({ pages }) => singly(pages(reading)))
      const heads = await Promise.all(streams.map((stream) => stream.next()))
      let page: V[] = []
      for (let first = earliest(heads); first !== undefined; first = earliest(heads)) {
        page.push(first.value)
        heads[first.place] = await at(streams, first.place).next()
        if (page.length < PAGE_ROWS) continue
        yield page
        page = []
      }
      yield page
    },
  }
}

async function* singly<V>(pages: AsyncIterable<readonly (readonly V[])[]>): AsyncGenerator<V, undefined> {
  for await (const page of pages) for (const some of page) yield* some
}

function earliest<V extends { readonly date: number }>(heads: readonly IteratorResult<V, undefined>[]) {
  const open = heads.flatMap((head, place) => (head.done ? [] : [{ place, value: head.value }]))
  return open.toSorted((one, other) => one.value.date - other.value.date)[0]
}
