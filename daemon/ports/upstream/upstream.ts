import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { z } from 'zod'
import { costlyPart } from '../../../src/core/json-cost.ts'
import { MINUTE_MS, SECOND_MS } from '../../../src/core/time.ts'
import { type Engine, EngineGone, type EngineStanding, type Reached } from '../engine.ts'
import type { WebResponse } from '../web/exchange.ts'
import type { Web } from '../web/web.ts'

/** Why an upstream gave nothing; no word of it is in the message. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError'
  /** `asker`: it refused what was asked (4xx). */
  readonly failure: 'asker' | 'busy' | 'broken'
  readonly status: number | undefined

  constructor(failure: UpstreamError['failure'], message: string, facts: { status?: number; cause?: unknown } = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.failure = failure
    this.status = facts.status
  }
}

export type UpstreamOptions = {
  readonly web: Pick<Web, 'ask'>
  readonly wall: () => number
  /** As its operator calls it. */
  readonly name: string
  /** Address that paths are appended to; undefined: not configured. */
  readonly base: string | undefined
  /** Sent with every request; a key stands here and nowhere else. */
  readonly headers?: Readonly<Record<string, string>>
  /** The same, for an interface that takes its key in the address alone; no answer is kept under it. */
  readonly query?: Readonly<Record<string, string>>
  readonly maxBytes?: number
  /** Longest wait for one answer; `TIMEOUT_MS` unless given. */
  readonly timeoutMs?: number
  /** Questions in a minute; `MAX_A_MINUTE` unless given. */
  readonly perMinute?: number
  /** Asked to see whether it answers: nothing that costs; the base itself unless given. */
  readonly reachPath?: string
  /** Member of the engines file that brings it. */
  readonly fix: string
}

export type UpstreamQuestion<T> = {
  /** With its query, after the base. */
  readonly path: string
  /** What is posted; a GET without. */
  readonly body?: unknown
  readonly schema: z.ZodType<T>
  /** How long an answer stays good. */
  readonly keepMs?: number
  readonly signal: AbortSignal
}

/** What is posted, for an answer that is no JSON. */
export type BytesQuestion = Pick<UpstreamQuestion<never>, 'path' | 'body' | 'signal'> & {
  /** What the answer has to say that it is, as the beginning of its media type. */
  readonly type: string
}

export type Upstream = {
  /** @throws UpstreamError, EngineGone while it failed again and again. */
  readonly ask: <T>(question: UpstreamQuestion<T>) => Promise<{ readonly value: T; readonly at: number }>
  /** @throws as `ask` */
  readonly bytes: (question: BytesQuestion) => Promise<Buffer>
  readonly standing: () => EngineStanding
  /** Asks once whether it answers. */
  readonly reach: (signal: AbortSignal) => Promise<Reached>
}

const TIMEOUT_MS = 8 * SECOND_MS
const DEFAULT_MAX_BYTES = 1024 * 1024
/** Waited for at most before the one further try. */
const MAX_RETRY_AFTER_S = 3
const RETRY_S = 1
const MAX_FAILURES = 5
/** After so many failures nobody asks for this long. */
const BREAK_MS = MINUTE_MS
const MAX_KEPT = 500
/** Questions to one upstream in a minute. */
const MAX_A_MINUTE = 120

type Kept = { readonly value: unknown; readonly at: number; readonly until: number }

/** Answers that are still good, the newest of them. */
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

/** Who may ask now: not too often, and not while it failed again and again. */
function openGate({ name, base, fix, wall, perMinute = MAX_A_MINUTE }: UpstreamOptions) {
  const asked: number[] = []
  let failures = 0
  let brokenUntil = 0
  return {
    enter: () => {
      const now = wall()
      if (base === undefined) throw new EngineGone(`${name} is not configured`)
      if (now < brokenUntil) throw new EngineGone(`${name} failed again and again`)
      while (asked[0] !== undefined && asked[0] < now - MINUTE_MS) asked.shift()
      if (asked.length >= perMinute) throw new UpstreamError('busy', `${name} was asked too often.`)
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
      return { status: 'ok', detail: `${name} at ${URL.parse(base)?.host ?? 'its address'}; asked when somebody buys` }
    },
  }
}

