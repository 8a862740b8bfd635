import type { Entropy } from '../../src/core/entropy.ts'
import { deliveries } from '../store/collections.ts'
import { commit, drawFrom } from '../store/draw.ts'
import type { Store } from '../store/port.ts'
import { draftOf, type Endpoint, messageOf, type NewDelivery, recordTry } from './queue.ts'
import { type Sender, type Sent, sendOnce, WEBHOOK_TIMEOUT_MS } from './send.ts'
import { secretsOf } from './signing.ts'

/** Tries of a message that somebody waits for, as long as none of it has left this machine. */
const MAX_UNSENT_TRIES = 3
const SEED_BYTES = 32

type Direct = Omit<NewDelivery, 'once'> & { readonly endpoint: Endpoint; readonly signal: AbortSignal }

/**
 * Sends a message while somebody waits for its answer: an instant dispatch, a test (decisions §10). It is retried only
 * while it could not be sent at all, all tries together have the time of one, and it is never queued. Recorded once it
 * has ended, so that it counts for the listing's health.
 * @throws WebError aborted when the signal ended it.
 */
export async function deliverNow(
  parts: Sender & { readonly store: Store; readonly entropy: Entropy },
  { endpoint, signal, ...delivery }: Direct,
): Promise<Sent> {
  const { clock } = parts
  const message = messageOf(drawFrom(parts.entropy(SEED_BYTES)), delivery)
  const until = clock.wall() + WEBHOOK_TIMEOUT_MS
  const tries: Sent[] = []
  let sent: Sent
  do {
    sent = await sendOnce(parts, {
      ...message,
      url: endpoint.url,
      secrets: secretsOf(endpoint.owner, clock.wall()),
      timeoutMs: Math.max(1, until - clock.wall()),
      signal,
    })
    tries.push(sent)
  } while (sent.wasNeverSent && tries.length < MAX_UNSENT_TRIES && clock.wall() < until)
  await commit(parts, async (t, draw) => {
    const draft = await draftOf(t, draw, { ...delivery, url: endpoint.url, message })
    const { id } = await t.table(deliveries).insert({ ...draft, max_tries: tries.length })
    for (const one of tries) await recordTry(t, draw, { id, sent: one, now: clock.now() })
  })
  return sent
}
