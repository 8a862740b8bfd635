import type { api } from '../../../src/api/index.ts'
import { notFound } from '../../../src/core/error.ts'
import { DEFAULT_PAGE } from '../../../src/core/limits.ts'
import { type DeliveryState, deliveryStates } from '../../../src/model/delivery.ts'
import type { FreeHandler } from '../../endpoint/handler.ts'
import { deliveries, services } from '../../store/collections.ts'
import { commit } from '../../store/draw.ts'
import { offsetPage, type Slice } from '../../store/offset-page.ts'
import type { ReadTx } from '../../store/port.ts'
import { notYours } from '../jobs/access.ts'
import { noteTested } from '../reputation/trust.ts'
import { deliverNow } from './direct.ts'
import { endpointOf, replay } from './queue.ts'
import { deliveryView } from './view.ts'

const NO_ENDPOINT = 'There is no endpoint: set a webhook_url on the listing or on your profile.'

/** Sends `{test: true, service_id}` to the endpoint of a listing, signed like every other message (decisions §7). */
export const testService: FreeHandler<typeof api.testService> = async ({ params }, { world, caller, now, signal }) => {
  const service = await world.store.table(services).get(params.id)
  if (!service || service.status === 'deleted') throw notFound('The service')
  if (service.provider_id !== caller.id) throw notYours('The service')
  const to = { participantId: caller.id, serviceId: service.id }
  const endpoint = await world.store.read((t) => endpointOf(t, to))
  if (!endpoint) {
    return {
      delivered: false,
      status: null,
      latency_ms: 0,
      signature_headers: {},
      response_excerpt: '',
      error: NO_ENDPOINT,
    }
  }
  const data = { test: true, service_id: service.id }
  const sent = await deliverNow(world, { ...to, endpoint, type: 'test', data, now, signal: signal() })
  if (sent.ok) await commit(world, (t) => noteTested(t, caller.id, now))
  return {
    delivered: sent.ok,
    status: sent.status,
    latency_ms: sent.latencyMs,
    signature_headers: sent.signatureHeaders,
    response_excerpt: sent.excerpt,
    ...(sent.error === null ? {} : { error: sent.error }),
  }
}

export const listDeliveries: FreeHandler<typeof api.listDeliveries> = async ({ query }, { world, caller }) =>
  world.store.read((t) => listed(t, { ...query, participant: caller.id }))

export const replayDelivery: FreeHandler<typeof api.replayDelivery> = async ({ params }, { world, caller, now }) =>
  deliveryView(await commit(world, (t) => replay(t, params.id, { owner: caller.id, now })))

export const getWebhooks: FreeHandler<typeof api.getWebhooks> = async ({ query }, { world }) =>
  world.store.read(async (t) => {
    const states = deliveryStates.map(
      async (state) => [state, await t.table(deliveries).count('state', [state])] as const,
    )
    const counts = Object.fromEntries(await Promise.all(states)) as Record<DeliveryState, number> // one for each state
    return { ...(await listed(t, query)), counts }
  })

type Wanted = {
  readonly status?: DeliveryState | undefined
  readonly participant?: string | undefined
  readonly limit?: number | undefined
  readonly offset?: number | undefined
}

async function listed(t: ReadTx, { limit = DEFAULT_PAGE, offset = 0, ...wanted }: Wanted) {
  const { rows, total } = await offsetPage(t.table(deliveries), { ...indexOf(wanted), limit, offset })
  return { deliveries: rows.map(deliveryView), total, limit, offset }
}

function indexOf({ status, participant }: Wanted): Pick<Slice, 'index' | 'prefix'> {
  if (participant === undefined)
    return status === undefined ? { index: 'newest', prefix: [] } : { index: 'state', prefix: [status] }
  return status === undefined
    ? { index: 'own', prefix: [participant] }
    : { index: 'own_state', prefix: [participant, status] }
}