/**
 * Asks one interface of somebody else: kept answers, one retry, a limit of questions, and a pause when it fails.
 */
export function openUpstream(options: UpstreamOptions): Upstream {
  const kept = openKept()
  const gate = openGate(options)

  async function ask<T>({ path, body, schema, keepMs = 0, signal }: UpstreamQuestion<T>) {
    const key = body === undefined ? path : `${path} ${JSON.stringify(body)}`
    const known = kept.get(key)
    // An entry holds what this same question's schema made.
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
      throw new UpstreamError('broken', `${options.name} answered with something else.`)
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

type Asking = {
  readonly path: string
  readonly body?: unknown
  readonly signal: AbortSignal
  readonly accept?: string
}

/** One further try for an upstream that is busy for a moment. */
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
      headers: {
        accept,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      maxBytes: maxBytes ?? DEFAULT_MAX_BYTES,
      timeoutMs,
      signal,
    })
  } catch (error) {
    throw new UpstreamError('broken', `${name} could not be asked.`, { cause: error })
  }
}

function addressOf({ base = '', query }: UpstreamOptions, path: string): string {
  const url = `${base.replace(/\/$/, '')}${path}`
  if (!query) return url
  return `${url}${url.includes('?') ? '&' : '?'}${new URLSearchParams(query)}`
}

const TOO_MANY = 429

function isBusy(status: number): boolean {
  return status === TOO_MANY || status >= 500
}

/** What it says is believed only in the shape that is known; it is parsed in one turn and looked at in the next. */
async function read<T>(name: string, answer: WebResponse, schema: z.ZodType<T>): Promise<T> {
  refuseFailure(name, answer)
  const value = readJson(answer.body)
  if (value === undefined) throw new UpstreamError('broken', `${name} answered with no JSON.`)
  await nextTurn()
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new UpstreamError('broken', `${name} answered in a shape that is not known.`, { cause: parsed.error })
}

/** What the operator's account may have is used up: 402, and what DeepL says for it. */
const SPENT: ReadonlySet<number> = new Set([402, 456])
/** It is the operator's key that it does not take, and nothing that the buyer wrote. */
const REFUSING: ReadonlySet<number> = new Set([401, 403])

function refuseFailure(name: string, { status }: WebResponse): void {
  if (isBusy(status)) throw new UpstreamError('busy', `${name} is busy or failing.`, { status })
  if (SPENT.has(status))
    throw new UpstreamError('busy', `${name} gives nothing more to this marketplace for now.`, { status })
  if (REFUSING.has(status)) throw new UpstreamError('broken', `${name} refuses to answer this marketplace.`, { status })
  if (status >= 300) throw new UpstreamError('asker', `${name} refused what was asked.`, { status })
}

/** Values in an answer, whoever gives it: it is parsed on the thread that answers everybody. */
const MAX_ANSWER_VALUES = 25_000

/** The JSON of an answer; undefined where it is none, or holds more than anybody should have to parse. */
export function readJson(body: Buffer): unknown {
  if (costlyPart(body, MAX_ANSWER_VALUES) !== undefined) return undefined
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

/** Whether it answers at all, and takes the key; what it has there does not matter. */
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

/** An upstream as an engine: looking at it asks nobody. */
export function upstreamEngine(upstream: Upstream): Engine<Upstream> {
  return { port: upstream, initial: upstream.standing(), probe: async () => upstream.standing(), ...reachOf(upstream) }
}

/** How to ask it whether it answers; nothing of one that nobody configured. */
export function reachOf({ standing, reach }: Upstream): Pick<Engine<unknown>, 'reach'> {
  return standing().status === 'unconfigured' ? {} : { reach }
}
