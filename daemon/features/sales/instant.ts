import { z } from 'zod'
import { JobUpdate } from '../../../src/api/sections/jobs.ts'
import { AppError } from '../../../src/core/error.ts'
import type { JsonObject } from '../../../src/model/service.ts'
import { checkJson, refuseCostly } from '../../endpoint/json.ts'
import { firstParty } from '../../engines/first-party.ts'
import { schemas } from '../../engines/schemas.ts'
import type { Context } from '../../kernel/context.ts'
import { web } from '../../kernel/web.ts'
import { drawFrom } from '../../store/draw.ts'
import { reportOf } from '../jobs/report.ts'
import type { ServiceRow } from '../listings/rows.ts'
import type { Begin, PayCall } from '../payments/seller.ts'
import { deliverNow } from '../webhooks/direct.ts'
import { readsOwnHeader } from '../webhooks/own-header.ts'
import { endpointOf } from '../webhooks/queue.ts'
import type { SentAttempt } from '../webhooks/send.ts'

type Json = z.core.util.JSONType
/** Result of an instant run, with the ids of job and conversation if the provider has received them. */
type Run = { readonly result: Json; readonly ids?: { readonly job: string; readonly thread: string } }

const SEED_BYTES = 32

/** Whether the listing has an endpoint for its jobs: one of its own, or its provider's. */
export async function hasEndpoint(ctx: Context, service: ServiceRow): Promise<boolean> {
  return (await endpointFor(ctx, service)) !== undefined
}

function endpointFor(ctx: Context, service: ServiceRow) {
  const asked = { participantId: service.provider_id, serviceId: service.id }
  return ctx.store.read((t) => endpointOf(t, asked))
}

/** Record of a started call to a provider, stored with the payment. */
export const Begun = z.strictObject({
  service_id: z.string(),
  job_id: z.string(),
  thread_id: z.string(),
  delivery_id: z.string(),
})

type Running = PayCall & { readonly begin: Begin }

type InstantSale = { readonly service: ServiceRow; readonly input: JsonObject; readonly schema: JsonObject }

/** Runs an instant service for a purchase. Nothing was charged if it throws. */
export async function runInstant(sale: InstantSale, call: Running): Promise<Run> {
  const { service, input } = sale
  const slug = service.first_party_slug
  if (slug === null) return callProvider(sale, call)
  const own = firstParty.of(call.ctx)(slug)
  if (!own) throw unfulfilled()
  return { result: await own.run(input, call.signal(), { who: call.payer.wallet, id: call.begin.paymentId }) }
}

export function unfulfilled(): AppError {
  return new AppError('unavailable', 'This service is temporarily unavailable.', { retryAfter: 60 })
}

/** Calls the provider while the buyer waits. Its response is due in 30 s and must fit the schema (decisions §10). */
async function callProvider(sale: InstantSale, call: Running): Promise<Run> {
  const { service, input, schema } = sale
  const { ctx, now, begin } = call
  const endpoint = await endpointFor(ctx, service)
  if (!endpoint) throw unfulfilled()
  const draw = drawFrom(ctx.entropy(SEED_BYTES))
  const ids = { job: draw.id('job'), thread: draw.id('thread') }
  const waiting = untilStopped(call)
  const sent = await deliverNow(
    { ...ctx, web: web.of(ctx), ownHeaderOf: readsOwnHeader(ctx) },
    {
      endpoint,
      signal: waiting.signal,
      begin: (write) =>
        begin(async (t, draw) => {
          const { id: delivery_id } = await write(t, draw)
          return { service_id: service.id, job_id: ids.job, thread_id: ids.thread, delivery_id }
        }),
      participantId: service.provider_id,
      serviceId: service.id,
      jobId: ids.job,
      type: 'job_dispatch',
      data: {
        job_id: ids.job,
        service_id: service.id,
        service_name: service.name,
        brief: input,
        callback_url: `${ctx.baseUrl()}/v1/threads/${ids.thread}/update`,
        thread_id: ids.thread,
      },
      now,
    },
  ).finally(waiting.end)
  return { result: await resultOf({ ctx, service, schema }, sent), ids }
}

/**
 * Work that a provider has started is completed and paid even if the buyer disconnects. It is aborted only if the buyer
 * has disconnected and the daemon also stops.
 */
function untilStopped({ ctx, signal }: PayCall): { readonly signal: AbortSignal; readonly end: () => void } {
  const controller = new AbortController()
  const buyer = signal()
  const giveUp = () => {
    if (buyer.aborted && ctx.stopping.aborted) controller.abort()
  }
  buyer.addEventListener('abort', giveUp)
  ctx.stopping.addEventListener('abort', giveUp)
  giveUp()
  return {
    signal: controller.signal,
    end: () => {
      buyer.removeEventListener('abort', giveUp)
      ctx.stopping.removeEventListener('abort', giveUp)
    },
  }
}

type Promised = { readonly ctx: Context; readonly service: ServiceRow; readonly schema: JsonObject }

/** Result in a response: `deliverables` of a completed report, or a bare result. @throws AppError 502 without one */
async function resultOf({ ctx, service, schema }: Promised, sent: SentAttempt): Promise<Json> {
  if (!sent.ok) throw failed(sent.error ?? 'it did not answer')
  const answer = parsed(sent.answer)
  const update = JobUpdate.safeParse(answer)
  const report = update.success ? reportOf(update.data) : { status: 'completed', deliverable: answer, notes: undefined }
  if (report.status !== 'completed') throw failed(report.notes ?? `it returned status ${report.status}`)
  const given = { value: report.deliverable ?? null }
  const checked = await schemas.of(ctx).checkDeliverable(schema, given, { who: service.provider_id })
  if (checked.ok) return checked.value as Json // parsed JSON
  const [first] = checked.details
  throw failed(`its delivery does not match the listing’s schema: ${first?.path || 'it'} ${first?.message}`)
}

function parsed(body: Buffer): unknown {
  try {
    refuseCostly(body)
    const answer: unknown = JSON.parse(body.toString('utf8'))
    checkJson(answer)
    return answer
  } catch (error) {
    if (error instanceof SyntaxError) throw failed('its response is not JSON')
    if (error instanceof AppError) throw failed(`its response was rejected: ${error.message}`)
    throw error
  }
}

function failed(why: string): AppError {
  return new AppError('provider_failed', `The provider failed, and nothing was charged: ${why}.`)
}
