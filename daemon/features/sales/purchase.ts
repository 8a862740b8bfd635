import { z } from 'zod'
import type { api } from '../../../src/api/index.ts'
import { JobUpdate } from '../../../src/api/sections/jobs.ts'
import { AppError, existing, notFound } from '../../../src/core/error.ts'
import { amountOf, formatAmount, ZERO } from '../../../src/core/money.ts'
import { compact } from '../../../src/core/record.ts'
import { type JsonObject, KnownJson, KnownJsonObject, SaleTerms } from '../../../src/model/service.ts'
import { checkJson, refuseCostly } from '../../endpoint/json.ts'
import { firstParty } from '../../engines/first-party.ts'
import { schemas } from '../../engines/schemas.ts'
import type { Context } from '../../kernel/context.ts'
import { participants, refuseSuspendedProvider } from '../../kernel/rows.ts'
import { web } from '../../kernel/web.ts'
import { drawFrom } from '../../store/draw.ts'
import type { Draw, ReadTx, Tx } from '../../store/port.ts'
import { escrowPausedAt, refuseEscrowPaused } from '../jobs/buyer.ts'
import { tellUnpaid } from '../jobs/notify.ts'
import { type JobOrder, openEscrowJob, openInstantJob } from '../jobs/open.ts'
import { reportOf } from '../jobs/report.ts'
import { legsOf, type Split } from '../ledger/legs.ts'
import type { Tender } from '../listings/quote-window.ts'
import { type ServiceRow, services } from '../listings/rows.ts'
import { coveredTerms, type ListingOffer, listingOffer, termsOf } from '../listings/versions.ts'
import type { Begin, Fulfilled, Fulfilment, PaidHandler, PayCall, Quote } from '../payments/seller.ts'
import { referrersOf } from '../referrals/referrals.ts'
import { coverOf } from '../subscriptions/coverage.ts'
import { markUnpaid } from '../webhooks/calls.ts'
import { deliverNow } from '../webhooks/direct.ts'
import { readsOwnHeader } from '../webhooks/own-header.ts'
import { endpointOf } from '../webhooks/queue.ts'
import type { SentAttempt } from '../webhooks/send.ts'

type Row = typeof api.purchaseService

/** Terms of a quote, stored in the payment row. */
const Terms = z.strictObject({
  service_id: z.string(),
  net: z.string(),
  fee: z.string(),
  /** Subscription that covers the purchase, if any. */
  subscription_id: z.string().exactOptional(),
  /** Old rows have no `sale`. Instant deliveries are checked before payment, so their schema is not stored. */
  sale: SaleTerms.extend({ deliverable_schema: KnownJsonObject.exactOptional() }).exactOptional(),
  /** Present only in payments that an earlier version left open. Now the payment's body has the input. */
  input: KnownJsonObject.optional(),
})
const InstantRun = z.strictObject({
  result: KnownJson,
  /** Ids of job and conversation, if they were sent to the provider. */
  ids: z.strictObject({ job: z.string(), thread: z.string() }).optional(),
})

/**
 * Purchase of a listing (decisions §8). Instant services run first and settle on success. All others settle first, into
 * escrow.
 */
