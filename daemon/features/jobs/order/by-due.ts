import { jobDueEvents } from '../../../../src/model/job.ts'
import { eachPage } from '../../../store/each-page.ts'
import type { Reader } from '../../../store/port.ts'
import { STRIDE_ROWS } from '../../../store/searched-page.ts'
import type { JobRow } from '../rows.ts'
import { isLate } from '../view.ts'

/** Pages of jobs that have not ended, soonest next event first. Stop reading when you have enough. */
export async function* openByDue(table: Reader<JobRow>): AsyncGenerator<readonly JobRow[]> {
  const seen = new Set<string>()
  for await (const piece of dueFirst(table)) {
    for (const { id } of piece) seen.add(id)
    yield piece
  }
  // A job that has not ended but has no next event is in no lane. Such jobs are rare.
  if ((await table.count('service_open', [])) <= seen.size) return
  for await (const piece of eachPage(table, { index: 'service_open', prefix: [], limit: STRIDE_ROWS }))
    yield piece.filter(({ id }) => !seen.has(id))
}

/** Jobs that wait for one kind of event, soonest first. */
type Lane = { readonly pages: AsyncGenerator<readonly JobRow[]>; rows: readonly JobRow[]; at: number }

/** Merges the lanes into one list, soonest event first. */
async function* dueFirst(table: Reader<JobRow>): AsyncGenerator<readonly JobRow[]> {
  const lanes = jobDueEvents.map(
    (event): Lane => ({
      pages: eachPage(table, { index: 'due', prefix: [event], limit: STRIDE_ROWS }),
      rows: [],
      at: 0,
    }),
  )
  for (const lane of lanes) await refill(lane)
  for (let piece: JobRow[] = []; ; ) {
    const lane = lanes.reduce((best, one) => (dueAt(headOf(one)) < dueAt(headOf(best)) ? one : best))
    const next = headOf(lane)
    if (next !== undefined) {
      piece.push(next)
      lane.at += 1
      if (lane.at === lane.rows.length) await refill(lane)
    }
    if (next !== undefined && piece.length < STRIDE_ROWS) continue
    yield piece
    if (next === undefined) return
    piece = []
  }
}

const headOf = ({ rows, at }: Lane) => rows[at]

async function refill(lane: Lane): Promise<void> {
  const page = await lane.pages.next()
  lane.rows = page.done === true ? [] : page.value
  lane.at = 0
}

function dueAt(job: JobRow | undefined): number {
  return job?.next_event_at ?? Number.POSITIVE_INFINITY
}

const rankOf = (job: JobRow, now: number): number => {
  if (job.ended_at !== null) return ranks.ended
  if (job.status === 'disputed') return ranks.disputed
  return isLate(job, now) ? ranks.late : ranks.open
}
const ranks = { disputed: 0, late: 1, open: 2, ended: 3 } as const

/** Sorts jobs by urgency: disputed, late, then other open jobs, each by next event; ended jobs last, newest first. */
export function worstFirst(now: number): (a: JobRow, b: JobRow) => number {
  return (a, b) => {
    const rank = rankOf(a, now)
    if (rank !== rankOf(b, now)) return rank - rankOf(b, now)
    return rank === ranks.ended ? -byTime(a, b, ({ created_at }) => created_at) : byTime(a, b, dueAt)
  }
}

/** Compares by time; equal times by id. */
function byTime(a: JobRow, b: JobRow, timeOf: (job: JobRow) => number): number {
  const [x, y] = [timeOf(a), timeOf(b)]
  if (x === y) return a.id < b.id ? -1 : 1
  return x < y ? -1 : 1
}
