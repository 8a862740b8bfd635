import { z } from 'zod'
import type { api } from '../../src/api/index.ts'
import { AppError, notFound } from '../../src/core/error.ts'
import { formatAmount, parseAmount, type Usdc } from '../../src/core/money.ts'
import type { JobRow } from '../../src/model/job.ts'
import { JsonObject, type ServiceRow } from '../../src/model/service.ts'
import type { Deed, PaidHandler, PayCtx } from '../handler.ts'
import { hashSecret } from '../hash-secret.ts'
import { splitOf } from '../listing-view.ts'
import { postings } from '../rules/books.ts'
import { compileInputSchema, unwrapBrief } from '../rules/input-schema.ts'
import { participants, services } from '../store/collections.ts'
import type { Draw } from '../store/draw.ts'
import { emit } from '../store/event-log.ts'
import { insertJob, insertThread } from '../store/parties.ts'
import type { Draft, ReadTx, Tx } from '../store/port.ts'
import type { World } from '../world.ts'

type Row = typeof api.purchaseService

const ACCESS_TOKEN_BYTES = 32

/** What was quoted, frozen in the payment row. */
const Terms = z.strictObject({ service_id: z.string(), net: z.string(), fee: z.string() })
/** What an instant run leaves to be paid for. */
const Outcome = z.strictObject({ input: JsonObject, result: z.json() })

/** Purchase of a listing (decisions §8): instant services run first and settle only on success. */
export const purchaseService: PaidHandler<Row> = {
  async quote({ params, body }, { world }) {
    const service = await activeService(world, params.id)
    const prices = splitOf(service)
    if (service.pricing_model === 'quote_required' || !prices) {
      throw new AppError('quote_required', 'This service has no fixed price: ask for one.', {
        extra: { inquire: `POST /v1/services/${service.id}/inquire` },
      })
    }
    refuseUnfulfilled(world, service)
    if (body) checkedInput(service, body)
    return {
      price: prices.agent,
      settle: service.fulfillment_type === 'instant' ? 'last' : 'first',
      description: service.name,
      inputSchema: service.input_schema,
      terms: { service_id: service.id, net: formatAmount(prices.net), fee: formatAmount(prices.fee) },
    }
  },

  async check({ params }, { world, payer }) {
    const service = await activeService(world, params.id)
    const provider = await world.store.table(participants).get(service.provider_id)
    if (provider?.wallet === payer.wallet) throw new AppError('conflict', 'A provider cannot buy its own service.')
  },

  async work({ params, body }, ctx) {
    const service = await activeService(ctx.world, params.id)
    const input = checkedInput(service, body)
    return { input, result: await runInstant(service, input, ctx) }
  },

  async effect(t, draw, deed) {
    const sale = await readSale(t, deed)
    const token = deed.payer.participant ? undefined : accessToken(draw)
    const hash = token === undefined ? null : hashSecret(token)
    const job = await insertJob(t, { ...completedJob(draw, deed, sale), access_token_hash: hash })
    await insertThread(t, threadOf(job, deed.now))
    await announce(t, draw, job)
    return {
      kind: 'instant_sale',
      ref: { kind: 'job', id: job.id },
      legs: postings.instantSale({ source: deed.source, providerId: sale.service.provider_id, ...sale }),
      answer: {
        job_id: job.id,
        thread_id: job.thread_id,
        status: 'completed',
        service_id: job.service_id,
        result: sale.outcome.result,
        deliverables: [sale.outcome.result],
        amount: job.amount,
        receipt_id: job.receipt_id,
        ...(token ? { access_token: token } : {}),
      },
    }
  },
}

async function activeService(world: World, id: string): Promise<ServiceRow> {
  const service = await world.store.table(services).get(id)
  if (service?.status !== 'active') throw notFound('The service')
  return service
}

/** A listing that nothing fulfils refuses before the 402. */
function refuseUnfulfilled(world: World, service: ServiceRow): void {
  const slug = service.first_party_slug
  if (service.fulfillment_type === 'instant' && slug !== null && world.firstParty(slug)) return
  throw new AppError('unavailable', 'Nothing fulfils this service at the moment.', { retryAfter: 60 })
}

