import { payeeFields } from '../../../src/api/endpoint/list-fields.ts'
import type { payeesApi } from '../../../src/api/sections/earnings.ts'
import { DEFAULT_PAGE, SOLD_DAYS } from '../../../src/core/limits.ts'
import { type Usdc, usdc, ZERO } from '../../../src/core/money.ts'
import { compact, keptIn } from '../../../src/core/record.ts'
import { DAY_MS, dayOf } from '../../../src/core/time.ts'
import type { JobStatus } from '../../../src/model/job.ts'
import type { FreeHandlers } from '../../endpoint/handler.ts'
import { type Context, defineResource } from '../../kernel/context.ts'
import { type ParticipantRow, participants } from '../../kernel/rows.ts'
import type { Clock } from '../../ports/clock.ts'
import { eachPage, offsetPage } from '../../store/each-page.ts'
import { type ReadTx, type Store, writtenRow } from '../../store/port.ts'
import { isSearch, type SearchAsked, STRIDE_ROWS, searchedPage } from '../../store/searched-page.ts'
import { type JobRow, jobs } from '../jobs/rows.ts'
import { earnedAs } from '../ledger/earnings.ts'
import { pendingOf, screened, waitsOf } from './earnings.ts'

const sellers = ['provider', 'both'] as const

export const payeeRoutes: FreeHandlers<typeof payeesApi> = {
  listPayees: async ({ query }, { ctx, now }) => {
    const asked = { limit: DEFAULT_PAGE, offset: 0, ...compact(query), now }
    const { limit, offset } = asked
    const { rows, ...found } = isSearch(asked) ? await searchSellers(ctx, asked) : await someSellers(ctx, asked)
    const week = await soldFigures.of(ctx).week()
    const payees = await Promise.all(rows.map((row) => payeeOf(ctx, row, week)))
    return { payees, ...found, limit, offset }
  },
}

/** One page of sellers: participants of both types that may sell. */
async function someSellers(ctx: Context, { limit, offset }: { readonly limit: number; readonly offset: number }) {
  return ctx.store.read(async (t) => {
    const rows: ParticipantRow[] = []
    let total = 0
    for (const type of sellers) {
      const slice = { limit: limit - rows.length, offset: Math.max(0, offset - total) }
      total += await t.table(participants).count('type', [type])
      if (slice.limit === 0) continue
      rows.push(...(await offsetPage(t.table(participants), { index: 'type', prefix: [type], ...slice })).rows)
    }
    return { rows, total }
  })
}

async function searchSellers(ctx: Context, asked: SearchAsked) {
  const table = ctx.store.table(participants)
  async function* pieces() {
    for (const type of sellers) yield* eachPage(table, { index: 'type', prefix: [type], limit: STRIDE_ROWS })
  }
  const counts = await Promise.all(sellers.map((type) => table.count('type', [type])))
  const count = counts.reduce((sum, one) => sum + one, 0)
  return searchedPage({ fields: payeeFields, factsOf: factsIn(ctx), pieces: pieces(), count }, asked)
}

const factsIn = (ctx: Context) => async (row: ParticipantRow, uses: (field: keyof typeof payeeFields) => boolean) => {
  const isAsked = uses('due') || uses('paid') || uses('earned')
  const sums = isAsked ? await sumsOf(ctx, row) : { earned: null, paid: null, due: null }
  const sold = uses('sold') ? (await soldFigures.of(ctx).week()).soldBy(row.id) : null
  return { id: row.id, name: row.name, wallet: row.wallet, sold, ...sums }
}

/** Reads both sums in one transaction, so that a concurrent payout is neither counted twice nor missed. */
function sumsOf(ctx: Context, caller: ParticipantRow) {
  return ctx.store.read(async (t) => {
    const earned = await earnedAs(t, caller.id, 'sale')
    const due = await pendingOf(t, { ctx, caller, sanctioned: undefined })
    return { earned, due, paid: usdc(earned - due) }
  })
}

async function payeeOf(ctx: Context, caller: ParticipantRow, { soldBy }: SoldWeek) {
  const sanctioned = await screened(ctx, caller)
  return ctx.store.read(async (t) => {
    const earned = await earnedAs(t, caller.id, 'sale')
    const { held, pending, waiting, nextSettlementAt } = await waitsOf(t, { ctx, caller, sanctioned })
    return {
      participant_id: caller.id,
      name: caller.name,
      wallet: caller.wallet,
      sold: soldBy(caller.id),
      earned,
      paid: usdc(earned - pending),
      due: pending,
      held,
      waiting: [...waiting],
      next_settlement_at: nextSettlementAt,
    }
  })
}

const SCAN_ROWS = 500
/** Maximum jobs read on first use. If the week has more jobs, its figures are incomplete. */
const MAX_READ = 50_000
/** Maximum open jobs kept in memory. `MAX_KEPT` limits the listings, and the sellers, kept in memory. */
const MAX_OPEN = 100_000
const MAX_KEPT = 20_000
/** Maximum changed jobs that wait in memory during the first read. */
const MAX_WAITING = 10_000

