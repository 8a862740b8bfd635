import { z } from 'zod'
import { Amount, idOf, Time, UsdNumber } from '../../core/codecs.ts'
import { keysOf } from '../../core/record.ts'
import { JsonObject } from '../../model/service.ts'
import { authorRoles, subscriptionStatuses } from '../../model/words.ts'
import { JobUpdate } from '../sections/jobs.ts'
import type { OpenApiNode, SchemaComponents } from './schemas.ts'

export const WEBHOOK_TAG = 'Webhooks'

const text = { type: 'string' }

/** Headers of each webhook, which carries both forms of signature (decisions §10). */
const signatureHeaders = [
  { name: 'webhook-id', description: 'event id: the same for all retries and replays', schema: text },
  { name: 'webhook-timestamp', description: 'unix seconds', schema: text },
  {
    name: 'webhook-signature',
    description: '`v1,` and base64 of the HMAC-SHA256 over `<id>.<timestamp>.<body>` (Standard Webhooks)',
    schema: text,
  },
  { name: 'X-Webhook-Timestamp', description: 'unix seconds', schema: text },
  {
    name: 'X-Webhook-Signature',
    description: '`sha256=` and hex of the HMAC-SHA256 over `<timestamp>.<body>`, keyed by the text of the secret',
    schema: text,
  },
].map((header) => ({ in: 'header', required: true, ...header }))

/** `webhooks` of OpenAPI 3.1: messages to endpoints, and their responses. */
export function webhooksOf(schemas: SchemaComponents): OpenApiNode {
  return Object.fromEntries(
    webhookMessages.map(([type, message]) => [type, { post: operation(type, { message, schemas }) }]),
  )
}

type Facts = { readonly message: WebhookMessage; readonly schemas: SchemaComponents }

function operation(type: string, { message, schemas }: Facts): OpenApiNode {
  const whom = message.to === 'either' ? 'providers and buyers' : `${message.to}s`
  return {
    operationId: `on_${type.replaceAll('.', '_')}`,
    tags: [WEBHOOK_TAG],
    summary: `${message.summary} (to ${whom})`,
    security: [],
    parameters: signatureHeaders,
    requestBody: { required: true, content: { 'application/json': { schema: schemas.of(message.schema) } } },
    responses: {
      200: {
        description: message.answered ? 'accepted; the body may be the result' : 'taken',
        ...result(message, schemas),
      },
      202: { description: message.answered ? 'accepted; the result follows at callback_url' : 'taken' },
      410: { description: 'gone: the endpoint is not called again' },
      default: { description: 'not accepted: retried with increasing delays' },
    },
  }
}

function result({ answered }: WebhookMessage, schemas: SchemaComponents): OpenApiNode {
  if (!answered) return {}
  const bare = { description: 'the result, as described by the listing’s deliverable_schema' }
  return { content: { 'application/json': { schema: { anyOf: [schemas.of(JobUpdate), bare] } } } }
}

const aboutJob = {
  job_id: idOf('job'),
  service_id: idOf('service'),
  service_name: z.string(),
  thread_id: idOf('thread'),
}

const aboutTalk = { thread_id: idOf('thread'), service_id: idOf('service'), service_name: z.string() }

const proposal = {
  price: Amount,
  agent_price: Amount,
  provider_net_price: Amount,
  message: z.string(),
  estimated_delivery: z.string().optional(),
  proposed_at: Time,
  expires_at: Time,
}

const ended = { ...aboutJob, notes: z.string() }

const aboutSubscription = {
  subscription_id: idOf('subscription'),
  plan_id: idOf('plan'),
  plan_name: z.string(),
  subscriber_id: idOf('participant'),
  status: z.enum(subscriptionStatuses),
  amount: Amount,
  current_period_start: Time,
  current_period_end: Time,
  cancel_at_period_end: z.boolean(),
}

type WebhookMessage = {
  readonly to: 'provider' | 'buyer' | 'either'
  readonly summary: string
  readonly schema: z.ZodObject
  /** The endpoint's response may already contain the result of the job. */
  readonly answered?: true
}

