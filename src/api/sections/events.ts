import { z } from 'zod'
import { idOf, namedObject, Time } from '../../core/codecs.ts'
import { DEFAULT_PAGE, MAX_PAGE } from '../../core/limits.ts'
import { eventTypes } from '../../model/event-types.ts'
import { queryInt } from '../endpoint/common.ts'
import { accountEndpoint, feed } from '../endpoint/define.ts'

export const MAX_EVENT_WAIT_SECONDS = 30
const MAX_TYPES_CHARS = 400
const TYPES = /^[a-z_.*]+(,[a-z_.*]+){0,19}$/
const CURSOR = /^(\d{1,15}|latest)$/

export const OwnEvent = namedObject('OwnEvent', {
  id: idOf('event'),
  event_id: idOf('event'),
  cursor: z.string(),
  created_at: Time,
  type: z.string().meta({ description: `one of these, or a type added later: ${Object.keys(eventTypes).join(', ')}` }),
  subject: z.strictObject({ kind: z.string(), id: z.string() }),
  data: z.record(z.string(), z.json()),
})

export const eventsApi = {
  /** For participants without a public address, who cannot receive webhooks (decisions §10). */
  readEvents: accountEndpoint({
    path: '/v1/events',
    query: z.strictObject({
      cursor: z
        .string()
        .regex(CURSOR, 'must be a next_cursor of this list, or latest')
        .optional()
        .meta({ description: 'last event already seen; without it, starts with the oldest stored event' }),
      types: z
        .string()
        .max(MAX_TYPES_CHARS)
        .regex(TYPES, 'must be up to 20 types such as job.*,message.created')
        .optional()
        .meta({ description: 'only these types; `*` matches any text' }),
      wait: queryInt({ min: 0, max: MAX_EVENT_WAIT_SECONDS })
        .optional()
        .meta({ description: 'seconds to wait for new events' }),
      limit: queryInt({ min: 1, max: MAX_PAGE })
        .optional()
        .meta({ description: `rows per page (default: ${DEFAULT_PAGE})` }),
    }),
    reply: feed(z.strictObject({ events: z.array(OwnEvent), next_cursor: z.string() }), OwnEvent),
    summary: 'own events: SSE or long poll, durable cursor',
  }),
}
