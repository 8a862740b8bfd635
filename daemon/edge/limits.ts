import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts'

/** Bounds of the HTTP edge. */

/** All headers of a request together; Node answers 431 above. */
export const MAX_HEADER_BYTES = 16 * 1024
export const HEADERS_TIMEOUT_MS = 10 * SECOND_MS
/** A whole request, body included; slower ones are cut with 408. */
export const REQUEST_TIMEOUT_MS = MINUTE_MS
/** How often Node looks for requests that are over their time. */
export const TIMEOUT_CHECK_MS = SECOND_MS
export const KEEP_ALIVE_TIMEOUT_MS = 5 * SECOND_MS
export const MAX_CONNECTIONS = 2_000

/** Server-sent events. */
export const HEARTBEAT_MS = 10 * SECOND_MS
/** Bytes that a slow reader may leave unread before its stream is ended; it resumes by cursor. */
export const MAX_STREAM_BACKLOG_BYTES = 1024 * 1024

/** How long a stop waits for requests under way. */
export const DRAIN_MS = 10 * SECOND_MS