export const purchaseService: PaidHandler<Row> = {
  async quote({ params, body }, { ctx, buyer, tender, now, wall }) {
    const service = await activeService(ctx, params.id)
    const asked = buyer && { wallet: buyer.wallet, serviceId: service.id, now }
    const cover = asked && (await ctx.store.read((t) => coverOf(t, asked)))
    const coveredBy = cover?.subscription.id
    const { split, terms } = cover
      ? { split: NOTHING, terms: cover.terms ?? coveredTerms(service, wall) }
      : fixedOffer(service, { tender, wall })
    await refuseUnfulfilled(ctx, service, terms)
    return {
      price: split.agent,
      ...(await settlementOf(ctx, terms, coveredBy)),
      ...compact({ coveredBy }),
      description: service.name,
      inputSchema: service.input_schema,
      delivers: terms.deliverable_schema,
      terms: {
        service_id: service.id,
        net: formatAmount(split.net),
        fee: formatAmount(split.fee),
        ...compact({ subscription_id: coveredBy }),
        sale: keptTerms(terms),
      },
      ...(body ? { body: await checkedInput(ctx, service, body) } : {}),
    }
  },

  async check({ params }, { ctx, payer, coveredBy, terms }) {
    const service = await activeService(ctx, params.id)
    const provider = await ctx.store.table(participants).get(service.provider_id)
    if (provider?.wallet === payer.wallet) throw new AppError('conflict', 'A provider cannot buy its own service.')
    await settlementOf(ctx, soldTerms(service, Terms.parse(terms)), coveredBy)
  },

  async run({ params, body }, call, begin) {
    const service = await activeService(call.ctx, params.id)
    const sale = {
      service,
      input: await checkedInput(call.ctx, service, body),
      schema: call.delivers ?? service.deliverable_schema,
    }
    return runInstant(sale, { ...call, begin })
  },

  async fulfil(t, draw, fulfilment) {
    const sale = await readSale(t, fulfilment)
    if (fulfilment.payment.settle === 'last') return sellInstant(t, draw, { fulfilment, sale })
    await refuseSuspendedProvider(t, sale.service.provider_id)
    return sellEscrowed(t, draw, { fulfilment, sale })
  },

  async onUnpaid(t, draw, { payment, now }) {
    if (payment.begun === undefined) return // our own service ran
    const { delivery_id, service_id, job_id } = Begun.parse(payment.begun)
    const isToHear = await markUnpaid(t, delivery_id, now)
    const service = await t.table(services).get(service_id)
    if (isToHear && service) await tellUnpaid(t, draw, { service, jobId: job_id, buyer: payment.payer, now })
  },
}

/** Price of a purchase that a subscription covers (decisions §5). */
const NOTHING: Split = { agent: ZERO, net: ZERO, fee: ZERO }

type Sold = Pick<ListingOffer, 'split' | 'terms'>

/** @throws AppError 409 `quote_required` with the endpoint that asks the provider for a quote */
function fixedOffer(service: ServiceRow, { tender, wall }: { tender: Tender; wall: number }): Sold {
  const offer = listingOffer(service, tender, wall)
  if (offer) return offer
  throw new AppError('quote_required', 'This service has no fixed price: ask the provider for a quote.', {
    extra: { inquire: `POST /v1/services/${service.id}/inquire` },
  })
}

async function activeService(ctx: Context, id: string): Promise<ServiceRow> {
  const service = await ctx.store.table(services).get(id)
  // A first-party listing is suspended while its engine is missing; see `syncFirstParty`.
  if (service?.status === 'suspended' && service.first_party_slug !== null) throw unfulfilled()
  if (service?.status !== 'active') throw notFound('The service')
  return service
}

/**
 * Refuses an unavailable listing before the 402. Only instant jobs need an endpoint, because a provider finds other
 * jobs in its events.
 */
async function refuseUnfulfilled(ctx: Context, service: ServiceRow, terms: SaleTerms): Promise<void> {
  const slug = service.first_party_slug
  const isFulfilled =
    slug === null ? terms.fulfillment_type !== 'instant' || (await hasEndpoint(ctx, service)) : isThere(ctx, slug)
  if (!isFulfilled) throw unfulfilled()
}

function isThere(ctx: Context, slug: string): boolean {
  const own = firstParty.of(ctx)(slug)
  return own !== undefined && (own.lacking?.() ?? []).length === 0
}

/** Decides when a purchase's money moves. @throws AppError 503 for a purchase into escrow while escrow is paused */
async function settlementOf(
  ctx: Context,
  terms: Pick<SaleTerms, 'fulfillment_type'>,
  coveredBy: string | undefined,
): Promise<Pick<Quote, 'settle' | 'escrow'>> {
  if (terms.fulfillment_type === 'instant') return { settle: 'last' }
  if (coveredBy !== undefined) return { settle: 'first' }
  refuseEscrowPaused(await ctx.store.read(escrowPausedAt))
  return { settle: 'first', escrow: true }
}

/** Reads the input from the root of the body, or from `brief`. @throws AppError 400 with the invalid paths */
async function checkedInput(ctx: Context, service: ServiceRow, body: JsonObject): Promise<JsonObject> {
  const input = await schemas.of(ctx).input(service.input_schema, body, { who: service.provider_id })
  if (service.first_party_slug !== null) firstParty.of(ctx)(service.first_party_slug)?.check?.(input)
  return input
}

function keptTerms(terms: SaleTerms) {
  if (terms.fulfillment_type !== 'instant') return terms
  const { deliverable_schema: _checkedAtOnce, ...kept } = terms
  return kept
}

function soldTerms(service: ServiceRow, { sale }: z.output<typeof Terms>): SaleTerms {
  return { ...termsOf(service), ...sale }
}

