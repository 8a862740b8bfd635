import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts'

/** Bounds of the HTTP edge. */

/** All headers of a request together; Node answers 431 above. */
export const MAX_HEADER_BYTES = 16 * 1024
export const HEADERS_TIMEOUT_MS = 10 * SECOND_MS
/** A body of JSON or a form without a file; slower ones are cut with 408. */
export const BODY_TIMEOUT_MS = MINUTE_MS
/** A whole request, a file of the largest size included. */
export const REQUEST_TIMEOUT_MS = 15 * MINUTE_MS
/** How long an upload may stand still. */
export const UPLOAD_IDLE_MS = 30 * SECOND_MS
/** How long what is left of a body is read and thrown away after its answer, so that the answer arrives. */
export const LINGER_MS = 10 * SECOND_MS
/** How often Node looks for requests that are over their time. */
export const TIMEOUT_CHECK_MS = SECOND_MS
export const KEEP_ALIVE_TIMEOUT_MS = 5 * SECOND_MS
/** Any connection on which nothing moves: longer than all that an answer may take. */
export const IDLE_SOCKET_MS = 5 * MINUTE_MS
/** All connections together, and how many of them only this machine may have. */
export const MAX_CONNECTIONS = 2_000
export const LOOPBACK_RESERVE = 100
/** So long may one that has just come take to say its first words, before it counts as silent. */
export const FIRST_WORDS_MS = 250
/** Of one address, unless it is a proxy. */
export const MAX_CONNECTIONS_OF_ADDRESS = 256

/** Forms: all but the file, each field, its name, and how many. */
export const MAX_FORM_BYTES = 256 * 1024
export const MAX_FORM_FIELD_BYTES = 32 * 1024
export const MAX_FORM_FIELD_NAME_BYTES = 100
export const MAX_FORM_FIELDS = 20
/** What every file system can hold. */
export const MAX_FILE_NAME_BYTES = 200

/** Server-sent events. */
export const HEARTBEAT_MS = 10 * SECOND_MS
/** How long a reader may leave what was sent to it before its stream is ended; it resumes by cursor. */
export const STREAM_STALL_MS = 30 * SECOND_MS
/** How long a stop waits for a reader to take the end of its stream. */
export const STREAM_END_MS = SECOND_MS

/** How long a stop waits for requests under way. */
export const DRAIN_MS = 10 * SECOND_MS
/** For a client to prove that it speaks TLS. */
export const HANDSHAKE_TIMEOUT_MS = 10_000
