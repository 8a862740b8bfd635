import { z } from 'zod'
import { Amount, idOf, namedObject, Time } from '../../core/codecs.ts'
import { DEFAULT_PAGE } from '../../core/limits.ts'
import { queryInt, TimeInput } from '../endpoint/common.ts'
import { adminEndpoint, defineEndpoint, json } from '../endpoint/define.ts'

const MAX_REQUESTS = 1_000
export const MAX_REQUEST_WAIT_SECONDS = 30
const MAX_TEXT_CHARS = 200
/** Maximum number of ids per query. */
export const MAX_REQUESTS_NAMED = 50
const ID_CHARS = 'req_0123456789abcdef,'.length

/** An HTTP request that the daemon remembers, without headers, query, body and signature. */
const RequestRecord = namedObject('RequestRecord', {
  id: z.string().meta({ description: 'X-Request-Id of the response' }),
  request_id: z.string(),
  at: Time.meta({ description: 'wall time' }),
  method: z.string(),
  path: z.string(),
  endpoint: z.string().nullable().meta({ description: 'endpoint that handled the request' }),
  status: z.int().nullable().meta({ description: 'null while in progress' }),
  ms: z.int().nullable(),
  caller: z.string().nullable().meta({ description: 'caller: participant id, wallet or `admin`' }),
  name: z.string().nullable().meta({ description: 'name of the participant in `caller`' }),
  code: z.string().nullable().meta({ description: 'error code, or why a payment was refused' }),
  price: Amount.nullable(),
  receipt_id: idOf('receipt').nullable(),
  job_id: idOf('job').nullable(),
  service: z.string().nullable().meta({ description: 'name of the listing it concerns' }),
  offer_id: z.string().nullable().meta({ description: 'request whose 402 quoted this payment to the same buyer' }),
  steps: z
    .int()
    .nullable()
    .meta({ description: 'number of steps in the request’s trace; null unless requested by id' }),
  remembered: z
    .enum(['whole', 'part'])
    .meta({ description: 'part: rebuilt from the store after a restart of the daemon' }),
})

/** Kinds of trace steps. */
export const storyKinds = [
  'offer',
  'request',
  'payment',
  'settlement',
  'job',
  'milestone',
  'delivery',
  'attempt',
  'books',
  'thread',
  'payout',
  'act',
] as const

/** A line of a trace. Its cause is the nearest line above it with a smaller depth. */
export const StoryStep = namedObject('StoryStep', {
  depth: z.int(),
  kind: z.enum(storyKinds),
  id: z.string().nullable(),
  at: Time.nullable().meta({ description: 'wall time for requests and delivery attempts, business time otherwise' }),
  sign: z.enum(['done', 'waits', 'failed']),
  amount: Amount.nullable(),
  ms: z.int().nullable().meta({ description: 'duration of a request or attempt' }),
  sentence: z.string(),
})

const Story = z.strictObject({
  id: z.string(),
  steps: z.array(StoryStep),
  next: z.array(z.string()).meta({ description: 'suggested next commands' }),
  lost: z.string().nullable().meta({ description: 'parts of the trace that are no longer stored, and why' }),
})

export const requestsApi = {
  listRequests: adminEndpoint({
    path: '/dashboard/api/admin/requests',
    query: z.strictObject({
      status: z
        .string()
        .regex(/^[1-5](\d\d|xx)$/, 'must be like 402 or 4xx')
        .optional()
        .meta({ description: 'response status such as 402, or class such as 4xx' }),
      method: z
        .string()
        .regex(/^[A-Z]{3,7}$/, 'must be an HTTP method in capitals, such as GET')
        .optional()
        .meta({ description: 'HTTP method' }),
      path: z
        .string()
        .max(MAX_TEXT_CHARS)
        .optional()
        .meta({ description: 'part of the path, or a pattern with * for any text' }),
      request: z
        .string()
        .max(MAX_REQUESTS_NAMED * ID_CHARS)
        .optional()
        .meta({ description: `request ids, comma-separated, at most ${MAX_REQUESTS_NAMED}` }),
      job: idOf('job').optional().meta({ description: 'only requests that bought or concern this job' }),
      since: TimeInput.optional().meta({ description: 'only requests started at this wall time or later' }),
      cursor: queryInt({ min: 0, max: 999_999_999 })
        .optional()
        .meta({ description: 'only requests that ended after this cursor' }),
      wait: queryInt({ min: 0, max: MAX_REQUEST_WAIT_SECONDS })
        .optional()
        .meta({ description: 'with a cursor: seconds to wait for new rows' }),
      limit: queryInt({ min: 1, max: MAX_REQUESTS })
        .optional()
        .meta({ description: `number of newest rows (default: ${DEFAULT_PAGE})` }),
    }),
    reply: json({ requests: z.array(RequestRecord).meta({ description: 'oldest first' }), next_cursor: z.string() }),
    summary: 'recent requests with filters, no credentials',
  }),

  getRequestStory: adminEndpoint({
    path: '/dashboard/api/admin/requests/:id/story',
    reply: json(Story),
    summary: 'trace of a request, job, receipt, delivery or payout',
  }),

  getOwnStory: defineEndpoint({
    path: '/v1/stories/:id',
    origin: 'ours',
    section: 'Jobs',
    reply: json(Story),
    summary: 'trace a request, job, receipt, delivery or payout of yours',
  }),
}
