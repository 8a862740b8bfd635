import { HOUR_MS } from '../../../src/core/time.ts'
import { participants } from '../../kernel/rows.ts'
import type { ReadTx, Tx } from '../../store/port.ts'
import { endpointUrl, type Liveness, liveness, pollingStatus, untried, withLiveness } from '../listings/liveness.ts'
import { type ServiceRow, services } from '../listings/rows.ts'
import { MAX_LISTINGS } from '../listings/write.ts'
import { deliveries } from './rows.ts'

/** How far back a listing's `webhook_healthy` looks at most. */
const JUDGED_DELIVERIES = 5
/** After a failure an endpoint is asked again when this much business time has passed (decisions §7). */
export const PROBE_AFTER_MS = HOUR_MS
/** `type` of the message that only asks whether somebody is there. */
export const TEST_TYPE = 'test'

/**
 * Computes `webhook_healthy` anew: something was taken there, and of the last deliveries tried none had a failure as
 * its last try, but that a test message that was taken makes good what was before it; what an earlier endpoint did is
 * forgotten. Without an endpoint its provider's polling counts. The row is written only when that changes.
 */
export async function updateHealth(t: Tx, serviceId: string, now: number): Promise<void> {
  const service = await t.table(services).getForUpdate(serviceId)
  const provider = service && (await t.table(participants).get(service.provider_id))
  if (!service || !provider || service.first_party_slug !== null) return
  await put(t, service, await judged(t, service, { url: endpointUrl(service, provider), now }))
}

type At = { readonly url: string | null; readonly now: number }

async function judged(t: ReadTx, service: ServiceRow, { url, now }: At): Promise<Liveness> {
  if (url === null) return liveness(await pollingStatus(t, service.provider_id))
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

/** Listings whose messages go where their provider's do. */
const followed = ['active', 'inactive', 'suspended'] as const

async function sharing(t: ReadTx, providerId: string): Promise<ServiceRow[]> {
  const pages = followed.map((status) =>
    t.table(services).page('provider', [providerId, status], { limit: MAX_LISTINGS }),
  )
  return (await Promise.all(pages)).flatMap(({ rows }) => rows).filter(({ webhook_url }) => webhook_url === null)
}

/** The same for every listing of a provider that has no endpoint of its own. */
export async function updateHealthOfAll(t: Tx, providerId: string, now: number): Promise<void> {
  for (const service of await sharing(t, providerId)) await updateHealth(t, service.id, now)
}

/** The endpoint that a provider's listings share has changed: nothing was sent there yet. */
export async function forgetHealthOfAll(t: Tx, providerId: string, now: number): Promise<void> {
  const provider = await t.table(participants).get(providerId)
  if (!provider) return
  const next = await untried(t, { url: provider.webhook_url, providerId, now })
  for (const { id } of await sharing(t, providerId)) {
    const service = await t.table(services).getForUpdate(id)
    if (service && service.first_party_slug === null) await put(t, service, next)
  }
}
