import type { Context } from '../../kernel/context.ts'
import { web } from '../../kernel/web.ts'
import { deliverNow } from './direct.ts'
import { TEST_TYPE } from './health.ts'
import { readsOwnHeader } from './own-header.ts'
import type { WebhookEndpoint } from './queue.ts'
import type { SentAttempt } from './send.ts'

type Test = Pick<Parameters<typeof deliverNow>[1], 'now' | 'signal' | 'begin'> & {
  readonly serviceId: string
  readonly endpoint: WebhookEndpoint
}

/** Sends `{test: true, service_id}`, signed like every other message. @throws WebError `aborted` after an abort. */
export function sendTest(ctx: Context, { serviceId, endpoint, ...how }: Test): Promise<SentAttempt> {
  return deliverNow(
    { ...ctx, web: web.of(ctx), ownHeaderOf: readsOwnHeader(ctx) },
    {
      participantId: endpoint.owner.id,
      serviceId,
      endpoint,
      type: TEST_TYPE,
      data: { test: true, service_id: serviceId },
      ...how,
    },
  )
}
