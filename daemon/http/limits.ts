import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts'

/** Maximum size of a request's headers. Node answers 431 above it. */
export const MAX_HEADER_BYTES = 16 * 1024
export const HEADERS_TIMEOUT_MS = 10 * SECOND_MS
/** Time limit for receiving a JSON body or a form without a file. A slower request gets 408. */
export const BODY_TIMEOUT_MS = MINUTE_MS
/** Time limit for receiving a whole request, including the largest file. */
export const REQUEST_TIMEOUT_MS = 15 * MINUTE_MS
export const UPLOAD_IDLE_MS = 30 * SECOND_MS
/** How long the rest of a request is read after an early response. Closing immediately would lose the response. */
export const LINGER_MS = 10 * SECOND_MS
/** How often Node checks request timeouts. */
export const TIMEOUT_CHECK_MS = SECOND_MS
export const KEEP_ALIVE_TIMEOUT_MS = 5 * SECOND_MS
/** Idle limit of any connection. It exceeds the time of any response. */
export const IDLE_SOCKET_MS = 5 * MINUTE_MS
/** Maximum open connections. `LOOPBACK_RESERVE` of them are reserved for this machine. */
export const MAX_CONNECTIONS = 2_000
export const LOOPBACK_RESERVE = 100
/** Time within which a new connection must send data. After it, the connection counts as silent. */
export const FIRST_WORDS_MS = 250
/** Maximum connections per address, except for proxies. */
export const MAX_CONNECTIONS_OF_ADDRESS = 256

/** Requests that a front hands to the leader at a time, and how long it waits for a connection and for `/ready`. */
export const MAX_HANDED = 1_000
export const FRONT_CONNECT_MS = 5 * SECOND_MS
export const FRONT_READY_MS = 2 * SECOND_MS
/** Room for the header that a front adds to a request. */
export const HOP_HEADER_BYTES = 512
/** `Retry-After` in seconds, while the marketplace is not open yet. */
export const RETRY_AFTER_S = 1

/** Limits of forms: bytes without the file, bytes per field, bytes per field name, number of fields. */
export const MAX_FORM_BYTES = 256 * 1024
export const MAX_FORM_FIELD_BYTES = 32 * 1024
export const MAX_FORM_FIELD_NAME_BYTES = 100
export const MAX_FORM_FIELDS = 20
/** Maximum length of a file name. Every file system accepts it. */
export const MAX_FILE_NAME_BYTES = 200

/** Server-sent events. */
export const HEARTBEAT_MS = 10 * SECOND_MS
/** How long a reader may accept no data before its stream is ended. The reader can resume by cursor. */
export const STREAM_STALL_MS = 30 * SECOND_MS
/** How long the daemon, when it stops, waits for a reader to receive the end of its stream. */
export const STREAM_END_MS = SECOND_MS

/** How long a stop waits for requests in progress. */
export const DRAIN_MS = 10 * SECOND_MS
/** TLS handshake limit. */
export const HANDSHAKE_TIMEOUT_MS = 10_000
