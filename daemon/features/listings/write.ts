import { AppError } from '../../../src/core/error.ts'
import type { EventType } from '../../../src/model/event-types.ts'
import type { WebhookStatus } from '../../../src/model/service.ts'
import { emit } from '../../events/event-log.ts'
import { type ParticipantRow, participants, refuseSuspendedNow } from '../../kernel/rows.ts'
import type { Draft, Draw, ReadTx, Tx } from '../../store/port.ts'
import type { ListingFields } from './input.ts'
import { polls, type ServiceRow, services } from './rows.ts'

/** Whether the directory shows a participant. By default, it shows sellers with an active listing (decisions §6). */
export async function isListed(t: ReadTx, row: Pick<ParticipantRow, 'id' | 'listable' | 'type'>): Promise<boolean> {
  if (row.listable !== null) return row.listable
  return row.type !== 'agent' && (await t.table(services).count('provider', [row.id, 'active'])) > 0
}

/** Updates the provider's directory entry. Call it after writing a listing. */
export async function refreshDirectory(t: Tx, participantId: string): Promise<void> {
  const row = await t.table(participants).getForUpdate(participantId)
  if (!row) throw new Error(`${participantId} is not a participant`)
  const listed = await isListed(t, row)
  if (listed !== row.in_directory) await t.table(participants).put({ ...row, in_directory: listed })
}

/** Maximum active and inactive listings per provider. */
export const MAX_LISTINGS = 500

type NewRow = {
  readonly provider: Pick<ParticipantRow, 'id' | 'webhook_url'>
  readonly fields: ListingFields
  readonly now: number
}

export function listingDraft(draw: Draw, { provider, fields, now }: NewRow, live: Liveness): Draft<ServiceRow> {
  return {
    ...fields,
    ...live,
    id: draw.id('service'),
    provider_id: provider.id,
    first_party_slug: null,
    status: 'active',
    listed_at: now,
    updated_at: now,
  }
}

/** Writes a listing, its directory entry and its event. @throws AppError 409 over `MAX_LISTINGS`, 403 if suspended */
export async function addListing(t: Tx, draw: Draw, row: NewRow): Promise<ServiceRow> {
  const { provider, now } = row
  await refuseSuspendedNow(t, provider.id)
  const table = t.table(services)
  const held =
    (await table.count('provider', [provider.id, 'active'])) +
    (await table.count('provider', [provider.id, 'inactive']))
  if (held >= MAX_LISTINGS) {
    throw new AppError('conflict', `A provider can have at most ${MAX_LISTINGS} listings: remove one first.`)
  }
  const { fulfillment_type } = row.fields
  const url = endpointUrl(row.fields, provider)
  const live = await untried(t, { provider_id: provider.id, fulfillment_type }, { url, now })
  const service = await table.insert(listingDraft(draw, row, live))
  await refreshDirectory(t, provider.id)
  await announceOffer(t, draw, { type: 'service.created', offer: service, at: now })
  return service
}

/** Replaces a listing that this transaction has locked, and writes its provider's directory entry and its event. */
export async function putListing(t: Tx, draw: Draw, service: ServiceRow): Promise<ServiceRow> {
  const written = await t.table(services).put(service)
  await refreshDirectory(t, service.provider_id)
  const type = service.status === 'deleted' ? 'service.deleted' : 'service.updated'
  await announceOffer(t, draw, { type, offer: service })
  return written
}

type Offer = Pick<ServiceRow, 'id' | 'provider_id' | 'name' | 'updated_at'> & { readonly status: string }

/** Emits an event about a service, plan or product to its provider. */
export async function announceOffer(
  t: Tx,
  draw: Draw,
  { type, offer, at = offer.updated_at }: { readonly type: EventType; readonly offer: Offer; readonly at?: number },
): Promise<void> {
  const { id, provider_id: participantId, name, status } = offer
  const kind = type.slice(0, type.indexOf('.'))
  await emit(t, draw, { type, participantId, subject: { kind, id }, data: { name, status }, at })
}

type WithEndpoint = Pick<ParticipantRow, 'webhook_url'>

/** Endpoint of a listing: its own, else its provider's; null if there is none. */
export function endpointUrl(listing: Pick<ServiceRow, 'webhook_url'>, provider: WithEndpoint): string | null {
  return listing.webhook_url ?? provider.webhook_url
}

/** Webhook status of a listing. Rows of earlier versions only have `webhook_healthy`. */
export function webhookStatusOf(service: ServiceRow, provider: WithEndpoint): WebhookStatus {
  if (service.webhook_status !== undefined) return service.webhook_status
  if (service.webhook_healthy) return 'healthy'
  return endpointUrl(service, provider) === null ? 'not_tried' : 'failing'
}

export type Liveness = Pick<ServiceRow, 'webhook_healthy' | 'webhook_status' | 'probe_at' | 'probing'>

/** Row members for a webhook status. `probeAt` is the business time at which a test message is due. */
export function liveness(status: WebhookStatus, probeAt?: number): Liveness {
  return {
    webhook_healthy: status === 'healthy' || status === 'polling',
    webhook_status: status,
    ...(probeAt === undefined ? {} : { probe_at: probeAt, probing: true }),
  }
}

export function withLiveness<R extends Liveness>({ probe_at: _, probing: __, ...rest }: R, next: Liveness) {
  return { ...rest, ...next }
}

type Polled = Pick<ServiceRow, 'provider_id' | 'fulfillment_type'>

/** Status of a listing without an endpoint, from its provider's polling. Instant listings need an endpoint. */
export async function pollingStatus(t: ReadTx, { provider_id, fulfillment_type }: Polled): Promise<WebhookStatus> {
  const poll = fulfillment_type === 'instant' ? undefined : await t.table(polls).get(provider_id)
  if (!poll) return 'not_tried'
  return poll.live ? 'polling' : 'failing'
}

/** Status of an endpoint that was never called. A test message is due now. */
export async function untried(
  t: ReadTx,
  listing: Polled,
  { url, now }: { readonly url: string | null; readonly now: number },
): Promise<Liveness> {
  return url === null ? liveness(await pollingStatus(t, listing)) : liveness('not_tried', now)
}
