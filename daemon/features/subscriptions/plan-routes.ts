import { z } from 'zod'
import { type maintenancePlanApi, SUBSCRIBING } from '../../../src/api/sections/named-services.ts'
import type { plansApi } from '../../../src/api/sections/plans.ts'
import { AppError, existing, invalidField, notFound } from '../../../src/core/error.ts'
import { amountOf, formatAmount } from '../../../src/core/money.ts'
import { parsePrice } from '../../../src/core/price.ts'
import { compact } from '../../../src/core/record.ts'
import type { Leg } from '../../../src/model/ledger.ts'
import { billingPeriods, type PlanVersion } from '../../../src/model/service.ts'
import type { Context } from '../../kernel/context.ts'
import { transition } from '../../kernel/machine.ts'
import { notYours } from '../../kernel/parties.ts'
import { type ParticipantRow, providerOf, refuseSuspendedNow } from '../../kernel/rows.ts'
import { commit } from '../../store/draw.ts'
import { offsetPage } from '../../store/each-page.ts'
import type { Draft, Draw, ReadTx, Tx } from '../../store/port.ts'
import { legsOf } from '../ledger/legs.ts'
import { chosenOffer, stillGood, type Tender, windowAfter } from '../listings/quote-window.ts'
import { type ServiceRow, services } from '../listings/rows.ts'
import { goodEdit, termsAsOf } from '../listings/versions.ts'
import { announceOffer } from '../listings/write.ts'
import type { PaymentRow } from '../payments/rows.ts'
import type { Handlers, PaidHandler, Quote } from '../payments/seller.ts'
import { referrersOf } from '../referrals/referrals.ts'
import { notifyParties, settled } from './apply.ts'
import { followCoverage } from './coverage.ts'
import { planMachine } from './machine.ts'
import { firstPeriod } from './periods.ts'
import { planSplit, planView, subscriptionView } from './plan-view.ts'
import { insertSubscription, type PlanRow, plans, type SubscriptionRow, subscriptions } from './rows.ts'

/** Maximum plans per provider, without deleted ones. */
export const MAX_PLANS = 100

async function planOf(t: ReadTx, id: string): Promise<PlanRow> {
  return existing(await t.table(plans).get(id), 'The plan')
}

/** Locks a plan for its owner. @throws AppError 404 for an unknown plan, 403 for any other caller */
async function ownPlan(t: Tx, id: string, caller: ParticipantRow): Promise<PlanRow> {
  const plan = existing(await t.table(plans).getForUpdate(id), 'The plan')
  if (plan.provider_id !== caller.id) throw notYours('The plan')
  return plan
}

/** @throws AppError 400 for the first entry that is a duplicate, or is no active fixed-price service of the owner */
async function refuseUnsellable(t: ReadTx, ids: readonly string[], owner: ParticipantRow): Promise<void> {
  const rows = new Map((await t.table(services).getMany(ids)).map((row) => [row.id, row]))
  ids.forEach((id, at) => {
    const service = rows.get(id)
    if (ids.indexOf(id) !== at) throw invalidField(`service_ids.${at}`, 'duplicate')
    const isFixed = service?.pricing_model === 'fixed' && service.price !== null
    if (service?.provider_id === owner.id && service.status === 'active' && isFixed) return
    throw invalidField(`service_ids.${at}`, 'must be one of your own active services with a fixed price')
  })
}

/** Pays the first period (decisions §9) directly to the provider, without escrow. */
const subscribe: PaidHandler<typeof plansApi.subscribe> = {
  quote({ params }, { ctx, tender, wall }) {
    return ctx.store.read(async (t) => quotePlan(t, await openPlan(t, params.id), { tender, wall }))
  },

  async check({ params }, { ctx, payer }) {
    await ctx.store.read(async (t) => mayBegin(t, { planId: params.id, participant: payer.participant }))
  },

  async fulfil(t, draw, { input, payer, payment, source, now }) {
    const parties = await mayBegin(t, { planId: input.params.id, participant: payer.participant })
    const paid = await paidPeriod(t, parties.plan, payment)
    const { subscription, legs } = await openSubscription(t, draw, { ...parties, ...paid, payment, source, now })
    return {
      kind: 'subscription',
      ref: { kind: 'subscription', id: subscription.id },
      legs,
      answer: subscriptionView(subscription, now),
    }
  },
}

/** @throws AppError 404 for an unknown plan, 409 for a deleted one. */
async function openPlan(t: ReadTx, id: string): Promise<PlanRow> {
  const plan = await planOf(t, id)
  transition(planMachine, { event: 'subscribe', from: plan.status, by: 'subscriber' })
  return plan
}

type Beginning = { readonly planId: string; readonly participant: ParticipantRow | null }

