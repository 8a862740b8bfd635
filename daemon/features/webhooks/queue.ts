import { AppError, notFound } from '../../../src/core/error.ts'
import type { DeliveryAttempt } from '../../../src/model/delivery.ts'
import type { EventType } from '../../../src/model/event-types.ts'
import type { JsonObject } from '../../../src/model/service.ts'
import { emit } from '../../events/event-log.ts'
import { nextNumber, type ParticipantRow, participants } from '../../kernel/rows.ts'
import { isLarge } from '../../store/blobs.ts'
import type { Draft, Draw, ReadTx, Tx } from '../../store/port.ts'
import { services } from '../listings/rows.ts'
import { updateHealth, updateHealthOfAll } from './health.ts'
import { type DeliveryRow, deliveries } from './rows.ts'
import { afterTry, isGone, RETRY_DELAYS_MS } from './schedule.ts'
import type { SentAttempt } from './send.ts'

/** Maximum deliveries that wait per endpoint. Further ones are dead immediately, and can be replayed later. */
export const MAX_PENDING_PER_ENDPOINT = 10_000
/** Maximum unpaid messages that wait per endpoint. */
const MAX_PENDING_OF_WORDS = MAX_PENDING_PER_ENDPOINT / 2
/** Maximum unpaid messages waiting per sender and receiver. */
export const MAX_PENDING_PER_SENDER = 100
const FULL = 'too many messages wait for this endpoint'
/** Number of newest attempts kept per delivery. */
const MAX_KEPT_ATTEMPTS = 30
const MAX_BYTE = 255
/** Id of the counter that numbers deliveries, for a stable order. */
const DELIVERY_COUNTER = 'deliveries'

/** A message for a participant, optionally about a listing. */
export type NewDelivery = {
  readonly participantId: string
  readonly serviceId?: string
  readonly jobId?: string
  /** Id or wallet of a sender who did not pay. Their messages wait behind paid ones, and are limited in number. */
  readonly sender?: string
  readonly type: string
  /** Members besides `type`, `event_id` and `created_at`. */
  readonly data: JsonObject
  readonly now: number
  /** Set if only one attempt is made, because the caller retries. */
  readonly once?: true
}

export type WebhookEndpoint = {
  readonly url: string
  readonly owner: ParticipantRow
  readonly ownedBy: 'service' | 'participant'
}

/** Endpoint for a listing's messages: the listing's own, else its provider's. */
export async function endpointOf(
  t: ReadTx,
  { participantId, serviceId }: { readonly participantId: string; readonly serviceId: string | null },
): Promise<WebhookEndpoint | undefined> {
  const owner = await t.table(participants).get(participantId)
  if (!owner) return undefined
  const service = serviceId === null ? undefined : await t.table(services).get(serviceId)
  if (service?.provider_id === owner.id && service.webhook_url !== null) {
    return { url: service.webhook_url, owner, ownedBy: 'service' }
  }
  return owner.webhook_url === null ? undefined : { url: owner.webhook_url, owner, ownedBy: 'participant' }
}

/**
 * Queues a message in the transaction of its event.
 * @returns undefined if the receiver has no endpoint and must read the event log
 */
export async function enqueue(t: Tx, draw: Draw, delivery: NewDelivery): Promise<DeliveryRow | undefined> {
  const { participantId, serviceId = null } = delivery
  const endpoint = await endpointOf(t, { participantId, serviceId })
  if (!endpoint) return undefined
  const draft = await draftOf(t, draw, { ...delivery, url: endpoint.url })
  const reason = await fullness(t, draft)
  return t.table(deliveries).insert(reason === undefined ? draft : ended(draft, { state: 'dead', reason }))
}

