import type { Entropy } from '../../../src/core/hex.ts'
import { commit, drawFrom } from '../../store/draw.ts'
import type { Draw, Store, Tx } from '../../store/port.ts'
import { beginCall, endCall } from './calls.ts'
import { messageOf, type NewDelivery, type QueuedMessage, type WebhookEndpoint } from './queue.ts'
import type { DeliveryRow } from './rows.ts'
import { type Sender, type SentAttempt, sendOnce, WEBHOOK_TIMEOUT_MS } from './send.ts'
import { secretsOf } from './signing.ts'

/** Maximum attempts of a call. Attempts are repeated only while nothing was sent. */
const MAX_UNSENT_TRIES = 3
const SEED_BYTES = 32

/** Larger bodies are not stored: direct calls are not resent, and callers who do not pay could cause many of them. */
const MAX_KEPT_BODY_CHARS = 2_048
const ABANDONED = 'the caller stopped waiting'

type Write = (t: Tx, draw: Draw) => Promise<DeliveryRow>

type Direct = Omit<NewDelivery, 'once'> & {
  readonly endpoint: WebhookEndpoint
  readonly signal: AbortSignal
  /** Commits the call's record together with the caller's writes, before the call is sent. */
  readonly begin?: (write: Write) => Promise<void>
}

type Parts = Sender & { readonly store: Store; readonly entropy: Entropy }

/**
 * Sends a message while a caller waits: an instant dispatch, or a test (decisions §10). Never queues. Retries only
 * while nothing was sent, within one time limit. The call is recorded before it is sent, and counts for webhook health.
 * @throws WebError `aborted` when the signal aborts
 */
export async function deliverNow(parts: Parts, { endpoint, signal, begin, ...delivery }: Direct): Promise<SentAttempt> {
  const message = messageOf(drawFrom(parts.entropy(SEED_BYTES)), delivery)
  let id = ''
  const write: Write = async (t, draw) => {
    const row = await beginCall(t, draw, { ...delivery, url: endpoint.url, message: shortened(message) })
    id = row.id
    return row
  }
  await (begin ? begin(write) : commit(parts, write))
  const tries: SentAttempt[] = []
  const end = (reason?: string) =>
    commit(parts, (t, draw) => endCall(t, draw, { id, tries, reason, now: parts.clock.now() }))
  try {
    await sendAll(parts, { message, endpoint, signal, tries })
  } catch (error) {
    await end(ABANDONED)
    throw error
  }
  await end()
  return tries.at(-1) as SentAttempt // at least one was made
}

function shortened({ eventId, body }: QueuedMessage): QueuedMessage {
  return { eventId, body: body.length > MAX_KEPT_BODY_CHARS ? '' : body }
}

type Sending = Pick<Direct, 'endpoint' | 'signal'> & { readonly message: QueuedMessage; readonly tries: SentAttempt[] }

async function sendAll(parts: Parts, { message, endpoint, signal, tries }: Sending): Promise<void> {
  const { clock } = parts
  const until = clock.wall() + WEBHOOK_TIMEOUT_MS
  let sent: SentAttempt
  do {
    sent = await sendOnce(parts, {
      ...message,
      url: endpoint.url,
      secrets: secretsOf(endpoint.owner, clock.wall()),
      headers: parts.ownHeaderOf?.(endpoint.owner),
      timeoutMs: Math.max(1, until - clock.wall()),
      signal,
    })
    tries.push(sent)
  } while (sent.wasNeverSent && tries.length < MAX_UNSENT_TRIES && clock.wall() < until)
}
