import type { WebhookStatus } from '../../../src/model/service.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import type { ReadTx } from '../../store/port.ts'
import { polls, type ServiceRow } from './rows.ts'

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