/** Why a delivery cannot be queued; undefined if it can. */
async function fullness(t: Tx, { participant_id, url, sender }: Draft<DeliveryRow>): Promise<string | undefined> {
  const table = t.table(deliveries)
  const lane = [participant_id, url]
  if (sender !== undefined) {
    const own = await table.count('sender', [participant_id, sender])
    if (own >= MAX_PENDING_PER_SENDER) return 'too many messages of this sender wait'
    if ((await table.count('lane', [...lane, true])) >= MAX_PENDING_OF_WORDS) return FULL
  }
  return (await table.count('lane', lane)) >= MAX_PENDING_PER_ENDPOINT ? FULL : undefined
}

export type QueuedMessage = { readonly eventId: string; readonly body: string }

/** A message's body, with `type`, `event_id` and `created_at` added. */
export function messageOf(draw: Draw, { type, data, now }: Pick<NewDelivery, 'type' | 'data' | 'now'>): QueuedMessage {
  const eventId = draw.id('event')
  const created_at = new Date(now).toISOString()
  return { eventId, body: JSON.stringify({ type, event_id: eventId, created_at, ...data }) }
}

/** A message to a known endpoint. `message` is its body, if it was already built. */
export type NewCall = NewDelivery & { readonly url: string; readonly message?: QueuedMessage }

/** A new row for a delivery that is due now. */
export async function draftOf(t: Tx, draw: Draw, { url, message, ...delivery }: NewCall): Promise<Draft<DeliveryRow>> {
  const { eventId, body } = message ?? messageOf(draw, delivery)
  return {
    id: draw.id('delivery'),
    number: await nextNumber(t, DELIVERY_COUNTER),
    event_id: eventId,
    type: delivery.type,
    participant_id: delivery.participantId,
    service_id: delivery.serviceId ?? null,
    job_id: delivery.jobId ?? null,
    ...(delivery.sender === undefined ? {} : { sender: delivery.sender, word: true as const }),
    url,
    ...(isLarge(body) ? { body: '', body_file: draw.file(body) } : { body }),
    state: 'pending',
    open: true,
    reason: null,
    tries: 0,
    max_tries: delivery.once ? 1 : RETRY_DELAYS_MS.length,
    next_at: delivery.now,
    attempts: [],
    attempted: false,
    attempted_at: 0,
    created_at: delivery.now,
    at: delivery.now,
  }
}

type End = { readonly state: 'delivered' | 'dead' | 'dropped'; readonly reason: string | null }

function ended(row: Draft<DeliveryRow>, { state, reason }: End): Draft<DeliveryRow> {
  return { ...row, state, reason, open: false, next_at: null }
}

/** Ends a pending delivery without an attempt. @returns undefined if it had already ended */
export async function end(
  t: Tx,
  id: string,
  { now, ...how }: End & { readonly now: number },
): Promise<DeliveryRow | undefined> {
  const row = await t.table(deliveries).getForUpdate(id)
  return row?.open ? t.table(deliveries).put({ ...ended(row, how), at: now }) : undefined
}

/** Redirects a pending delivery to its owner's current endpoint. */
export async function redirect(t: Tx, id: string, { url, now }: { url: string; now: number }): Promise<void> {
  const row = await t.table(deliveries).getForUpdate(id)
  if (row?.open) await t.table(deliveries).put({ ...row, url, at: now })
}

/**
 * Resends a delivery with the same bytes, and counts its attempts from zero.
 * @param owner - participant that must own it; undefined for the operator
 * @throws AppError 404 for an unknown or another owner's delivery, 409 when it cannot be sent again
 */
export async function replay(
  t: Tx,
  id: string,
  { owner, now }: { readonly owner?: string; readonly now: number },
): Promise<DeliveryRow> {
  const row = await t.table(deliveries).getForUpdate(id)
  if (!row || (owner !== undefined && row.participant_id !== owner)) throw notFound('The delivery')
  if (row.body === '' && row.body_file === undefined)
    throw new AppError('conflict', 'The message was too large to store, so it cannot be sent again.')
  if (row.state === 'dropped') throw new AppError('conflict', `The delivery was dropped: ${row.reason}.`)
  const endpoint = await endpointOf(t, { participantId: row.participant_id, serviceId: row.service_id })
  if (!endpoint) throw new AppError('conflict', 'No endpoint to send it to: set webhook_url first.')
  return t
    .table(deliveries)
    .put({ ...row, url: endpoint.url, state: 'pending', open: true, reason: null, tries: 0, next_at: now, at: now })
}

