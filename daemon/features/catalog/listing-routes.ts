import type { listingsApi } from '../../../src/api/sections/services.ts'
import { notFound } from '../../../src/core/error.ts'
import type { FreeHandler, FreeHandlers } from '../../endpoint/handler.ts'
import { schemas } from '../../engines/schemas.ts'
import { refuseSuspendedNow } from '../../kernel/participant.ts'
import { notYours } from '../../kernel/parties.ts'
import { type ParticipantRow, participants } from '../../kernel/rows.ts'
import { refuseUnsendable } from '../../kernel/web.ts'
import { commit } from '../../store/draw.ts'
import type { Tx } from '../../store/port.ts'
import { changedListing, readListing } from '../listings/input.ts'
import { endpointUrl, untried, withLiveness } from '../listings/liveness.ts'
import { type ServiceRow, services } from '../listings/rows.ts'
import { editedListing } from '../listings/versions.ts'
import { addListing, putListing } from '../listings/write.ts'
import { refuseCovered } from '../subscriptions/coverage.ts'
import { refuseBrokenPromise } from './listing-kind.ts'
import { ownListingView } from './view.ts'

const createService: FreeHandler<typeof listingsApi.createService> = async ({ body }, { ctx, caller, now }) => {
  refuseUnsendable(ctx, body.webhook_url)
  await schemas.of(ctx).refuseBroken(body, { who: caller.id })
  const fields = readListing(body)
  const row = await commit(ctx, (t, draw) => addListing(t, draw, { provider: caller, fields, now }))
  return ownListingView(ctx.store, { service: row, provider: caller, now, baseUrl: ctx.baseUrl() })
}

const updateService: FreeHandler<typeof listingsApi.updateService> = async (
  { params, body },
  { ctx, caller, now, wall },
) => {
  refuseUnsendable(ctx, body.webhook_url)
  await schemas.of(ctx).refuseBroken(body, { who: caller.id })
  const row = await commit(ctx, async (t, draw) => {
    await refuseSuspendedNow(t, caller.id)
    const locked = await ownListing(t, params.id, caller)
    const wanted = { ...changedListing(locked, body), updated_at: now }
    await refuseBrokenPromise(t, { held: locked, changed: wanted, now, wall })
    const changed = editedListing(locked, wanted, wall)
    return putListing(t, draw, await followedEndpoint(t, { held: locked, changed, now }))
  })
  return ownListingView(ctx.store, { service: row, provider: caller, now, baseUrl: ctx.baseUrl() })
}

type Edit = { readonly held: ServiceRow; readonly changed: ServiceRow; readonly now: number }

/** The changed listing. A new endpoint starts without health history. */
async function followedEndpoint(t: Tx, { held, changed, now }: Edit): Promise<ServiceRow> {
  const provider = await t.table(participants).get(held.provider_id)
  if (!provider) throw new Error(`listing ${held.id} has no provider`)
  const url = endpointUrl(changed, provider)
  const isSame = url === endpointUrl(held, provider) && changed.fulfillment_type === held.fulfillment_type
  return isSame ? changed : withLiveness(changed, await untried(t, changed, { url, now }))
}

/** The row stays with status `deleted`, because jobs and receipts refer to it. */
const deleteService: FreeHandler<typeof listingsApi.deleteService> = async ({ params }, { ctx, caller, now }) => {
  await commit(ctx, async (t, draw) => {
    const locked = await ownListing(t, params.id, caller)
    await refuseCovered(t, { id: locked.id, now }, 'be removed')
    await putListing(t, draw, { ...locked, status: 'deleted', updated_at: now })
  })
  return { id: params.id, service_id: params.id, deleted: true }
}

/** Locks a listing of the caller. @throws AppError 404 if there is no such listing, 403 if another provider owns it. */
async function ownListing(t: Tx, id: string, caller: ParticipantRow): Promise<ServiceRow> {
  const row = await t.table(services).getForUpdate(id)
  if (!row || row.status === 'deleted') throw notFound('The service')
  if (row.provider_id !== caller.id) throw notYours('The service')
  return row
}

export const listingRoutes: FreeHandlers<typeof listingsApi> = { createService, updateService, deleteService }
