import type { serviceTestApi } from '../../../src/api/sections/webhooks.ts'
import { notFound } from '../../../src/core/error.ts'
import type { FreeHandler, FreeHandlers } from '../../endpoint/handler.ts'
import { notYours } from '../../kernel/parties.ts'
import { commit } from '../../store/draw.ts'
import { services } from '../listings/rows.ts'
import { noteTested } from '../reputation/routes.ts'
import { TEST_TYPE } from '../webhooks/health.ts'
import { endpointOf } from '../webhooks/queue.ts'
import type { SentAttempt } from '../webhooks/send.ts'
import { sendTest } from '../webhooks/test-message.ts'

const NO_ENDPOINT = 'No endpoint: set webhook_url on the listing or your profile.'

/** Sends `{test: true, service_id}` to a listing's endpoint, signed like every webhook message (decisions §7). */
const testService: FreeHandler<typeof serviceTestApi.testService> = async (
  { params },
  { ctx, caller, now, signal },
) => {
  const service = await ctx.store.table(services).get(params.id)
  if (!service || service.status === 'deleted') throw notFound('The service')
  if (service.provider_id !== caller.id) throw notYours('The service')
  const to = { participantId: caller.id, serviceId: service.id }
  const endpoint = await ctx.store.read((t) => endpointOf(t, to))
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
  const sent = await sendTest(ctx, { serviceId: service.id, endpoint, now, signal: signal() })
  if (sent.ok) await commit(ctx, (t) => noteTested(t, caller.id, now))
  return {
    delivered: sent.ok,
    status: sent.status,
    latency_ms: sent.latencyMs,
    signature_headers: sent.signatureHeaders,
    response_excerpt: sent.excerpt,
    ...(sent.error === null ? {} : { error: whyRefused(sent) }),
  }
}

/** Why the test failed. If the receiver rejected the message, also says what was sent and what to answer. */
function whyRefused({ error, status }: Pick<SentAttempt, 'error' | 'status'>): string {
  const isRefusal = status !== null && status >= 400 && status < 500
  if (!isRefusal) return error ?? ''
  return `${error}: your receiver rejected {"type": "${TEST_TYPE}", "test": true, "service_id": …}; answer 200 to this test message`
}

export const serviceTestRoutes: FreeHandlers<typeof serviceTestApi> = { testService }
