import type { IncomingMessage, ServerResponse } from 'node:http'
import { verifyWebhook, type WebhookVerdict } from '../../src/core/webhook-verify.ts'
import type { AskedOf } from './calls.ts'
import { type SoukClient, TransportError } from './client.ts'

// biome-ignore lint/performance/noBarrelFile: this is what the package exports
export {
  type ReceivedWebhook,
  verifyWebhook,
  WEBHOOK_TOLERANCE_SECONDS,
  type WebhookFault,
  type WebhookVerdict,
} from '../../src/core/webhook-verify.ts'

/** Largest message that is read; the marketplace sends none above it. */
const MAX_BODY_BYTES = 8 * 1024 * 1024
/** Ids of messages that were taken are remembered, so that one that is sent twice is handled once. */
const MAX_REMEMBERED = 10_000
/** Times that an act of a provider is sent when no answer comes. */
const MAX_REPEATS = 3
const NO_CONTENT = 204
const BAD_REQUEST = 400
const METHOD_NOT_ALLOWED = 405
const TOO_LARGE = 413
const FAILED = 500

/** A message of the marketplace; what it holds besides depends on its type. */
export type WebhookEvent = {
  readonly type: string
  readonly event_id: string
  /** ISO 8601. */
  readonly created_at: string
  readonly [member: string]: unknown
}

export type WebhookOptions = {
  /** As the account shows them; after a rotation the old one beside the new. */
  readonly secrets: string | readonly string[]
  /**
   * Gets every message once. The marketplace gets its answer when this ends, 500 when it throws, and then sends the
   * message again: long work belongs behind it.
   */
  readonly onEvent: (event: WebhookEvent) => void | Promise<void>
  /** Hears of what was refused. */
  readonly onRefused?: (verdict: Extract<WebhookVerdict, { ok: false }>) => void
  readonly toleranceSeconds?: number
  /** Epoch milliseconds; the machine's time unless given. */
  readonly now?: () => number
}

type Answered = { readonly status: number; readonly body: string }
type Received = {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Uint8Array
}

/** Handles messages as a fetch handler does: Hono, Bun, Deno, service workers. */
export function webhookFetch(options: WebhookOptions): (request: Request) => Promise<Response> {
  const handle = handler(options)
  return async (request) => {
    const { status, body } = await withBody(request, handle)
    return new Response(body === '' ? null : body, { status })
  }
}

async function withBody(request: Request, handle: Handle): Promise<Answered> {
  if (request.method !== 'POST') return refusal(METHOD_NOT_ALLOWED, 'messages are sent by POST')
  const body = await collected(request.body ?? [])
  return body === undefined ? tooLarge() : handle({ headers: Object.fromEntries(request.headers), body })
}

/** The same as middleware of Express, or as the handler of a plain server of Node. It reads the raw body itself. */
export function webhookExpress(options: WebhookOptions): (request: IncomingMessage, response: ServerResponse) => void {
  const handle = handler(options)
  return (request, response) => {
    taken(request, handle).then(
      ({ status, body }) => response.writeHead(status, { 'content-type': 'application/json' }).end(body),
      () => response.writeHead(FAILED).end(),
    )
  }
}

async function taken(request: IncomingMessage & { readonly body?: unknown }, handle: Handle): Promise<Answered> {
  if (request.method !== 'POST') return refusal(METHOD_NOT_ALLOWED, 'messages are sent by POST')
  // What express.raw() or express.text() has read is as good; what express.json() made of it is not.
  const read = request.body
  if (read !== undefined && typeof read !== 'string' && !(read instanceof Uint8Array))
    return refusal(FAILED, 'the body was parsed before it could be verified: mount this above express.json()')
  const body = read === undefined ? await collected(request) : Buffer.from(read)
  return body === undefined ? tooLarge() : handle({ headers: flat(request.headers), body })
}

function flat(headers: IncomingMessage['headers']): Received['headers'] {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(' ') : value]),
  )
}

