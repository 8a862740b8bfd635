import { SECOND_MS } from '../../../src/core/time.ts'
import { signedHeaders } from '../../../src/core/webhook-signature.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import type { Clock } from '../../ports/clock.ts'
import { WebError } from '../../ports/web/error.ts'
import type { WebResponse } from '../../ports/web/exchange.ts'
import type { Web } from '../../ports/web/web.ts'
import { retryAfterMs } from './schedule.ts'

/** Time and size limits of an endpoint's response (decisions §10). */
export const WEBHOOK_TIMEOUT_MS = 30 * SECOND_MS
const MAX_ANSWER_BYTES = 8 * 1024 * 1024
/** Maximum characters kept of a response. */
const EXCERPT_CHARS = 512

export type Sender = {
  readonly web: Pick<Web, 'post'>
  readonly clock: Clock
  /** Custom header of an endpoint's owner (default: none). */
  readonly ownHeaderOf?: (owner: ParticipantRow) => Readonly<Record<string, string>>
}

export type OutgoingMessage = {
  readonly url: string
  readonly eventId: string
  readonly body: string
  readonly secrets: readonly string[]
  /** Headers that the endpoint's owner chose. Headers that souk sets take precedence. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
}

export type SentAttempt = {
  readonly ok: boolean
  /** Start, wall time. */
  readonly at: number
  readonly status: number | null
  readonly latencyMs: number
  readonly error: string | null
  readonly excerpt: string
  readonly answer: Buffer
  readonly retryAfterMs: number | null
  /** Whether nothing was sent. Sending again is then safe. */
  readonly wasNeverSent: boolean
  readonly signatureHeaders: Readonly<Record<string, string>>
}

/**
 * Signs and posts a message once. Only a 2xx response counts as delivered; redirects are not followed.
 * @throws WebError `aborted` when its signal aborts. All other failures are in the result.
 */
export async function sendOnce({ web, clock }: Sender, message: OutgoingMessage): Promise<SentAttempt> {
  const at = clock.wall()
  const { url, eventId: id, body, secrets, signal, timeoutMs = WEBHOOK_TIMEOUT_MS } = message
  const signatureHeaders = signedHeaders({ id, body, secrets, wall: at })
  const begun = { at, signatureHeaders }
  const headers = { ...message.headers, 'content-type': 'application/json', ...signatureHeaders }
  try {
    const answer = await web.post({
      url,
      body,
      headers,
      timeoutMs,
      maxBytes: MAX_ANSWER_BYTES,
      ...(signal ? { signal } : {}),
    })
    return { ...begun, ...judged(answer, clock.wall()), latencyMs: clock.wall() - at }
  } catch (error) {
    if (!(error instanceof WebError) || error.failure === 'aborted') throw error
    return { ...begun, ...unanswered(error), latencyMs: clock.wall() - at }
  }
}

function judged({ status, headers, body }: WebResponse, wall: number) {
  const ok = status >= 200 && status < 300
  return {
    ok,
    status,
    error: ok ? null : `the endpoint returned status ${status}`,
    excerpt: excerptOf(body),
    answer: body,
    retryAfterMs: retryAfterMs(headers['retry-after'], wall),
    wasNeverSent: false,
  }
}

function unanswered(error: WebError) {
  return {
    ok: false,
    status: null,
    error: `${error.failure}: ${error.message}`,
    excerpt: '',
    answer: Buffer.alloc(0),
    retryAfterMs: null,
    wasNeverSent: error.wasNeverSent,
  }
}

function excerptOf(body: Buffer): string {
  const bytesPerChar = 4
  return body
    .toString('utf8', 0, EXCERPT_CHARS * bytesPerChar)
    .slice(0, EXCERPT_CHARS)
    .toWellFormed()
}
