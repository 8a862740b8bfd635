import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { z } from 'zod'
import { WorkError } from '../../../src/core/error.ts'
import { jsonIn } from '../../../src/core/json.ts'
import { costlyPart } from '../../../src/core/json-cost.ts'
import { MINUTE_MS, SECOND_MS } from '../../../src/core/time.ts'
import { type Engine, EngineGone, type EngineStanding, type Reached } from '../engine.ts'
import type { WebResponse } from '../web/exchange.ts'
import type { Web } from '../web/web.ts'

/** Failure of an external API. `asker`: it refused the request (4xx). The message has no text from the API. */
export class UpstreamError extends WorkError<'asker' | 'busy' | 'broken'> {
  override readonly name = 'UpstreamError'
  readonly status: number | undefined

  constructor(failure: UpstreamError['failure'], message: string, facts: { status?: number; cause?: unknown } = {}) {
    super(failure, message, facts.cause)
    this.status = facts.status
  }
}

export type UpstreamOptions = {
  readonly web: Pick<Web, 'ask'>
  readonly wall: () => number
  readonly name: string
  /** Base address; undefined if the API is not configured. */
  readonly base: string | undefined
  /** Headers of all requests, which may contain the API key. */
  readonly headers?: Readonly<Record<string, string>>
  readonly maxBytes?: number
  /** Response limit (default: `TIMEOUT_MS`). */
  readonly timeoutMs?: number
  /** Requests per minute (default: `MAX_A_MINUTE`). */
  readonly perMinute?: number
  /** Path of a free health request (default: the base). */
  readonly reachPath?: string
  /** How to configure the API in the engines file. */
  readonly fix: string
}

export type UpstreamQuestion<T> = {
  readonly path: string
  /** Body of a POST request; without it the request is a GET. */
  readonly body?: unknown
  readonly schema: z.ZodType<T>
  /** How long the answer is cached. */
  readonly keepMs?: number
  readonly signal: AbortSignal
}

/** A POST with a non-JSON answer. */
export type BytesQuestion = Pick<UpstreamQuestion<never>, 'path' | 'body' | 'signal'> & {
  /** Required start of the answer's media type, such as `audio/`. */
  readonly type: string
}

export type Upstream = {
  /** @throws UpstreamError; EngineGone if the API is not configured or keeps failing */
  readonly ask: <T>(question: UpstreamQuestion<T>) => Promise<{ readonly value: T; readonly at: number }>
  /** @throws like `ask` */
  readonly bytes: (question: BytesQuestion) => Promise<Buffer>
  readonly standing: () => EngineStanding
  /** Asks the API once whether it responds. */
  readonly reach: (signal: AbortSignal) => Promise<Reached>
}

const TIMEOUT_MS = 8 * SECOND_MS
const DEFAULT_MAX_BYTES = 1024 * 1024
/** Longest wait before the only retry. */
const MAX_RETRY_AFTER_S = 3
const RETRY_S = 1
const MAX_FAILURES = 5
/** Pause after repeated failures. */
const BREAK_MS = MINUTE_MS
const MAX_KEPT = 500
const MAX_A_MINUTE = 120

type Kept = { readonly value: unknown; readonly at: number; readonly until: number }

function openKept() {
  const kept = new Map<string, Kept>()
  return {
    get: (key: string) => kept.get(key),
    keep: (key: string, entry: Kept) => {
      if (entry.until <= entry.at) return
      kept.delete(key)
      kept.set(key, entry)
      for (const oldest of kept.keys()) {
        if (kept.size <= MAX_KEPT) break
        kept.delete(oldest)
      }
    },
  }
}

/** Rate limit and circuit breaker. */
function openGate({ name, base, fix, wall, perMinute = MAX_A_MINUTE }: UpstreamOptions) {
  const asked: number[] = []
  let failures = 0
  let brokenUntil = 0
  return {
    enter: () => {
      const now = wall()
      if (base === undefined) throw new EngineGone(`${name} is not configured`)
      if (now < brokenUntil) throw new EngineGone(`${name} failed repeatedly`)
      while (asked[0] !== undefined && asked[0] < now - MINUTE_MS) asked.shift()
      if (asked.length >= perMinute) throw new UpstreamError('busy', `Too many requests to ${name}.`)
      asked.push(now)
    },
    succeed: () => {
      failures = 0
    },
    fail: () => {
      failures += 1
      if (failures >= MAX_FAILURES) brokenUntil = wall() + BREAK_MS
    },
    standing: (): EngineStanding => {
      if (base === undefined) return { status: 'unconfigured', detail: `${name} has no address or key.`, fix }
      if (wall() < brokenUntil) return { status: 'failing', detail: `${name} failed ${failures} times.` }
      return { status: 'ok', detail: `${name} at ${URL.parse(base)?.host ?? 'its address'}; used for purchases` }
    },
  }
}