const messages = {
  job_dispatch: {
    to: 'provider',
    summary: 'a job to do; the response to an instant job is its result, other results may go to callback_url',
    answered: true,
    members: {
      ...aboutJob,
      brief: JsonObject.meta({ description: 'the fields of the listing’s input_schema' }),
      callback_url: z.string().meta({ description: 'absolute URL of POST /v1/threads/{id}/update' }),
      posting_id: idOf('posting').optional(),
    },
  },
  thread_inquiry: {
    to: 'provider',
    summary: 'an agent asked about a listing',
    members: {
      ...aboutTalk,
      agent_id: idOf('participant'),
      agent_name: z.string(),
      brief: z.union([z.string(), JsonObject]),
      thread_url: z.string(),
      propose_url: z.string(),
    },
  },
  new_message: {
    to: 'either',
    summary: 'a new message from the other side',
    members: {
      thread_id: idOf('thread'),
      job_id: idOf('job').nullable(),
      service_id: idOf('service'),
      message_id: idOf('message'),
      author_role: z.enum(authorRoles),
      message: z.string(),
      file_id: idOf('file').optional(),
    },
  },
  price_accepted: {
    to: 'provider',
    summary: 'the proposed price was accepted and paid; job_dispatch follows',
    members: { ...aboutTalk, job_id: idOf('job'), ...proposal },
  },
  'job.unpaid': {
    to: 'provider',
    summary: 'the payment for an instant job failed, and the buyer got nothing',
    members: { job_id: idOf('job'), service_id: idOf('service'), service_name: z.string() },
  },
  'request.created': {
    to: 'provider',
    summary: 'a new request that matches the filters of an opted-in provider; paths are relative',
    members: {
      posting_id: idOf('posting'),
      posting_url: z.string(),
      bids_url: z.string(),
      title: z.string(),
      category: z.string(),
      budget_min_usd: UsdNumber,
      budget_max_usd: UsdNumber,
    },
  },
  'job.completed': {
    to: 'buyer',
    summary: 'the provider delivered',
    members: { ...ended, status: z.literal('completed') },
  },
  'job.failed': {
    to: 'buyer',
    summary: 'the provider failed the job or missed its deadline; the payment is refunded',
    members: { ...ended, status: z.enum(['failed', 'expired']) },
  },
  'thread.proposal': {
    to: 'buyer',
    summary: 'a provider offered a price',
    members: { ...aboutTalk, provider_id: idOf('participant'), ...proposal, accept_url: z.string() },
  },
  'subscription.created': { to: 'provider', summary: 'somebody subscribed', members: aboutSubscription },
  'subscription.renewed': { to: 'provider', summary: 'a period was paid', members: aboutSubscription },
  'subscription.past_due': { to: 'provider', summary: 'a renewal could not be charged', members: aboutSubscription },
  'subscription.expired': { to: 'provider', summary: 'the last retry failed', members: aboutSubscription },
  'subscription.canceled': { to: 'provider', summary: 'it ended', members: aboutSubscription },
  'subscription.paused': { to: 'provider', summary: 'the subscription was paused', members: aboutSubscription },
  'subscription.resumed': { to: 'provider', summary: 'the subscription was resumed', members: aboutSubscription },
  test: {
    to: 'provider',
    summary: 'test message of POST /v1/services/{id}/test',
    members: { test: z.literal(true), service_id: idOf('service') },
  },
} as const satisfies Record<string, Omit<WebhookMessage, 'schema'> & { members: z.ZodRawShape }>

type WebhookType = keyof typeof messages

function envelope(type: string, members: z.ZodRawShape): z.ZodObject {
  const common = { type: z.literal(type), event_id: idOf('event'), created_at: Time }
  return z.strictObject({ ...common, ...members }).meta({ id: `Webhook_${type}` })
}

export const webhookMessages: readonly (readonly [WebhookType, WebhookMessage])[] = keysOf(messages).map((type) => {
  const { members, ...facts } = messages[type]
  return [type, { ...facts, schema: envelope(type, members) }]
})