/** Called before the charge, and again when the subscription begins. @throws AppError 403, 404 or 409 */
async function mayBegin(t: ReadTx, { planId, participant: subscriber }: Beginning) {
  const plan = await openPlan(t, planId)
  if (!subscriber) {
    throw new AppError('registration_required', 'Only a registered wallet can subscribe: POST /v1/register first.')
  }
  if (subscriber.id === plan.provider_id) throw new AppError('conflict', 'A provider cannot subscribe to its own plan.')
  if ((await t.table(subscriptions).count('live', [subscriber.wallet, plan.id])) > 0) {
    throw new AppError('conflict', 'This wallet is already subscribed to the plan.')
  }
  return { plan, subscriber }
}

const NamedTerms = z.strictObject({ subscribe: z.json(), plan_id: z.string() })

const inputOf = (id: string) => ({ params: { id }, query: undefined, body: undefined, file: undefined })

function planBehind({ switches }: Context): string {
  const id = switches.now().namedServices[SUBSCRIBING]
  if (id === undefined) throw notFound('A plan for this path')
  return id
}

export const planRoutes: Handlers<typeof maintenancePlanApi & typeof plansApi> = {
  /** `POST /v1/services/maintenance-plan`: subscribes to the plan that the operator set for the path (decisions §7). */
  maintenancePlan: {
    async quote({ query }, call) {
      const id = planBehind(call.ctx)
      const quote = await subscribe.quote({ params: { id }, query }, call)
      return { ...quote, terms: { subscribe: quote.terms ?? null, plan_id: id } }
    },

    check: (_input, call) => subscribe.check(inputOf(planBehind(call.ctx)), call),

    async fulfil(t, draw, fulfilment) {
      // Use the quoted plan, even if the operator has set another plan for the path since.
      const { subscribe: terms, plan_id: id } = NamedTerms.parse(fulfilment.payment.terms)
      const { answer, ...posted } = await subscribe.fulfil(t, draw, {
        ...fulfilment,
        input: inputOf(id),
        payment: { ...fulfilment.payment, terms },
      })
      return { ...posted, answer }
    },
  },

  listPlans: async ({ query }, { ctx }) => {
    const { provider, ...asked } = query
    const wanted =
      provider === undefined
        ? { index: 'newest', prefix: ['active'] }
        : { index: 'provider', prefix: [provider, 'active'] }
    return ctx.store.read(async (t) => {
      const { rows, ...page } = await offsetPage(t.table(plans), { ...asked, ...wanted })
      return { plans: await Promise.all(rows.map((plan) => planView(t, plan))), ...page }
    })
  },

  createPlan: async ({ body }, { ctx, caller, now }) => {
    const price = parsePrice(body.price)
    return commit(ctx, async (t, draw) => {
      await refuseSuspendedNow(t, caller.id)
      await refuseUnsellable(t, body.service_ids, caller)
      if ((await t.table(plans).count('provider', [caller.id, 'active'])) >= MAX_PLANS) {
        throw new AppError('conflict', `A provider can have at most ${MAX_PLANS} plans: delete one first.`)
      }
      const plan = await t.table(plans).insert({
        ...body,
        description: body.description ?? '',
        id: draw.id('plan'),
        provider_id: caller.id,
        price,
        status: 'active',
        created_at: now,
        updated_at: now,
      })
      await announceOffer(t, draw, { type: 'plan.created', offer: plan })
      return planView(t, plan)
    })
  },

  /** Deleted plans stay visible for their subscribers. */
  getPlan: ({ params }, { ctx }) => ctx.store.read(async (t) => planView(t, await planOf(t, params.id))),

  /** Changes a plan for new subscribers; existing subscribers keep their terms (decisions §9). */
  updatePlan: async ({ params, body }, call) => {
    const { ctx, caller, now, wall } = call
    const price = body.price === undefined ? undefined : parsePrice(body.price)
    return commit(ctx, async (t, draw) => {
      const locked = await ownPlan(t, params.id, caller)
      transition(planMachine, { event: 'update', from: locked.status, by: 'provider' })
      if (body.service_ids) await refuseUnsellable(t, body.service_ids, caller)
      const changed = { ...locked, ...compact({ ...body, price }), updated_at: now }
      const plan = await t.table(plans).put(editedPlan(locked, changed, wall))
      await announceOffer(t, draw, { type: 'plan.updated', offer: plan })
      return planView(t, plan)
    })
  },

  /** Deletes a plan: it takes no new subscribers, and its subscriptions are not renewed. */
  deletePlan: async ({ params }, { ctx, caller, now }) => {
    await commit(ctx, async (t, draw) => {
      const locked = await ownPlan(t, params.id, caller)
      const { to } = transition(planMachine, { event: 'delete', from: locked.status, by: 'provider' })
      const plan = await t.table(plans).put({ ...locked, status: to, updated_at: now })
      await announceOffer(t, draw, { type: 'plan.deleted', offer: plan })
    })
    return { id: params.id, plan_id: params.id, deleted: true }
  },

  subscribe,
}

type Subscribing = PaidPeriod & {
  readonly plan: PlanRow
  readonly subscriber: ParticipantRow
  readonly payment: Pick<PaymentRow, 'method' | 'transaction' | 'receipt_id'>
  /** Ledger account that the price comes from: `ext`, or the hold of a balance payment. */
  readonly source: string
  readonly now: number
}

