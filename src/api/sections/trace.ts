import { z } from 'zod'
import { idOf, Time } from '../../core/codecs.ts'
import { TraceEvent } from '../../model/trace.ts'
import { defineEndpoint, html, json, jsonBody, keyOrSigned, token } from '../endpoint/define.ts'

const MAX_TRACE_BYTES = 16 * 1024

/** Headers of a signed trace; timestamp in unix seconds. */
export const traceSignatureHeader = 'X-TRACE-SIGNATURE'
export const traceTimestampHeader = 'X-TRACE-TIMESTAMP'

export const tracesApi = {
  recordTrace: defineEndpoint({
    path: '/v1/trace',
    access: keyOrSigned,
    section: 'Reputation, trace, statistics',
    body: jsonBody({ event: TraceEvent }, { maxBodyBytes: MAX_TRACE_BYTES }),
    reply: json({
      trace_id: idOf('trace'),
      link: z.string().nullable().meta({ description: 'link that opens once; null if the event was already recorded' }),
      link_expires_at: Time.nullable(),
    }),
    errors: ['conflict'],
    summary:
      'record one purchase attempt, allowed or denied. Body: a trace event holding a payment intent, a decision receipt or null, an outcome, a source, and optional payment and result. Returns a one-time dashboard link',
  }),

  openTrace: defineEndpoint({
    path: '/dashboard/traces/:token',
    access: token('path'),
    origin: 'ours',
    section: 'Pages',
    reply: html,
    summary: 'one-time trace page',
  }),
}
