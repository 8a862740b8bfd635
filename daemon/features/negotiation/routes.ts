import { z } from 'zod'
import type { inquiryApi, negotiationApi } from '../../../src/api/sections/negotiation.ts'
import type { threadsApi } from '../../../src/api/sections/threads.ts'
import { AppError, existing, notFound } from '../../../src/core/error.ts'
import { jsonIn } from '../../../src/core/json.ts'
import { formatAmount, usdc } from '../../../src/core/money.ts'
import { parsePrice } from '../../../src/core/price.ts'
import { JsonObject } from '../../../src/model/service.ts'
import type { Proposal } from '../../../src/model/thread.ts'
import { unwrapBrief } from '../../../src/schema/schema.ts'
import type { FreeHandlers } from '../../endpoint/handler.ts'
import { transition } from '../../kernel/machine.ts'
import { notYours, ownRows, sideOf } from '../../kernel/parties.ts'
import { participants, refuseSuspendedProvider } from '../../kernel/rows.ts'
import { commit } from '../../store/draw.ts'
import type { Draw, ReadTx, Tx } from '../../store/port.ts'
import { threadById } from '../jobs/acts.ts'
import { escrowPausedAt, refuseEscrowPaused } from '../jobs/buyer.ts'
import { threadMachine } from '../jobs/machine.ts'
import { openEscrowJob } from '../jobs/open.ts'
import { threadSideOf } from '../jobs/routes.ts'
import { emitThread, negotiate, openThread, proposalFacts } from '../jobs/thread-step.ts'
import { jobSummary } from '../jobs/view.ts'
import { type ServiceRow, services } from '../listings/rows.ts'
import { fixedFee, type Handlers, type Payer } from '../payments/seller.ts'
import { addMessage, messageView, readMessages, refuseClosed, threadView } from '../threads/messages.ts'
import { messages, type ThreadRow, threadParties, threads } from '../threads/rows.ts'
import { enqueue } from '../webhooks/queue.ts'
import { acceptable, chosenProposal, promisedBy, proposalOf, replacedBy } from './proposals.ts'

export const threadRoutes: FreeHandlers<typeof threadsApi> = {
  listThreads: async ({ query }, { ctx, caller, now }) => {
    const own = { ...query, wallet: caller.wallet }
    const { rows, ...page } = await ctx.store.read((t) => ownRows(t, { parties: threadParties, rows: threads }, own))
    return { threads: rows.map((row) => threadView(row, now)), ...page }
  },

  getThread: async ({ params, query }, { ctx, caller, now }) =>
    ctx.store.read(async (t) => {
      const thread = existing(await t.table(threads).get(params.id), 'The thread')
      if (!(await threadSideOf(t, thread, { caller, now }))) throw notYours('The thread')
      return { ...threadView(thread, now), messages: (await readMessages(t, thread, query)).messages }
    }),

  postThreadMessage: async ({ params, body }, { ctx, caller, now }) =>
    commit(ctx, async (t, draw) => {
      const thread = existing(await t.table(threads).getForUpdate(params.id), 'The thread')
      const side = sideOf(thread, caller)
      if (!side) throw notYours('The thread')
      refuseClosed(thread)
      const said = { author_role: side, type: 'message' as const, body: body.message, now }
      return messageView((await addMessage(t, draw, { thread, message: said })).message)
    }),
}

const JSON_INDENT = 2