/**
 * Writes a subscription whose first period is paid. The caller posts the returned ledger legs, which take the price
 * from `source`.
 */
async function openSubscription(
  t: Tx,
  draw: Draw,
  order: Subscribing,
): Promise<{ readonly subscription: SubscriptionRow; readonly legs: readonly Leg[] }> {
  const { plan, subscriber, payment, source, split, billingPeriod, bundle, now } = order
  const draft: Draft<SubscriptionRow> = {
    id: draw.id('subscription'),
    plan_id: plan.id,
    plan_name: plan.name,
    provider_id: plan.provider_id,
    buyer_wallet: subscriber.wallet,
    participant_id: subscriber.id,
    status: 'active',
    live: true,
    cancel_at_period_end: false,
    billing_period: billingPeriod,
    amount: split.agent,
    provider_amount: split.net,
    fee: split.fee,
    service_ids: [...bundle.keys()],
    ...firstPeriod(billingPeriod, now),
    lapsed: false,
    charges: 1,
    failures: 0,
    past_due_since: null,
    next_event: null,
    next_event_at: null,
    payment_method: payment.method === 'x402' ? 'x402' : 'balance',
    transaction: payment.transaction,
    receipt_id: payment.receipt_id,
    created_at: now,
    updated_at: now,
    paused_at: null,
    canceled_at: null,
    ended_at: null,
  }
  const subscription = await insertSubscription(t, settled(draft, now))
  await followCoverage(t, subscription, bundle)
  await notifyParties(t, draw, { subscription, word: 'created', at: now })
  const { participant_id: participantId, provider_id: providerId } = subscription
  const referrers = await referrersOf(t, { buyer: { participantId }, providerId })
  return { subscription, legs: legsOf.instantSale({ source, providerId: plan.provider_id, split, referrers }) }
}

/** Terms of a quote, stored in the payment row. */
const Terms = z.strictObject({
  net: z.string(),
  fee: z.string(),
  billing_period: z.enum(billingPeriods),
  /** Services of the bundle. `edits`: how often each was edited before its quoted version. Absent in old rows. */
  services: z.array(z.strictObject({ id: z.string(), edits: z.int() })).exactOptional(),
})

function planVersion({ price, billing_period, service_ids }: PlanVersion): PlanVersion {
  return { price, billing_period, service_ids }
}

/** An edited plan, with its previous version. @throws AppError 409 for a second edit within the quote window */
function editedPlan<P extends Omit<PlanRow, 'version'>>(held: PlanRow, changed: P, wall: number): P {
  const edit = { before: planVersion(held), after: planVersion(changed), previous: held.previous, wall }
  const previous = windowAfter(edit)
  return previous === undefined ? changed : { ...changed, previous }
}

/** Price and bundle of a first period. @throws AppError 409 if a service of the bundle is unavailable */
async function quotePlan(t: ReadTx, plan: PlanRow, { tender, wall }: { tender: Tender; wall: number }): Promise<Quote> {
  const provider = await providerOf(t, plan)
  const offerOf = (version: PlanVersion) => {
    const split = planSplit(version, provider)
    return { price: split.agent, settle: 'first', split, version } as const
  }
  const before = stillGood(plan.previous, wall)
  const today = offerOf(planVersion(plan))
  const { split, version } = chosenOffer({ before: before && offerOf(before), today }, tender) ?? today
  const bundle = await wholeBundle(t, version.service_ids)
  return {
    price: split.agent,
    settle: 'first',
    description: plan.name,
    terms: {
      net: formatAmount(split.net),
      fee: formatAmount(split.fee),
      billing_period: version.billing_period,
      services: bundle.map((service) => ({ id: service.id, edits: goodEdit(service, wall) })),
    },
  }
}

/** All services of a bundle, in order. @throws AppError 409 that names the first unavailable service */
async function wholeBundle(t: ReadTx, ids: readonly string[]): Promise<readonly ServiceRow[]> {
  const rows = new Map((await t.table(services).getMany(ids)).map((row) => [row.id, row]))
  return ids.map((id) => {
    const service = rows.get(id)
    if (service?.status === 'active') return service
    throw new AppError('conflict', `${id} of this plan is unavailable: new subscriptions are not possible now.`)
  })
}

type PaidPeriod = Awaited<ReturnType<typeof paidPeriod>>

/** @throws AppError 409 if a paid service is no longer available; the payment is then refunded */
async function paidPeriod(t: ReadTx, plan: PlanRow, { price, terms }: Pick<PaymentRow, 'price' | 'terms'>) {
  const quoted = Terms.parse(terms)
  const edits = new Map(quoted.services?.map((one) => [one.id, one.edits]))
  const bundle = await wholeBundle(t, quoted.services?.map(({ id }) => id) ?? plan.service_ids)
  return {
    split: { agent: price, net: amountOf(quoted.net), fee: amountOf(quoted.fee) },
    billingPeriod: quoted.billing_period,
    /** Services of the paid period, each with its quoted terms. */
    bundle: new Map(bundle.map((service) => [service.id, termsAsOf(service, edits.get(service.id))])),
  }
}