type Tried = { readonly id: string; readonly sent: SentAttempt; readonly now: number }

/**
 * Records an attempt. It may lead to a retry, end the delivery, and disable the endpoint.
 * @returns undefined if the delivery ended during the attempt. The attempt then does not count.
 */
export async function recordTry(t: Tx, draw: Draw, { id, sent, now }: Tried): Promise<DeliveryRow | undefined> {
  const row = await t.table(deliveries).getForUpdate(id)
  return row?.open ? recordOneTry(t, draw, { row, sent, now }) : undefined
}

type OneTry = { readonly row: DeliveryRow; readonly sent: SentAttempt; readonly now: number }

/** Records an attempt of a queued delivery or a direct call, whose row this transaction has locked. */
export async function recordOneTry(t: Tx, draw: Draw, { row, sent, now }: OneTry): Promise<DeliveryRow> {
  const tries = row.tries + 1
  const jitter = (draw.bytes(1)[0] as number) / MAX_BYTE
  const next = afterTry(sent, { tries, maxTries: row.max_tries, now, jitter })
  const written = await t.table(deliveries).put({
    ...row,
    tries,
    state: next.state,
    open: next.state === 'pending',
    reason: next.reason,
    next_at: next.nextAt,
    attempts: [...row.attempts, attemptOf(sent)].slice(-MAX_KEPT_ATTEMPTS),
    attempted: true,
    attempted_at: sent.at,
    at: now,
  })
  if (isGone(sent)) await disableEndpoint(t, draw, { row: written, now })
  // No event for a failed direct call: callers who do not pay could cause many. The row shows the failure.
  if (written.state === 'dead' && row.open) await tellOwner(t, draw, { type: 'webhook.failed', row: written, now })
  if (row.service_id !== null) await updateHealth(t, row.service_id, now)
  return written
}

function attemptOf({ at, status, latencyMs, error, excerpt, wasNeverSent }: SentAttempt): DeliveryAttempt {
  return { at, status, latency_ms: latencyMs, error, excerpt, ...(wasNeverSent ? { never_sent: true } : {}) }
}

type Notice = { readonly type: EventType; readonly row: DeliveryRow; readonly now: number }

/** Disables an endpoint that responded 410. Does nothing if another endpoint has replaced it. */
async function disableEndpoint(t: Tx, draw: Draw, { row, now }: Omit<Notice, 'type'>): Promise<void> {
  const endpoint = await endpointOf(t, { participantId: row.participant_id, serviceId: row.service_id })
  if (endpoint?.url !== row.url) return
  if (endpoint.ownedBy === 'participant') {
    const owner = await t.table(participants).getForUpdate(row.participant_id)
    if (owner) await t.table(participants).put({ ...owner, webhook_url: null, updated_at: now })
    await updateHealthOfAll(t, row.participant_id, now)
  } else if (row.service_id !== null) {
    const service = await t.table(services).getForUpdate(row.service_id)
    if (service) await t.table(services).put({ ...service, webhook_url: null, updated_at: now })
  }
  await tellOwner(t, draw, { type: 'webhook.disabled', row, now })
}

async function tellOwner(t: Tx, draw: Draw, { type, row, now }: Notice): Promise<void> {
  await emit(t, draw, {
    type,
    participantId: row.participant_id,
    subject: { kind: 'delivery', id: row.id },
    data: { url: row.url, type: row.type, event_id: row.event_id, reason: row.reason },
    at: now,
  })
}
