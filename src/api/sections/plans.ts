import { z } from 'zod'
import { Address, Amount, idOf, namedObject, Time } from '../../core/codecs.ts'
import { MAX_TEXT_CHARS } from '../../core/limits.ts'
import { billingPeriods } from '../../model/service.ts'
import { partyRoles, subscriptionStatuses } from '../../model/words.ts'
import { PublicName, paged, pageQuery } from '../endpoint/common.ts'
import { endpointsWith, json, jsonBody, key, open, paid } from '../endpoint/define.ts'
import { PriceInput } from './services.ts'

const endpoint = endpointsWith({ section: 'Subscriptions' })
const feature = 'subscriptions'
export const MAX_PLAN_SERVICES = 50

/** A plan: services of one provider for a price per period (decisions §9). */
export const Plan = namedObject('Plan', {
  id: idOf('plan'),
  plan_id: idOf('plan'),
  provider_id: idOf('participant'),
  provider_name: z.string(),
  name: z.string(),
  description: z.string(),
  price: Amount,
  agent_price: Amount.meta({ description: 'what a subscriber pays each period' }),
  provider_net_price: Amount,
  billing_period: z.enum(billingPeriods),
  service_ids: z.array(idOf('service')),
  services: z.array(
    z.strictObject({
      service_id: idOf('service'),
      name: z.string(),
      status: z.enum(['active', 'inactive', 'deleted']),
    }),
  ),
  status: z.enum(['active', 'inactive', 'deleted']).meta({ description: 'inactive: the provider is suspended' }),
  subscribers: z.int().meta({ description: 'number of active subscriptions' }),
  created_at: Time,
  updated_at: Time,
})

const fields = {
  name: PublicName,
  description: z.string().max(MAX_TEXT_CHARS),
  price: PriceInput,
  billing_period: z.enum(billingPeriods),
  service_ids: z
    .array(idOf('service'))
    .min(1)
    .max(MAX_PLAN_SERVICES)
    .meta({ description: 'your own active services with a fixed price' }),
}
const NewPlan = z.strictObject({ ...fields, description: fields.description.optional() })
const PlanChange = z.strictObject(fields).partial()

/** A subscription, for its two parties (decisions §9). */
export const Subscription = namedObject('Subscription', {
  id: idOf('subscription'),
  subscription_id: idOf('subscription'),
  plan_id: idOf('plan'),
  plan_name: z.string(),
  provider_id: idOf('participant'),
  subscriber: z.strictObject({ participant_id: idOf('participant'), wallet: Address }),
  status: z.enum(subscriptionStatuses),
  has_access: z.boolean().meta({ description: 'whether the plan’s services are free of charge now' }),
  cancel_at_period_end: z.boolean(),
  billing_period: z.enum(billingPeriods),
  amount: Amount.meta({ description: 'price per period; later changes of the plan do not affect it' }),
  fee: Amount,
  provider_amount: Amount,
  service_ids: z.array(idOf('service')),
  current_period_start: Time,
  current_period_end: Time,
  next_charge_at: Time.nullable(),
  failed_charges: z.int(),
  periods_paid: z.int(),
  payment: z.strictObject({ method: z.enum(['x402', 'balance']), transaction: z.string().nullable() }),
  receipt_id: idOf('receipt'),
  paused_at: Time.nullable(),
  canceled_at: Time.nullable(),
  ended_at: Time.nullable(),
  created_at: Time,
  updated_at: Time,
})

export const plansApi = {
  listPlans: endpoint({
    path: '/v1/plans',
    access: open,
    query: z.strictObject({ provider: idOf('participant').optional(), ...pageQuery }),
    reply: json({ plans: z.array(Plan), ...paged }),
    summary: 'list plans',
  }),

  createPlan: endpoint({
    path: '/v1/plans',
    access: key('provider'),
    feature,
    needsTerms: true,
    body: jsonBody(NewPlan),
    reply: json(Plan),
    errors: ['conflict'],
    summary: 'create a plan',
  }),

  getPlan: endpoint({ path: '/v1/plans/:id', access: open, reply: json(Plan), summary: 'plan details' }),

  updatePlan: endpoint({
    method: 'PUT',
    path: '/v1/plans/:id',
    access: key('provider'),
    feature,
    needsTerms: true,
    body: jsonBody(PlanChange),
    reply: json(Plan),
    errors: ['not_found', 'invalid_transition', 'conflict'],
    summary: 'update a plan',
  }),

  deletePlan: endpoint({
    method: 'DELETE',
    path: '/v1/plans/:id',
    access: key('provider'),
    feature,
    needsTerms: true,
    reply: json({ id: idOf('plan'), plan_id: idOf('plan'), deleted: z.literal(true) }),
    errors: ['not_found', 'invalid_transition'],
    summary: 'delete a plan',
  }),

  subscribe: endpoint({
    method: 'POST',
    path: '/v1/plans/:id/subscribe',
    access: paid('varies'),
    feature,
    replacement: 'POST /v1/services/{id}/purchase',
    reply: json(Subscription),
    errors: ['not_found', 'registration_required', 'invalid_transition'],
    summary: 'subscribe; pays the first period',
  }),
}

export const subscriptionsApi = {
  listSubscriptions: endpoint({
    path: '/v1/subscriptions',
    query: z.strictObject({
      status: z.enum(subscriptionStatuses).optional(),
      role: z.enum(partyRoles).optional(),
      ...pageQuery,
    }),
    reply: json({ subscriptions: z.array(Subscription), ...paged }),
    summary: 'list own subscriptions',
  }),

  getSubscription: endpoint({
    path: '/v1/subscriptions/:id',
    reply: json(Subscription),
    summary: 'subscription detail',
  }),

  cancelSubscription: endpoint({
    path: '/v1/subscriptions/:id/cancel',
    feature,
    body: jsonBody({
      at_period_end: z
        .boolean()
        .optional()
        .meta({ description: 'false: ends the subscription immediately, without a refund (default: true)' }),
    }),
    reply: json(Subscription),
    errors: ['not_found', 'invalid_transition'],
    summary: 'cancel',
  }),

  pauseSubscription: endpoint({
    method: 'POST',
    path: '/v1/subscriptions/:id/pause',
    feature,
    reply: json(Subscription),
    errors: ['not_found', 'invalid_transition'],
    summary: 'pause auto-renewal',
  }),

  resumeSubscription: endpoint({
    path: '/v1/subscriptions/:id/resume',
    feature,
    body: jsonBody({
      keep: z.boolean().optional().meta({ description: 'true undoes a scheduled cancellation (default: false)' }),
    }),
    reply: json(Subscription),
    errors: ['not_found', 'conflict', 'invalid_transition'],
    summary: 'resume a paused subscription',
  }),
}
