import { createTransport, TransportError } from '../client/transport.ts'
import { signedHeaders } from '../core/webhook-signature.ts'
import type { OwnEvent } from './follow.ts'
import { runProgram } from './run-program.ts'

const FORWARD_TIMEOUT_MS = 30_000
export const FORWARD_RETRIES = 5
const RETRY_FIRST_MS = 1_000
const OK_FROM = 200
const OK_BELOW = 300
const MAX_OUTPUT_BYTES = 1024 * 1024

/** How an event was taken by whom it was handed to. */
export type Handed = {
  readonly ok: boolean
  /** HTTP status, or exit code of the command; null without one. */
  readonly status: number | null
  readonly ms: number
  readonly attempts: number
  readonly error: string | null
}

type Machine = { readonly now: () => number; readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void> }

export type Forwarding = Machine & {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly secret: string
  /** Where the events come from: their paths are made whole by it. */
  readonly origin: string
  readonly signal: AbortSignal
  readonly onRetry: (handed: Handed, waitMs: number) => void
}

/** What an endpoint would be sent of an event: the dispatch of a job as `job_dispatch` (decisions §10). */
export function messageOf(event: OwnEvent, origin: string): string {
  const { data, event_id, created_at } = event
  const isDispatch = event.type === 'job.dispatched' && data.callback_url !== undefined
  const callback = isDispatch ? { callback_url: atOrigin(String(data.callback_url), origin) } : {}
  const type = isDispatch ? 'job_dispatch' : event.type
  return JSON.stringify({ type, event_id, created_at, ...data, ...callback })
}

/** Who calls back brings a key: only the instance that the event is from may get it, whatever the event says. */
function atOrigin(named: string, origin: string): string {
  const url = URL.parse(named, origin)
  return url === null ? origin : new URL(origin).origin + url.pathname + url.search
}

/** POSTs an event, signed as deliveries are, again after failures; the next one waits for it. */
export async function forward(event: OwnEvent, forwarding: Forwarding): Promise<Handed> {
  const { signal, sleep, onRetry } = forwarding
  const body = messageOf(event, forwarding.origin)
  for (let attempts = 1; ; attempts += 1) {
    const handed = { ...(await post({ event, body }, forwarding)), attempts }
    if (handed.ok || attempts > FORWARD_RETRIES || signal.aborted) return handed
    const waitMs = RETRY_FIRST_MS * 2 ** (attempts - 1)
    onRetry(handed, waitMs)
    await sleep(waitMs, signal)
  }
}

async function post({ event, body }: { event: OwnEvent; body: string }, forwarding: Forwarding) {
  const { url, headers, secret, now, signal } = forwarding
  const startedAt = now()
  // Its headers are those that somebody named for this very address.
  const reach = { timeoutMs: FORWARD_TIMEOUT_MS, inTheClear: 'everything' as const }
  const transport = createTransport({ baseUrl: url.origin, ...reach })
  try {
    const signed = signedHeaders({ id: event.event_id, body, secrets: [secret], wall: startedAt })
    const response = await transport({
      method: 'POST',
      path: url.pathname + url.search,
      headers: { 'content-type': 'application/json', ...signed, ...headers },
      body,
      signal,
    })
    await response.text()
    const { status } = response
    return { ok: status >= OK_FROM && status < OK_BELOW, status, ms: now() - startedAt, error: null }
  } catch (error) {
    if (!(error instanceof TransportError)) throw error
    return { ok: false, status: null, ms: now() - startedAt, error: error.message }
  }
}

export type Running = Machine & {
  readonly line: string
  readonly shell: boolean
  readonly env: Readonly<Record<string, string | undefined>>
  /** What the command prints. */
  readonly onOutput: (line: string) => void
}

/** Runs a command with the event as JSON on stdin. */
export async function runFor(event: OwnEvent, { line, shell, env, now, onOutput }: Running): Promise<Handed> {
  const startedAt = now()
  const { code, stdout, lastWords, failure } = await runProgram({
    line,
    shell,
    env: { ...env, SOUK_EVENT_ID: event.event_id, SOUK_EVENT_TYPE: event.type, SOUK_EVENT_CURSOR: event.cursor },
    stdin: `${JSON.stringify(event)}\n`,
    maxStdoutBytes: MAX_OUTPUT_BYTES,
    onStderrLine: onOutput,
  })
  for (const printed of stdout.toString('utf8').split('\n')) if (printed !== '') onOutput(printed)
  const ok = code === 0
  const error = ok ? null : (failure ?? (lastWords || 'it was ended by a signal'))
  return { ok, status: code, ms: now() - startedAt, attempts: 1, error }
}