/** @throws AppError 400 with the paths at fault; the fields of `input_schema` stand at the root or under `brief`. */
function checkedInput(service: ServiceRow, body: JsonObject): JsonObject {
  const checked = compileInputSchema(service.input_schema).validate(unwrapBrief(service.input_schema, body))
  if (checked.ok) return checked.value as JsonObject // an object by its schema
  const first = checked.details[0]
  throw new AppError('input_invalid', `${first?.path || 'The input'}: ${first?.message ?? 'is not valid'}`, {
    details: checked.details,
  })
}

async function runInstant(service: ServiceRow, input: JsonObject, { world, signal }: PayCtx) {
  const own = service.first_party_slug === null ? undefined : world.firstParty(service.first_party_slug)
  if (!own) throw new AppError('unavailable', 'Nothing fulfils this service at the moment.', { retryAfter: 60 })
  return own.run(input, signal)
}

type Sale = {
  readonly service: ServiceRow
  readonly outcome: z.infer<typeof Outcome>
  readonly split: { readonly agent: Usdc; readonly net: Usdc; readonly fee: Usdc }
  readonly referrers: { readonly buyer: string | null; readonly provider: string | null }
}

/** What was sold, from the frozen terms: a listing that changed meanwhile changes nothing. */
async function readSale(t: ReadTx, deed: Deed<Row>): Promise<Sale> {
  const terms = Terms.parse(deed.payment.terms)
  const service = await t.table(services).get(terms.service_id)
  if (!service) throw notFound('The service')
  const provider = await t.table(participants).get(service.provider_id)
  return {
    service,
    outcome: Outcome.parse(deed.outcome),
    split: {
      agent: deed.payment.price,
      net: parseAmount(terms.net) as Usdc, // formatted by quote
      fee: parseAmount(terms.fee) as Usdc, // formatted by quote
    },
    referrers: { buyer: deed.payer.participant?.referred_by ?? null, provider: provider?.referred_by ?? null },
  }
}

function completedJob(draw: Draw, deed: Deed<Row>, { service, outcome, split }: Sale): Draft<JobRow> {
  const { payment, payer, now } = deed
  return {
    id: draw.id('job'),
    service_id: service.id,
    service_name: service.name,
    buyer_wallet: payer.wallet,
    buyer_id: payer.participant?.id ?? null,
    provider_id: service.provider_id,
    thread_id: draw.id('thread'),
    posting_id: null,
    receipt_id: payment.receipt_id,
    payment_id: payment.id,
    payment_method: payment.method,
    transaction: payment.transaction,
    status: 'completed',
    input: outcome.input,
    deliverables: [outcome.result],
    notes: '',
    amount: split.agent,
    fee: split.fee,
    provider_amount: split.net,
    escrow_status: 'none',
    held_at: null,
    next_event: null,
    next_event_at: null,
    access_token_hash: null,
    timeline: [
      { at: payment.created_at, event: 'paid', detail: `${formatAmount(split.agent)} USDC by ${payment.method}` },
      { at: now, event: 'completed', detail: 'delivered at once' },
    ],
    created_at: now,
    dispatched_at: now,
    completed_at: now,
    deadline_at: null,
  }
}

function threadOf(job: JobRow, now: number) {
  return {
    id: job.thread_id,
    service_id: job.service_id,
    buyer_wallet: job.buyer_wallet,
    agent_id: job.buyer_id,
    provider_id: job.provider_id,
    job_id: job.id,
    status: 'completed' as const,
    proposal: null,
    message_count: 0,
    created_at: now,
    updated_at: now,
  }
}

function accessToken(draw: Draw): string {
  return `jt_${draw.bytes(ACCESS_TOKEN_BYTES).toString('hex')}`
}

/** Both parties hear of it: the buyer where it is registered, and the provider. */
async function announce(t: Tx, draw: Draw, job: JobRow): Promise<void> {
  const data = { service_id: job.service_id, status: job.status, amount: formatAmount(job.amount) }
  const subject = { kind: 'job', id: job.id }
  const owners = job.buyer_id === null ? [job.provider_id] : [job.provider_id, job.buyer_id]
  for (const participantId of owners) {
    await emit(t, draw, { type: 'job.completed', participantId, subject, data, at: job.created_at })
  }
}
