import { JobUpdate } from '../sections/job-actions.ts'
import type { OpenApiNode, SchemaComponents } from './schemas.ts'
import { type WebhookMessage, webhookMessages } from './webhook-messages.ts'

export const WEBHOOK_TAG = 'Webhooks'

const text = { type: 'string' }

/** Both signatures at once (decisions §10). */
const signatureHeaders = [
  { name: 'webhook-id', description: 'the event id: the same over all tries and replays', schema: text },
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

/** The `webhooks` of OpenAPI 3.1: what a participant’s endpoint gets, and what it may answer. */
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
        description: message.answered ? 'taken; the body may be the result' : 'taken',
        ...result(message, schemas),
      },
      202: { description: message.answered ? 'taken; call back at callback_url' : 'taken' },
      410: { description: 'nobody is here any more: the endpoint is not called again' },
      default: { description: 'not taken: it is sent again, later and later' },
    },
  }
}

function result({ answered }: WebhookMessage, schemas: SchemaComponents): OpenApiNode {
  if (!answered) return {}
  const bare = { description: 'the bare result, as the listing’s deliverable_schema has it' }
  return { content: { 'application/json': { schema: { anyOf: [schemas.of(JobUpdate), bare] } } } }
}
