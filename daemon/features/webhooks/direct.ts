import type { Entropy } from '../../../src/core/hex.ts'
import { commit, type Draw, drawFrom } from '../../store/draw.ts'
import type { Store, Tx } from '../../store/port.ts'
import { beginCall, endCall } from './calls.ts'
import { messageOf, type NewDelivery, type QueuedMessage, type WebhookEndpoint } from './queue.ts'
import type { DeliveryRow } from './rows.ts'
import { type Sender, type SentAttempt, sendOnce, WEBHOOK_TIMEOUT_MS } from './send.ts'
import { secretsOf } from './signing.ts'

/** Tries of a message that somebody waits for, as long as none of it has left this machine. */
const MAX_UNSENT_TRIES = 3
const SEED_BYTES = 32

/** Larger messages are not kept with their call: nobody sends it again of itself, and strangers may cause many. */
const MAX_KEPT_BODY_CHARS = 2_048
const ABANDONED = 'nobody waited for the answer any more'

type Write = (t: Tx, draw: Draw) => Promise<DeliveryRow>

type Direct = Omit<NewDelivery, 'once'> & {
  readonly endpoint: WebhookEndpoint
  readonly signal: AbortSignal
  /** Commits the record of the call before anything is sent, together with what else belongs there. */
  readonly begin?: (write: Write) => Promise<void>
}

type Parts = Sender & { readonly store: Store; readonly entropy: Entropy }

/**
 * Sends a message while somebody waits for its answer: an instant dispatch, a test (decisions §10). It is retried only
 * while it could not be sent at all, all tries together have the time of one, and it is never queued. Every call is on
 * record before it is made, and counts for the listing's health once it has ended.
 * @throws WebError aborted when the signal ended it.
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
