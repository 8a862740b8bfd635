import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import type { Link } from '../../client/link.ts'
import { count } from '../../text/text.ts'
import { clockTime } from '../../text/time.ts'
import { shownMoney } from '../parts/river.ts'
import { ask } from './queries.ts'
import { text } from './read.ts'

type Answered = WireAnswer<Api['getEndpointFigures']>['endpoints'][number]

/** Fetches the figures of all endpoints. Keys are like `GET /v1/jobs`. */
export const fetchFigures = (link: Link) => (signal: AbortSignal) =>
  ask(
    link,
    { name: 'getEndpointFigures', asked: { query: { hours: '24' }, signal } },
    ({ endpoints }): ReadonlyMap<string, CallFacts> =>
      new Map(endpoints.map((one) => [`${one.method} ${one.path}`, readFigures(one)])),
  )

/** Calls of one endpoint in the last 24 hours. */
export type CallFacts = ReturnType<typeof readFigures>

function readFigures({ calls, total, p50_ms, p95_ms, by_hour, slowest, last_broken, sold }: Answered) {
  return {
    total,
    answered: calls.answered,
    asked: calls.asked_to_pay,
    refused: calls.refused + calls.switched_off,
    broken: calls.broken,
    p50: p50_ms,
    p95: p95_ms,
    /** Oldest first. */
    byHour: by_hour,
    /** Time, status, duration and id of the slowest request. Empty if there was none. */
    slowest: seenWords(slowest),
    lastBroken: seenWords(last_broken),
    /** Like `96 sold for $1,284.30`; empty without sales. */
    sold: sold.times === 0 ? '' : `${count(sold.times)} sold for ${shownMoney(sold.amount)}`,
  }
}

function seenWords(seen: Answered['slowest']): string {
  if (seen === null) return ''
  return `${clockTime(Date.parse(seen.at))}  ${seen.status}  ${seen.ms} ms  ${text(seen.request_id)}`
}