/** Client of an external API: cache, one retry, rate limit, circuit breaker. */
export function openUpstream(options: UpstreamOptions): Upstream {
  const kept = openKept()
  const gate = openGate(options)

  async function ask<T>({ path, body, schema, keepMs = 0, signal }: UpstreamQuestion<T>) {
    const key = body === undefined ? path : `${path} ${JSON.stringify(body)}`
    const known = kept.get(key)
    // The cached value was validated by the same schema.
    if (known && options.wall() < known.until) return { value: known.value as T, at: known.at }
    return answered({ path, body, signal }, async (answer) => {
      const value = await read(options.name, answer, schema)
      kept.keep(key, { value, at: answer.at, until: options.wall() + keepMs })
      return { value, at: answer.at }
    })
  }

  function bytes({ type, ...asking }: BytesQuestion): Promise<Buffer> {
    return answered({ ...asking, accept: '*/*' }, (answer) => {
      refuseFailure(options.name, answer)
      if (answer.headers['content-type']?.startsWith(type)) return answer.body
      throw new UpstreamError('broken', `${options.name} returned an unexpected response.`)
    })
  }

  async function answered<T>(asking: Asking, use: (answer: WebResponse) => T | Promise<T>): Promise<T> {
    gate.enter()
    try {
      const made = await use(await twice(options, asking))
      gate.succeed()
      return made
    } catch (error) {
      if (!asking.signal.aborted && !(error instanceof UpstreamError && error.failure === 'asker')) gate.fail()
      throw error
    }
  }

  return { ask, bytes, standing: gate.standing, reach: (signal) => reached(options, signal) }
}

type Asking = { readonly path: string; readonly body?: unknown; readonly signal: AbortSignal; readonly accept?: string }

/** Sends a request; retries once if the upstream is busy for a short time. */
async function twice(options: UpstreamOptions, asking: Asking): Promise<WebResponse> {
  const first = await once(options, asking)
  if (!isBusy(first.status)) return first
  const seconds = Number(first.headers['retry-after'] ?? RETRY_S)
  if (!(seconds <= MAX_RETRY_AFTER_S)) return first
  await sleep(seconds * SECOND_MS, undefined, { signal: asking.signal })
  return once(options, asking)
}

async function once(options: UpstreamOptions, { path, body, signal, accept = 'application/json' }: Asking) {
  const { web, name, headers, maxBytes, timeoutMs = TIMEOUT_MS } = options
  try {
    return await web.ask({
      url: addressOf(options, path),
      headers: { accept, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      maxBytes: maxBytes ?? DEFAULT_MAX_BYTES,
      timeoutMs,
      signal,
    })
  } catch (error) {
    throw new UpstreamError('broken', `${name} could not be reached.`, { cause: error })
  }
}

function addressOf({ base = '' }: UpstreamOptions, path: string): string {
  return `${base.replace(/\/$/, '')}${path}`
}

const TOO_MANY = 429

function isBusy(status: number): boolean {
  return status === TOO_MANY || status >= 500
}

/** Parses and validates an answer, in separate turns of the event loop. */
async function read<T>(name: string, answer: WebResponse, schema: z.ZodType<T>): Promise<T> {
  refuseFailure(name, answer)
  const value = readJson(answer.body)
  if (value === undefined) throw new UpstreamError('broken', `${name} did not return JSON.`)
  await nextTurn()
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new UpstreamError('broken', `${name} returned an unexpected response.`, { cause: parsed.error })
}

/** Statuses that mean that the operator's quota is used up: 402, and 456 at DeepL. */
const SPENT: ReadonlySet<number> = new Set([402, 456])
/** Statuses that mean that the API refused the operator's key, which is not the buyer's fault. */
const REFUSING: ReadonlySet<number> = new Set([401, 403])

function refuseFailure(name: string, { status }: WebResponse): void {
  if (isBusy(status)) throw new UpstreamError('busy', `${name} is busy or failing.`, { status })
  if (SPENT.has(status))
    throw new UpstreamError('busy', `${name} has reached its limit for this marketplace.`, { status })
  if (REFUSING.has(status))
    throw new UpstreamError('broken', `${name} rejects requests from this marketplace.`, { status })
  if (status >= 300) throw new UpstreamError('asker', `${name} rejected the request.`, { status })
}

/** Limit of JSON values per answer, since the main thread parses it. */
const MAX_ANSWER_VALUES = 25_000

/** JSON of an answer; undefined if invalid or too large. */
export function readJson(body: Buffer): unknown {
  return costlyPart(body, MAX_ANSWER_VALUES) === undefined ? jsonIn(body.toString('utf8'))?.value : undefined
}

/** Whether the API responds and accepts the key. */
async function reached(options: UpstreamOptions, signal: AbortSignal): Promise<Reached> {
  const { name, base, reachPath = '' } = options
  if (base === undefined) return { ok: false, detail: `${name} has no address or key.` }
  try {
    const { status } = await once(options, { path: reachPath, signal, accept: '*/*' })
    if (REFUSING.has(status)) return { ok: false, detail: `${name} refuses to answer: HTTP ${status}.` }
    if (isBusy(status)) return { ok: false, detail: `${name} is busy or failing: HTTP ${status}.` }
    return { ok: true, detail: `${name} answers.` }
  } catch {
    return { ok: false, detail: `${name} does not answer.` }
  }
}

/** Wraps an upstream as an engine, whose `probe` sends no request. */
export function upstreamEngine(upstream: Upstream): Engine<Upstream> {
  return { port: upstream, initial: upstream.standing(), probe: async () => upstream.standing(), ...reachOf(upstream) }
}

/** An object with the API's `reach`; empty if the API is not configured. */
export function reachOf({ standing, reach }: Upstream): Pick<Engine<unknown>, 'reach'> {
  return standing().status === 'unconfigured' ? {} : { reach }
}
