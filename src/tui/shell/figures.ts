import type { WireAnswer } from '../../api/index.ts'
import type { Link, Outcome } from '../../client/link.ts'
import { HOUR_MS } from '../../core/time.ts'
import type { jobStatuses } from '../../model/job.ts'
import { ask, fetching } from './queries.ts'

/** Today's money. */
export type River = WireAnswer<'getRiver'>

export const fetchRiver = fetching('getRiver', {}, (river) => river)

export type Series = WireAnswer<'getSeries'>
type Bucket = Series['buckets'][number]

export const fetchSeries = (link: Link, span: Series['span']) =>
  fetching('getSeries', { query: { span } }, (series) => series)(link)

type PastHour = NonNullable<Series['week_ago']>['buckets'][number]

/** What the hours of a week ago say of each bucket. Empty if nothing is known of them. */
export function pastOf({ buckets, week_ago: weekAgo }: Series, of: (hour: PastHour) => number): readonly number[] {
  const hours = weekAgo?.buckets ?? []
  const hourOf = (bucket: Bucket | undefined) => Math.floor(Date.parse(bucket?.at ?? '') / HOUR_MS)
  const past = buckets.map((bucket) => hours[hourOf(bucket) - hourOf(buckets[0])])
  const values = past.map((hour) => (hour === undefined ? 0 : of(hour)))
  return values.some((value) => value > 0) ? values : []
}

export function callsOf({ calls }: Bucket): number {
  return calls.answered + calls.asked_to_pay + calls.refused + calls.switched_off + calls.broken
}

/** Jobs by status. */
export type WorkFacts = Readonly<Record<(typeof openStatuses)[number], number>>
const openStatuses = [
  'created',
  'dispatched',
  'in_progress',
  'disputed',
] as const satisfies readonly (typeof jobStatuses)[number][]

export const fetchWork =
  (link: Link) =>
  async (signal: AbortSignal): Promise<Outcome<WorkFacts>> => {
    const totals = await Promise.all(
      openStatuses.map((status) => {
        const asked = { query: { status, limit: '1' }, signal }
        return ask(link, { name: 'listAllJobs', asked }, ({ total }) => [status, total] as const)
      }),
    )
    const failed = totals.find((one) => !one.ok)
    if (failed !== undefined && !failed.ok) return failed
    const known = totals.flatMap((one) => (one.ok ? [one.value] : []))
    const none = { created: 0, dispatched: 0, in_progress: 0, disputed: 0 }
    return { ok: true, value: { ...none, ...Object.fromEntries(known) } }
  }