export const negotiationRoutes: Handlers<typeof inquiryApi & typeof negotiationApi> = {
  inquire: {
    async check({ params }, { ctx, payer }) {
      await ctx.store.read((t) => askable(t, params.id, payer))
    },

    async fulfil(t, draw, { input, payer, payment, source, baseUrl, now }) {
      const { service, agent } = await askable(t, input.params.id, payer)
      const thread = await openThread(t, {
        sides: {
          id: draw.id('thread'),
          service_id: service.id,
          buyer_wallet: payer.wallet,
          agent_id: agent.id,
          provider_id: service.provider_id,
        },
        now,
      })
      const { brief } = input.body
      const body = typeof brief === 'string' ? brief : JSON.stringify(brief, null, JSON_INDENT)
      const said = await addMessage(t, draw, { thread, message: { author_role: 'buyer', type: 'message', body, now } })
      await emitThread(t, draw, { type: 'thread.inquiry', thread: said.thread, at: now })
      const url = `${baseUrl}/v1/threads/${thread.id}`
      await enqueue(t, draw, {
        participantId: service.provider_id,
        serviceId: service.id,
        sender: thread.buyer_wallet,
        type: 'thread_inquiry',
        data: {
          thread_id: thread.id,
          service_id: service.id,
          service_name: service.name,
          agent_id: agent.id,
          agent_name: agent.name,
          brief,
          thread_url: url,
          propose_url: `${url}/propose`,
        },
        now,
      })
      return fixedFee(
        { payment, source },
        { kind: 'thread', id: thread.id },
        { ...threadView(said.thread, now), messages: [messageView(said.message)] },
      )
    },
  },

  /** Proposes a price, or replaces the proposal. */
  proposePrice: async ({ params, body }, call) => {
    const { ctx, caller, now, wall } = call
    const price = parsePrice(body.price)
    return commit(ctx, async (t, draw) => {
      const thread = await lockThread(t, params.id)
      if (thread.provider_id !== caller.id) throw notYours('The thread')
      transition(threadMachine, { event: 'propose', from: thread.status, by: 'provider' })
      refuseClosed(thread)
      const service = await serviceOf(t, thread)
      const proposed_at = Math.max(now, (thread.proposal?.proposed_at ?? 0) + 1)
      const proposal = proposalOf(service, { ...body, price, proposed_at })
      const previous = replacedBy(proposal, thread, { now, wall })
      const step = {
        event: 'propose',
        by: 'provider',
        proposal,
        previous,
        body: sentenceOf(proposal),
        at: now,
      } as const
      const changed = await negotiate(t, draw, { thread, step })
      await notifyBuyer(t, draw, { thread: changed, proposal, service, baseUrl: ctx.baseUrl(), now })
      return threadView(changed, now)
    })
  },

  acceptPrice: {
    async quote({ params, body }, { ctx, tender, now, wall }) {
      return ctx.store.read(async (t) => {
        const thread = await threadById(t, params.id)
        const proposal = chosenProposal(thread, { at: now, wall, tender, proposedAt: body?.proposed_at })
        await refuseSuspendedProvider(t, thread.provider_id)
        refuseEscrowPaused(await escrowPausedAt(t))
        const service = await serviceOf(t, thread)
        return {
          price: proposal.agent_price,
          settle: 'first',
          escrow: true,
          description: service.name,
          terms: { proposed_at: proposal.proposed_at, ...(body ? { input: await inputOf(t, thread, service) } : {}) },
        }
      })
    },

    async check({ params }, { ctx, payer, terms, now }) {
      await ctx.store.read(async (t) => {
        const thread = await threadById(t, params.id)
        registeredPayer(payer)
        if (thread.buyer_wallet !== payer.wallet) throw notYours('The thread')
        acceptable(thread, { at: now, proposedAt: Terms.parse(terms).proposed_at })
        await refuseSuspendedProvider(t, thread.provider_id)
        refuseEscrowPaused(await escrowPausedAt(t))
      })
    },

    async fulfil(t, draw, fulfilment) {
      const { payer, payment, baseUrl, now } = fulfilment
      const terms = Terms.parse(payment.terms)
      const thread = await lockThread(t, fulfilment.input.params.id)
      // The proposal must be open at the time of the payment, even if the fulfilment runs later, after a crash.
      const proposal = acceptable(thread, { at: payment.created_at, proposedAt: terms.proposed_at })
      await refuseSuspendedProvider(t, thread.provider_id)
      const service = await serviceOf(t, thread)
      const { agent_price: agent, provider_net_price: net } = proposal
      const { job, legs } = await openEscrowJob(t, draw, {
        service,
        terms: promisedBy(proposal, service),
        payer,
        payment,
        split: { agent, net, fee: usdc(agent - net) },
        input: terms.input ?? {},
        source: fulfilment.source,
        thread: { ...thread, proposal },
        baseUrl,
        now,
      })
      return {
        kind: 'escrow_hold',
        ref: { kind: 'job', id: job.id },
        legs,
        answer: {
          ...threadView(await threadById(t, thread.id), now),
          job: jobSummary(job),
          status_url: `${baseUrl}/v1/jobs/${job.id}`,
          amount: job.amount,
          receipt_id: job.receipt_id,
        },
      }
    },
  },
}

