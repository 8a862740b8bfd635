import { HOUR_MS } from '../../../src/core/time.ts'
import { participants } from '../../kernel/rows.ts'
import type { ReadTx, Tx } from '../../store/port.ts'
import { type ServiceRow, services } from '../listings/rows.ts'
import {
  endpointUrl,
  type Liveness,
  liveness,
  MAX_LISTINGS,
  pollingStatus,
  untried,
  withLiveness,
} from '../listings/write.ts'
import { deliveries } from './rows.ts'

/** Deliveries considered for `webhook_healthy`. */
const JUDGED_DELIVERIES = 5
/** Business time between a failure and the next test of the endpoint (decisions §7). */
export const PROBE_AFTER_MS = HOUR_MS
/** `type` of a test message. */
export const TEST_TYPE = 'test'

/**
 * Recomputes a listing's webhook status. It is healthy if there was a delivery and none of the last ones failed.
 * Failures before a successful test, and deliveries to an earlier endpoint, do not count. Without an endpoint, the
 * provider's polling counts. Writes only on a change.
 */
export async function updateHealth(t: Tx, serviceId: string, now: number): Promise<void> {
  const service = await t.table(services).getForUpdate(serviceId)
  const provider = service && (await t.table(participants).get(service.provider_id))
  if (!service || !provider || service.first_party_slug !== null) return
  await put(t, service, await judged(t, service, { url: endpointUrl(service, provider), now }))
}

type At = { readonly url: string | null; readonly now: number }

async function judged(t: ReadTx, service: ServiceRow, { url, now }: At): Promise<Liveness> {
  if (url === null) return liveness(await pollingStatus(t, service))
  const last = await t.table(deliveries).page('tried', [service.id], { limit: JUDGED_DELIVERIES })
  const here = last.rows.filter((row) => row.url === url)
  if (here.length === 0) return liveness('not_tried', service.probe_at ?? now)
  const made = here.findIndex((row) => row.type === TEST_TYPE && row.attempts.at(-1)?.error === null)
  const counted = made === -1 ? here : here.slice(0, made)
  if (counted.every((row) => row.attempts.at(-1)?.error === null)) return liveness('healthy')
  return liveness('failing', service.probe_at ?? now + PROBE_AFTER_MS)
}

async function put(t: Tx, service: ServiceRow, next: Liveness): Promise<void> {
  if (next.webhook_status === service.webhook_status && next.probe_at === service.probe_at) return
  await t.table(services).put(withLiveness(service, next))
}

/** Listing states that use the provider's endpoint. */
const followed = ['active', 'inactive', 'suspended'] as const

async function sharing(t: ReadTx, providerId: string): Promise<ServiceRow[]> {
  const pages = followed.map((status) =>
    t.table(services).page('provider', [providerId, status], { limit: MAX_LISTINGS }),
  )
  return (await Promise.all(pages)).flatMap(({ rows }) => rows).filter(({ webhook_url }) => webhook_url === null)
}

/** Recomputes the webhook status of all listings that use their provider's endpoint. */
export async function updateHealthOfAll(t: Tx, providerId: string, now: number): Promise<void> {
  for (const service of await sharing(t, providerId)) await updateHealth(t, service.id, now)
}

/** Resets the webhook status of all listings that use their provider's endpoint, after this endpoint changed. */
export async function forgetHealthOfAll(t: Tx, providerId: string, now: number): Promise<void> {
  const provider = await t.table(participants).get(providerId)
  if (!provider) return
  const { webhook_url: url } = provider
  for (const { id } of await sharing(t, providerId)) {
    const service = await t.table(services).getForUpdate(id)
    if (service && service.first_party_slug === null) await put(t, service, await untried(t, service, { url, now }))
  }
}