/** undefined when it is larger than any message. */
async function collected(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of chunks) {
    bytes += part.byteLength
    if (bytes > MAX_BODY_BYTES) return undefined
    parts.push(part)
  }
  return Buffer.concat(parts)
}

type Handle = (received: Received) => Promise<Answered>

function handler(options: WebhookOptions): Handle {
  const { onEvent, onRefused, toleranceSeconds, now = Date.now } = options
  const secrets = typeof options.secrets === 'string' ? [options.secrets] : options.secrets
  const remembered = createMemory()
  return async ({ headers, body }) => {
    const limits = toleranceSeconds === undefined ? {} : { toleranceSeconds }
    const verdict = verifyWebhook({ headers, body, secrets, now: now(), ...limits })
    if (!verdict.ok) {
      onRefused?.(verdict)
      return refusal(BAD_REQUEST, verdict.message)
    }
    const event = eventIn(body)
    if (event === undefined) return refusal(BAD_REQUEST, 'the body is no message')
    const outcome = await remembered.once(event.event_id, async () => onEvent(event))
    return { status: outcome === 'failed' ? FAILED : NO_CONTENT, body: '' }
  }
}

function eventIn(body: Uint8Array): WebhookEvent | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString('utf8'))
    return isEvent(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isEvent(value: unknown): value is WebhookEvent {
  if (typeof value !== 'object' || value === null) return false
  return 'type' in value && typeof value.type === 'string' && 'event_id' in value && typeof value.event_id === 'string'
}

/** A message that comes again while it is handled waits for that, and is not handled a second time. */
function createMemory() {
  const known = new Map<string, Promise<'done' | 'failed'>>()
  return {
    async once(id: string, act: () => Promise<void>): Promise<'done' | 'failed'> {
      const before = known.get(id)
      if (before !== undefined) return before
      const outcome = act().then(
        () => 'done' as const,
        () => 'failed' as const,
      )
      known.set(id, outcome)
      const oldest = known.keys().next().value
      if (known.size > MAX_REMEMBERED && oldest !== undefined) known.delete(oldest)
      const ended = await outcome
      // What failed is sent again, and then tried again.
      if (ended === 'failed') known.delete(id)
      return ended
    },
  }
}

function refusal(status: number, error: string): Answered {
  return { status, body: JSON.stringify({ error }) }
}

function tooLarge(): Answered {
  return refusal(TOO_LARGE, `a message has at most ${MAX_BODY_BYTES} bytes`)
}

/** What a provider does with a job that was bought from it. Each act may be repeated: said twice it is done once. */
export type JobDesk = {
  /** Says that work has begun, and how far it is: a number from 0 to 1, or a few words. */
  start(jobId: string, progress?: number | string): Promise<void>
  /**
   * Delivers. An answer that is lost on the way is asked for again.
   * @param deliverables - what the listing promises: an object, or a list of them
   * @throws SoukError conflict where something else was delivered before
   */
  deliver(jobId: string, deliverables: Deliverables, notes?: string): Promise<void>
  /** Gives up; the buyer gets the money back. */
  fail(jobId: string, reason: string): Promise<void>
}

type JsonObject = { readonly [member: string]: unknown }
export type Deliverables = JsonObject | readonly JsonObject[]

type Update = AskedOf<'updateJob'>['body']

/** Helpers for what a provider answers, over a client that has its `apiKey`. */
export function createDesk(client: Pick<SoukClient, 'call'>): JobDesk {
  const update = async (id: string, body: Update) => {
    for (let times = 1; ; times += 1) {
      try {
        await client.call('updateJob', { params: { id }, body })
        return
      } catch (error) {
        if (!(error instanceof TransportError) || times === MAX_REPEATS) throw error
      }
    }
  }
  return {
    start: (id, progress) => update(id, { status: 'in_progress', ...(progress === undefined ? {} : { progress }) }),
    // What is no JSON the marketplace refuses, and names the member.
    deliver: (id, deliverables, notes) =>
      update(id, { status: 'completed', deliverables, ...(notes === undefined ? {} : { notes }) } as Update),
    fail: (id, notes) => update(id, { status: 'failed', notes }),
  }
}
