import { AppError } from '../../../src/core/error.ts'
import type { EventType } from '../../../src/model/event-types.ts'
import { emit } from '../../events/event-log.ts'
import { refuseSuspendedNow } from '../../kernel/participant.ts'
import { type ParticipantRow, participants } from '../../kernel/rows.ts'
import type { Draw } from '../../store/draw.ts'
import type { Draft, ReadTx, Tx } from '../../store/port.ts'
import type { ListingFields } from './input.ts'
import { endpointUrl, type Liveness, untried } from './liveness.ts'
import { type ServiceRow, services } from './rows.ts'

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