/** Service and order of a sale, for instant and asynchronous purchases. */
type Sale = { readonly service: ServiceRow; readonly order: JobOrder }

/** Reads the sale from the terms fixed in the payment, so that later changes of the listing have no effect. */
async function readSale(t: ReadTx, { payment, payer, input: { body }, now }: Fulfilment<Row>): Promise<Sale> {
  const terms = Terms.parse(payment.terms)
  const service = existing(await t.table(services).get(terms.service_id), 'The service')
  const split = { agent: payment.price, net: amountOf(terms.net), fee: amountOf(terms.fee) }
  const input = terms.input ?? body
  const subscriptionId = terms.subscription_id
  const sold = soldTerms(service, terms)
  return { service, order: { service, terms: sold, payer, payment, split, input, subscriptionId, now } }
}

type Selling = { readonly fulfilment: Fulfilment<Row>; readonly sale: Sale }

async function sellInstant(t: Tx, draw: Draw, { fulfilment, sale }: Selling): Promise<Fulfilled<Row>> {
  const { service, order } = sale
  const { result, ids } = InstantRun.parse(fulfilment.result)
  const { job, accessToken } = await openInstantJob(t, draw, { ...order, result, ids })
  const providerId = service.provider_id
  const referrers = await referrersOf(t, { buyer: { wallet: fulfilment.payer.wallet }, providerId })
  return {
    kind: 'instant_sale',
    ref: { kind: 'job', id: job.id },
    legs: legsOf.instantSale({ source: fulfilment.source, providerId, split: order.split, referrers }),
    answer: {
      job_id: job.id,
      thread_id: job.thread_id,
      status: 'completed',
      service_id: job.service_id,
      result,
      deliverables: [result],
      amount: job.amount,
      ...compact({ subscription_id: job.subscription_id }),
      receipt_id: job.receipt_id,
      ...(accessToken ? { access_token: accessToken } : {}),
    },
  }
}

async function sellEscrowed(t: Tx, draw: Draw, { fulfilment, sale }: Selling): Promise<Fulfilled<Row>> {
  const { order } = sale
  const { job, legs, accessToken } = await openEscrowJob(t, draw, {
    ...order,
    source: fulfilment.source,
    baseUrl: fulfilment.baseUrl,
  })
  return {
    kind: 'escrow_hold',
    ref: { kind: 'job', id: job.id },
    legs,
    answer: {
      job_id: job.id,
      thread_id: job.thread_id,
      status: 'dispatched',
      service_id: job.service_id,
      status_url: `${fulfilment.baseUrl}/v1/jobs/${job.id}`,
      amount: job.amount,
      ...compact({ subscription_id: job.subscription_id }),
      receipt_id: job.receipt_id,
      ...(accessToken ? { access_token: accessToken } : {}),
    },
  }
}

type Json = z.core.util.JSONType
/** Result of an instant run, with the ids of job and conversation if the provider has received them. */
type Run = { readonly result: Json; readonly ids?: { readonly job: string; readonly thread: string } }

const SEED_BYTES = 32

/** Whether the listing has an endpoint for its jobs: one of its own, or its provider's. */
async function hasEndpoint(ctx: Context, service: ServiceRow): Promise<boolean> {
  return (await endpointFor(ctx, service)) !== undefined
}

function endpointFor(ctx: Context, service: ServiceRow) {
  const asked = { participantId: service.provider_id, serviceId: service.id }
  return ctx.store.read((t) => endpointOf(t, asked))
}

/** Record of a started call to a provider, stored with the payment. */
const Begun = z.strictObject({
  service_id: z.string(),
  job_id: z.string(),
  thread_id: z.string(),
  delivery_id: z.string(),
})

type Running = PayCall & { readonly begin: Begin }

type InstantSale = { readonly service: ServiceRow; readonly input: JsonObject; readonly schema: JsonObject }

/** Runs an instant service for a purchase. Nothing was charged if it throws. */
async function runInstant(sale: InstantSale, call: Running): Promise<Run> {
  const { service, input } = sale
  const slug = service.first_party_slug
  if (slug === null) return callProvider(sale, call)
  const own = firstParty.of(call.ctx)(slug)
  if (!own) throw unfulfilled()
  return { result: await own.run(input, call.signal(), { who: call.payer.wallet, id: call.begin.paymentId }) }
}

function unfulfilled(): AppError {
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
