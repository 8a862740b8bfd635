import { SOLD_DAYS } from '../../../src/api/sections/admin-services.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import type { JobStatus } from '../../../src/model/job.ts'
import type { Context } from '../../kernel/context.ts'
import { defineResource } from '../../kernel/resource.ts'
import type { Clock } from '../../ports/clock.ts'
import { eachPage } from '../../store/each-page.ts'
import { type ReadTx, type Store, writtenRow } from '../../store/port.ts'
import { type JobRow, jobs } from '../jobs/rows.ts'

const SCAN_ROWS = 500
/** Jobs that are read when somebody asks first; of a larger week the beginning stays uncounted. */
const MAX_READ = 50_000
/** Jobs under way, and listings, that are kept in mind. */
const MAX_OPEN = 100_000
const MAX_LISTINGS = 20_000
/** Jobs that change while the week is read for the first time. */
const MAX_WAITING = 10_000

/** Jobs of one listing that were bought within the days, oldest day first, and of those the ones whose money went back. */
export type SoldOf = { readonly byDay: readonly number[]; readonly sold: number; readonly refunded: number }
/** Jobs that ended on a business day. */
export type EndedJobs = { readonly good: number; readonly failed: number; readonly refunded: number }

export type SoldWeek = { readonly of: (serviceId: string) => SoldOf; readonly endedToday: EndedJobs }

/** What was sold of each listing, by business day, from the jobs as they become durable. */
export type SoldFigures = {
  /** Read from the jobs when somebody asks for it first. */
  readonly week: () => Promise<SoldWeek>
}

export const soldFigures = defineResource<SoldFigures>('sold-figures')

type Day = { sold: number; refunded: number }
type Known = {
  readonly listings: Map<string, Map<number, Day>>
  readonly ended: Map<number, { good: number; failed: number; refunded: number }>
  /** Jobs that can still end, by their ids. */
  readonly open: Set<string>
}

const NONE: EndedJobs = { good: 0, failed: 0, refunded: 0 }

export function openSoldFigures({ store, clock }: { store: Store; clock: Clock }): SoldFigures & { close(): void } {
  let known: Known | undefined
  let reading: Promise<Known> | undefined
  let waiting: JobRow[] = []

  const onJob = (job: JobRow) => {
    if (known) take(known, job, job.version === 1)
    else if (waiting.length < MAX_WAITING) waiting.push(job)
  }
  const close = store.subscribe(({ writes }) => {
    if (!reading) return
    for (const write of writes) {
      const job = writtenRow(jobs, write)
      if (job) onJob(job)
    }
  })

  async function read(): Promise<Known> {
    const seen = new Set<string>()
    const made: Known = { listings: new Map(), ended: new Map(), open: new Set() }
    const from = (dayOf(clock.now()) - SOLD_DAYS + 1) * DAY_MS
    await store.read((t) => readWeek(t, { made, seen, from }))
    for (const job of waiting) take(made, job, !seen.has(job.id))
    waiting = []
    known = made
    return made
  }

  return {
    close,
    async week() {
      reading ??= read().catch((error: unknown) => {
        reading = undefined
        throw error
      })
      const { listings, ended } = await reading
      const today = dayOf(clock.now())
      return {
        of: (serviceId) => soldOf(listings.get(serviceId), today),
        endedToday: ended.get(today) ?? NONE,
      }
    },
  }
}

/** Opens them for a daemon. */
export function openSoldOf(ctx: Context): void {
  const sold = openSoldFigures(ctx)
  soldFigures.open(ctx, sold, sold.close)
}

const dayOf = (at: number) => Math.floor(at / DAY_MS)

type Reading = { readonly made: Known; readonly seen: Set<string>; readonly from: number }

/** The jobs of the days, newest first, and whatever is still held of older ones. */
async function readWeek(t: ReadTx, { made, seen, from }: Reading): Promise<void> {
  for await (const rows of eachPage(t.table(jobs), { index: 'newest', prefix: [], limit: SCAN_ROWS })) {
    for (const job of rows) {
      seen.add(job.id)
      take(made, job, true)
    }
    if (seen.size >= MAX_READ || (rows.at(-1)?.created_at ?? 0) < from) break
  }
  await readHeld(t, { open: made.open, from })
}

async function readHeld(t: ReadTx, { open, from }: Pick<Known, 'open'> & Pick<Reading, 'from'>): Promise<void> {
  for await (const rows of eachPage(t.table(jobs), { index: 'held', prefix: [], limit: SCAN_ROWS })) {
    for (const { id } of rows.slice(0, MAX_OPEN - open.size)) open.add(id)
    if (open.size >= MAX_OPEN || (rows.at(-1)?.created_at ?? 0) >= from) return
  }
}

/** A job as it was written: counted where it is new, and once more where it ended by this. */
function take({ listings, ended, open }: Known, job: JobRow, isNew: boolean): void {
  const of = dayIn(listings, job)
  if (isNew && of) of.sold += 1
  if (job.ended_at === null) {
    if (open.size < MAX_OPEN) open.add(job.id)
    return
  }
  if (!open.delete(job.id) && !isNew) return
  if (of && job.escrow_status === 'refunded') of.refunded += 1
  const day = endedOn(ended, dayOf(job.ended_at))
  day[endOf(job.status)] += 1
}

function dayIn(listings: Known['listings'], { service_id: id, created_at }: JobRow): Day | undefined {
  const day = dayOf(created_at)
  const known = listings.get(id)
  if (known === undefined && listings.size >= MAX_LISTINGS) return undefined
  const days = known ?? new Map<number, Day>()
  if (known === undefined) listings.set(id, days)
  const held = days.get(day)
  if (held) return held
  const made = { sold: 0, refunded: 0 }
  days.set(day, made)
  for (const old of days.keys()) if (old <= day - SOLD_DAYS) days.delete(old)
  return made
}

function endedOn(ended: Known['ended'], day: number) {
  const held = ended.get(day) ?? { ...NONE }
  ended.set(day, held)
  for (const old of ended.keys()) if (old < day - 1) ended.delete(old)
  return held
}

/** What became of a job whose money can go nowhere any more. */
function endOf(status: JobStatus): keyof EndedJobs {
  if (status === 'refunded') return 'refunded'
  return status === 'failed' || status === 'expired' || status === 'cancelled' ? 'failed' : 'good'
}

function soldOf(days: ReadonlyMap<number, Day> | undefined, today: number): SoldOf {
  const week = Array.from({ length: SOLD_DAYS }, (_, i) => days?.get(today - SOLD_DAYS + 1 + i))
  const sum = (of: (day: Day) => number) => week.reduce((all, day) => all + (day === undefined ? 0 : of(day)), 0)
  return {
    byDay: week.map((day) => day?.sold ?? 0),
    sold: sum(({ sold }) => sold),
    refunded: sum(({ refunded }) => refunded),
  }
}
