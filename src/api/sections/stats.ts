import { z } from 'zod'
import { Time } from '../../core/codecs.ts'
import { empty, endpointsWith, json, jsonBody, open } from '../endpoint/define.ts'

const endpoint = endpointsWith({ section: 'Reputation, trace, statistics' })

export const explorerEvents = ['subject_view', 'expand_io', 'verify_signature'] as const

export const statsApi = {
  recordEvent: endpoint({
    path: '/v1/stats/events',
    access: open,
    silentWhenDeclined: true,
    badBody: 'invalid_event',
    // Members other than `event` are ignored (specification).
    body: jsonBody(z.object({ event: z.enum(explorerEvents) }), { anyMedia: true }),
    reply: empty,
    errors: ['invalid_event'],
    summary:
      'body `{event}` with event one of `subject_view`, `expand_io`, `verify_signature`; nothing else in the body is read. 204 on success; 400 `invalid_event` otherwise. A request with `DNT: 1` or `Sec-GPC: 1` answers 204 and records nothing',
  }),

  getWatching: endpoint({
    path: '/v1/stats/watching',
    access: open,
    reply: json({
      as_of: Time,
      days: z
        .array(
          z.strictObject({
            date: z.iso.date(),
            trust_queries: z.int(),
            explorer_interactions: z.int(),
            distinct_callers: z.int(),
          }),
        )
        .meta({ description: 'whole days in UTC, newest first' }),
    }),
    errors: ['not_built_yet'],
    summary:
      'trust queries, explorer interactions and distinct callers per day, from a nightly snapshot (02:00 UTC). Before the first nightly run: 503 `not_built_yet` with `Retry-After`',
  }),
}