/** @throws AppError 404 for an unavailable listing, 403 without a registration, 409 for the caller's own listing */
async function askable(t: ReadTx, serviceId: string, payer: Payer) {
  const service = await t.table(services).get(serviceId)
  if (service?.status !== 'active') throw notFound('The service')
  const agent = registeredPayer(payer)
  const provider = await t.table(participants).get(service.provider_id)
  if (provider?.wallet === payer.wallet)
    throw new AppError('conflict', 'A provider cannot negotiate about its own service.')
  return { service, agent }
}

function registeredPayer({ participant }: Payer) {
  if (participant) return participant
  throw new AppError('registration_required', 'Negotiating a price needs a registered wallet: POST /v1/register first.')
}

function sentenceOf({ price, agent_price, estimated_delivery, message }: Proposal): string {
  const time = estimated_delivery === null ? '' : `, in ${estimated_delivery}`
  const offer = `The provider offers this service for $${formatAmount(price)}${time}; the buyer pays $${formatAmount(agent_price)}.`
  return [offer, message].filter(Boolean).join(' ')
}

type Offered = {
  readonly thread: ThreadRow
  readonly proposal: Proposal
  readonly service: ServiceRow
  readonly baseUrl: string
  readonly now: number
}

async function notifyBuyer(t: Tx, draw: Draw, { thread, proposal, service, baseUrl, now }: Offered): Promise<void> {
  if (thread.agent_id === null) return
  await enqueue(t, draw, {
    participantId: thread.agent_id,
    sender: thread.provider_id,
    type: 'thread.proposal',
    data: {
      thread_id: thread.id,
      service_id: service.id,
      service_name: service.name,
      provider_id: thread.provider_id,
      ...proposalFacts(proposal),
      accept_url: `${baseUrl}/v1/threads/${thread.id}/accept`,
    },
    now,
  })
}

/** The accepted proposal. The payment row stores it, because the provider may replace the proposal. */
const Terms = z.strictObject({ proposed_at: z.int(), input: JsonObject.optional() })

/** The inquiry as purchase input if the listing's schema accepts it, otherwise under `brief`. */
async function inputOf(t: ReadTx, thread: ThreadRow, service: ServiceRow): Promise<JsonObject> {
  const { rows } = await t.table(messages).page('thread', [thread.id, 1], { limit: 1 })
  const text = rows[0]?.body ?? ''
  const brief = JsonObject.safeParse(jsonIn(text)?.value).data ?? text
  try {
    return unwrapBrief(service.input_schema, { brief }) as JsonObject // JSON as it was stored
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { brief: text } // words that no single field of the schema takes
  }
}

async function lockThread(t: Tx, id: string): Promise<ThreadRow> {
  return existing(await t.table(threads).getForUpdate(id), 'The thread')
}

async function serviceOf(t: ReadTx, thread: ThreadRow): Promise<ServiceRow> {
  const service = await t.table(services).get(thread.service_id)
  if (!service) throw new Error(`${thread.id} has no service`)
  return service
}
