import { participants } from '../../kernel/rows.ts'
import type { Tx } from '../../store/port.ts'
import { services } from '../listings/rows.ts'
import { hasEndpoint, MAX_LISTINGS } from '../listings/write.ts'
import { deliveries } from './rows.ts'

/** How far back a listing's `webhook_healthy` looks (decisions §7). */
const JUDGED_DELIVERIES = 5

/**
 * Computes `webhook_healthy` anew: there is an endpoint, and of the last deliveries tried none had a failure as its
 * last try there; what an earlier endpoint did is forgotten. The row is written only when that changes.
 */
export async function updateHealth(t: Tx, serviceId: string): Promise<void> {
  const service = await t.table(services).getForUpdate(serviceId)
  const provider = service && (await t.table(participants).get(service.provider_id))
  if (!service || !provider || service.first_party_slug !== null) return
  const last = await t.table(deliveries).page('tried', [serviceId], { limit: JUDGED_DELIVERIES })
  const url = service.webhook_url ?? provider.webhook_url
  const isFailing = last.rows.some((row) => row.url === url && row.attempts.at(-1)?.error !== null)
  const healthy = hasEndpoint(service, provider) && !isFailing
  if (healthy !== service.webhook_healthy) await t.table(services).put({ ...service, webhook_healthy: healthy })
}

/** The same for every active listing of a provider, whose shared endpoint has changed. */
export async function updateHealthOfAll(t: Tx, providerId: string): Promise<void> {
  const active = await t.table(services).page('provider', [providerId, 'active'], { limit: MAX_LISTINGS })
  for (const service of active.rows) await updateHealth(t, service.id)
}