/** A listing's jobs bought in the last `SOLD_DAYS`: by day, oldest first; in total; and how many were refunded. */
export type SoldOf = { readonly byDay: readonly number[]; readonly sold: number; readonly refunded: number }
/** Numbers of jobs that ended on one day of business time. */
type EndedJobs = { readonly good: number; readonly failed: number; readonly refunded: number }

type SoldWeek = {
  readonly of: (serviceId: string) => SoldOf
  /** A seller's revenue of the last `SOLD_DAYS`. Fully refunded jobs do not count. */
  readonly soldBy: (providerId: string) => Usdc
  readonly endedToday: EndedJobs
}

export type SoldFigures = {
  /** Sales of the last `SOLD_DAYS` by listing and business day; read from the stored jobs on first use. */
  readonly week: () => Promise<SoldWeek>
}

export const soldFigures = defineResource<SoldFigures>('sold-figures')

type Day = { sold: number; refunded: number; amount: Usdc }
type Days = Map<number, Day>
type Known = {
  readonly listings: Map<string, Days>
  readonly sellers: Map<string, Days>
  readonly ended: Map<number, { good: number; failed: number; refunded: number }>
  /** Ids of jobs that can still end. */
  readonly open: Set<string>
}

const NONE: EndedJobs = { good: 0, failed: 0, refunded: 0 }

function openSoldFigures({ store, clock }: { store: Store; clock: Clock }): SoldFigures & { close(): void } {
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
    const made: Known = { listings: new Map(), sellers: new Map(), ended: new Map(), open: new Set() }
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
      const { listings, sellers, ended } = await reading
      const today = dayOf(clock.now())
      return {
        of: (serviceId) => soldOf(listings.get(serviceId), today),
        soldBy: (providerId) =>
          usdc(weekOf(sellers.get(providerId), today).reduce((sum, day) => sum + (day?.amount ?? ZERO), 0n)),
        endedToday: ended.get(today) ?? NONE,
      }
    },
  }
}

export function openSoldOf(ctx: Context): void {
  const sold = openSoldFigures(ctx)
  soldFigures.open(ctx, sold, sold.close)
}

type Reading = { readonly made: Known; readonly seen: Set<string>; readonly from: number }

/** Reads the week's jobs, newest first, then older jobs that are still open. */
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

/** Counts a job that was written: as sold if it is new, and as ended if it has ended. */
function take({ listings, sellers, ended, open }: Known, job: JobRow, isNew: boolean): void {
  const days = [dayIn(listings, job.service_id, job), dayIn(sellers, job.provider_id, job)]
  if (isNew) for (const day of days) countSold(day, job)
  if (job.ended_at === null) {
    if (open.size < MAX_OPEN) open.add(job.id)
    return
  }
  if (!open.delete(job.id) && !isNew) return
  if (job.escrow_status === 'refunded') for (const day of days) countRefunded(day, job)
  const day = endedOn(ended, dayOf(job.ended_at))
  day[endOf(job.status)] += 1
}

function countSold(day: Day | undefined, { provider_amount: amount }: JobRow): void {
  if (day === undefined) return
  day.sold += 1
  day.amount = usdc(day.amount + amount)
}

function countRefunded(day: Day | undefined, { provider_amount: amount }: JobRow): void {
  if (day === undefined) return
  day.refunded += 1
  day.amount = usdc(day.amount - amount)
}

function dayIn(kept: Map<string, Days>, id: string, { created_at }: JobRow): Day | undefined {
  const day = dayOf(created_at)
  const known = kept.get(id)
  if (known === undefined && kept.size >= MAX_KEPT) return undefined
  const days: Days = known ?? new Map()
  if (known === undefined) kept.set(id, days)
  const held = days.get(day)
  if (held) return held
  const made = { sold: 0, refunded: 0, amount: ZERO }
  days.set(day, made)
  for (const old of days.keys()) if (old <= day - SOLD_DAYS) days.delete(old)
  return made
}

function endedOn(ended: Known['ended'], day: number) {
  const held = keptIn(ended, day, () => ({ ...NONE }))
  for (const old of ended.keys()) if (old < day - 1) ended.delete(old)
  return held
}

function endOf(status: JobStatus): keyof EndedJobs {
  if (status === 'refunded') return 'refunded'
  return status === 'failed' || status === 'expired' || status === 'cancelled' ? 'failed' : 'good'
}

const weekOf = (days: ReadonlyMap<number, Day> | undefined, today: number) =>
  Array.from({ length: SOLD_DAYS }, (_, i) => days?.get(today - SOLD_DAYS + 1 + i))

function soldOf(days: ReadonlyMap<number, Day> | undefined, today: number): SoldOf {
  const week = weekOf(days, today)
  const sum = (of: (day: Day) => number) => week.reduce((all, day) => all + (day === undefined ? 0 : of(day)), 0)
  return {
    byDay: week.map((day) => day?.sold ?? 0),
    sold: sum(({ sold }) => sold),
    refunded: sum(({ refunded }) => refunded),
  }
}
