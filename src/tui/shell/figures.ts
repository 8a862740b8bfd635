import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import type { Link, Outcome } from '../../client/link.ts'
import type { jobStatuses } from '../../model/job.ts'
import { ask } from './queries.ts'
import { time } from './read.ts'

type RiverAnswer = WireAnswer<Api['getRiver']>

/** Today's money. Amounts are decimal USDC, such as `1284.30`. */
export type RiverFacts = Omit<RiverAnswer, 'begins' | 'checked_at'> & { readonly checkedAt: number | undefined }

export const fetchRiver = (link: Link) => (signal: AbortSignal) =>
  ask(
    link,
    { name: 'getRiver', asked: { signal } },
    ({ checked_at, begins: _, ...river }): RiverFacts => ({ ...river, checkedAt: time(checked_at) }),
  )

type Bucket = WireAnswer<Api['getSeries']>['buckets'][number]
type Span = WireAnswer<Api['getSeries']>['span']

export type SeriesFacts = {
  readonly span: Span
  readonly bucketSeconds: number
  readonly buckets: readonly Bucket[]
}

export const fetchSeries = (link: Link, span: Span) => (signal: AbortSignal) =>
  ask(
    link,
    { name: 'getSeries', asked: { query: { span }, signal } },
    ({ buckets, bucket_seconds }): SeriesFacts => ({ span, bucketSeconds: bucket_seconds, buckets }),
  )

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
