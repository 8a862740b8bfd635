import { AppError } from '../../../../src/core/error.ts'
import type { Json } from '../../../../src/core/json.ts'
import { compact } from '../../../../src/core/record.ts'
import { BrowserError } from '../../../ports/browser/error.ts'
import { EngineGone } from '../../../ports/engine.ts'
import { ProgramError } from '../../../ports/program/program.ts'
import { ThreadError } from '../../../ports/threads.ts'
import { WebError } from '../../../ports/web/error.ts'
import type { GetOptions, WebResponse } from '../../../ports/web/exchange.ts'
import { type PublicWeb, rejectOnAbort } from '../../../ports/web/web.ts'
import type { EngineName, Engines, ResultEngine } from './engines.ts'
import type { Elsewhere } from './step.ts'

export type JsonInput = { readonly [field: string]: Json }

export type ServiceCtx<Need extends EngineName = never, Want extends EngineName = never> = {
  /** Aborted at the time limit, or when the buyer disconnects. Pass it to everything that waits. */
  readonly signal: AbortSignal
  /** Client for the public web; pass `signal` to each call. */
  readonly web: PublicWeb
  /** Caller, such as the buyer's wallet. Callers share busy engines fairly. */
  readonly who: string
  /** Wall time, epoch milliseconds. */
  readonly now: () => number
  /** Required engines, and the available optional ones. */
  readonly engines: Given<Need, Want>
  /** Runs a step, such as parsing untrusted text, on a worker thread. */
  readonly elsewhere: Elsewhere
}

type Given<Need extends EngineName, Want extends EngineName> = Pick<Engines, Need> & {
  readonly [name in Exclude<Want, Need>]?: Engines[name]
}

/** Context for `check`, which must be cheap because it runs before payment. */
export type CheckCtx<Need extends EngineName = never, Want extends EngineName = never> = Pick<
  ServiceCtx<Need, Want>,
  'web' | 'engines'
>

/** Definition of a service. Its `Source` is copied to a worker thread: no functions, bytes as `Uint8Array`. */
export type ServiceDefinition<Source = undefined, Need extends EngineName = never, Want extends EngineName = never> = {
  /** Name of the service's listing in `fixtures/listings`; the service's source file has dashes for underscores. */
  readonly slug: string
  /** Required engines: the listing is active while all are available. */
  readonly needs?: readonly Need[]
  readonly wants?: readonly Want[]
  /**
   * Refuses, before payment, an invalid input that the schema accepts.
   * @throws AppError input_invalid that names the field.
   */
  readonly check?: (input: JsonInput, ctx: CheckCtx<Need, Want>) => void
  /** Time limit (default: `DEFAULT_TIMEOUT_MS`). */
  readonly timeoutMs?: number
  /**
   * Fetches the data. Parse untrusted text in `make`, or in a step if the next request depends on it.
   * @throws AppError input_invalid
   */
  readonly read?: (input: JsonInput, ctx: ServiceCtx<Need, Want>) => Promise<Source> | Source
  /**
   * Computes the deliverable on a worker thread from an input that matches the schema. If the result names no `engine`,
   * this program is named as its engine.
   * @throws AppError `input_invalid`
   */
  readonly make: (input: JsonInput, source: Source) => Json | Promise<Json>
  /** Fetches more data, so that `make` runs again. The run ends when this returns undefined, or after `MAX_ROUNDS`. */
  readonly again?: (round: Round<Source>, ctx: ServiceCtx<Need, Want>) => Promise<Source | undefined>
  /** Whether `make` takes only milliseconds, so that it can run on the main thread. */
  readonly isQuick?: (input: JsonInput) => boolean
}

export type Round<Source> = { readonly input: JsonInput; readonly source: Source; readonly made: Json }

/** Runs `make` or a step on a worker thread. @throws ThreadError */
export type OnThread = (
  task:
    | { readonly name: 'make'; readonly args: readonly [slug: string, input: JsonInput, source: unknown] }
    | { readonly name: 'step'; readonly args: readonly [name: string, args: readonly unknown[]] },
  signal: AbortSignal,
) => Promise<unknown>

/** What a service uses while it runs. Without `onThread`, it stays on the calling thread. */
export type ServiceMeans = {
  readonly web?: PublicWeb
  readonly onThread?: OnThread
  readonly engines?: Partial<Engines>
  readonly now?: () => number
  readonly who?: string
}

/** A first-party service as the daemon uses it: limited in time and size, with uniform errors. */
export type FirstPartyService = {
  readonly slug: string
  readonly needs: readonly EngineName[]
  readonly wants: readonly EngineName[]
  /** @throws AppError input_invalid, before payment */
  readonly check: (input: JsonInput, means?: Pick<ServiceMeans, 'web' | 'engines'>) => void
  /**
   * @throws AppError `input_invalid` for a mistake of the buyer, `unavailable` if an engine is missing or overloaded,
   * otherwise `provider_failed`
   */
  readonly run: (input: JsonInput, signal: AbortSignal, means?: ServiceMeans) => Promise<Json>
  /** Computes the deliverable on the worker thread; `source` must come from `read` of the same definition. */
  readonly make: (input: JsonInput, source: unknown) => Json | Promise<Json>
}

/** Default time limit of a run: that of an instant response (decisions §10). */
export const DEFAULT_TIMEOUT_MS = 30_000
/** Time limit of an instant service whose engine limits its own work: a busy machine takes longer, a payment stays valid. */
export const BUSY_INSTANT_MS = 80_000
/** Time limit of the services that read whole sites. */
export const AUTOMATED_MS = 120_000
/** Largest deliverable, since it is stored and shown whole (decisions §8). */
export const MAX_DELIVERABLE_BYTES = 8 * 1024 * 1024

/** `Retry-After` in seconds, when the queue of a service is full. */
const BUSY_RETRY_S = 5

/** Default for callers that give no web access; each request fails. */
const noWeb: PublicWeb = { get: refuse, resolve: refuse, check: () => undefined }

function refuse(): Promise<never> {
  return Promise.reject(new WebError('connect_failed', 'This service has no web access.'))
}

/** Maximum runs of `make`: for the first result, for the model's answer, and for one more attempt. */
const MAX_ROUNDS = 3

export function defineService<Source = undefined, Need extends EngineName = never, Want extends EngineName = never>(
  definition: ServiceDefinition<Source, Need, Want>,
): FirstPartyService {
  const { slug, isQuick, needs = [], wants = [] } = definition
  const make = async (input: JsonInput, source: unknown) =>
    stamped(slug, await definition.make(input, source as Source)) // read by the same definition
  return {
    slug,
    needs,
    wants,
    make,
    check: (input, { web = noWeb, engines = {} } = {}) =>
      definition.check?.(input, { web, engines: engines as Given<Need, Want> }), // whoever calls it has all or none
    run: (input, signal, { web = noWeb, onThread, engines = {}, now = () => 0, who = slug } = {}) =>
      runBounded(definition, signal, async (bounds) => {
        const elsewhere: Elsewhere = async (step, ...args) =>
          (await (onThread?.({ name: 'step', args: [step.name, args] }, bounds) ?? step.run(...args))) as never // its result
        const ctx = { signal: bounds, web, who, now, elsewhere, engines: given<Need, Want>(needs, engines) }
        const isHere = onThread === undefined || isQuick?.(input) === true
        const makeOf = async (source: Source) =>
          isHere
            ? make(input, source)
            : ((await onThread({ name: 'make', args: [slug, input, source] }, bounds)) as Json) // as `make` gives it
        return inRounds(definition, { input, ctx, makeOf })
      }),
  }
}

type Rounds<Source, Need extends EngineName, Want extends EngineName> = {
  readonly input: JsonInput
  readonly ctx: ServiceCtx<Need, Want>
  readonly makeOf: (source: Source) => Promise<Json>
}

async function inRounds<Source, Need extends EngineName, Want extends EngineName>(
  { read, again }: ServiceDefinition<Source, Need, Want>,
  { input, ctx, makeOf }: Rounds<Source, Need, Want>,
): Promise<Json> {
  let source = (await read?.(input, ctx)) as Source // undefined where nothing is read
  let made = await makeOf(source)
  for (let round = 1; again && round < MAX_ROUNDS; round += 1) {
    const more = await again({ input, source, made }, ctx)
    if (more === undefined) break
    source = more
    made = await makeOf(source)
  }
  return made
}

/** @throws EngineGone for the first missing engine */
function given<Need extends EngineName, Want extends EngineName>(
  needs: readonly Need[],
  engines: Partial<Engines>,
): Given<Need, Want> {
  const absent = needs.find((name) => engines[name] === undefined)
  if (absent !== undefined) throw new EngineGone(absent)
  return engines as Given<Need, Want> // looked at just now
}

const OWN_ENGINE: ResultEngine = { name: 'souk', version: '1', kind: 'deterministic' }

/** Adds `engine` to a result that has none. If the only member is named `slug`, adds it within that member. */
function stamped(slug: string, made: Json): Json {
  if (typeof made !== 'object' || made === null || Array.isArray(made)) return made
  const own = made[slug]
  const isKeyed = Object.keys(made).length === 1 && typeof own === 'object' && own !== null && !Array.isArray(own)
  if (isKeyed) return { [slug]: { engine: { ...OWN_ENGINE }, ...own } }
  return { engine: { ...OWN_ENGINE }, ...made }
}

type Run = (signal: AbortSignal) => Promise<Json>

async function runBounded(
  { slug, timeoutMs = DEFAULT_TIMEOUT_MS }: { readonly slug: string; readonly timeoutMs?: number },
  caller: AbortSignal,
  run: Run,
): Promise<Json> {
  const signal = AbortSignal.any([caller, AbortSignal.timeout(timeoutMs)])
  try {
    signal.throwIfAborted()
    const deliverable = await Promise.race([run(signal), rejectOnAbort(signal)])
    return bounded(slug, deliverable)
  } catch (error) {
    if (error instanceof AppError && (error.code === 'input_invalid' || error.code === 'provider_failed')) throw error
    if (error instanceof EngineGone || (error instanceof ProgramError && error.failure === 'absent'))
      throw engineGone(slug, error)
    if (isBusy(error)) {
      throw new AppError('unavailable', `The queue of ${slug} is full; nothing was charged.`, {
        retryAfter: BUSY_RETRY_S,
      })
    }
    throw new AppError('provider_failed', `${slug} ${failure(error, signal)}.`, { cause: error })
  }
}

function isBusy(error: unknown): boolean {
  const isOurs = error instanceof ThreadError || error instanceof ProgramError || error instanceof BrowserError
  return isOurs && error.failure === 'busy'
}

const GONE_RETRY_S = 60

function engineGone(slug: string, cause: unknown): AppError {
  return new AppError('unavailable', `${slug} is temporarily unavailable; nothing was charged.`, {
    retryAfter: GONE_RETRY_S,
    cause,
  })
}

/** Text of a failure for the buyer: that the service failed or timed out. Details stay in the log. */
function failure(error: unknown, signal: AbortSignal): string {
  const isOurs = error instanceof ThreadError || error instanceof ProgramError
  if (isOurs && error.failure === 'timeout') return 'did not finish in time'
  if (!signal.aborted) return 'failed'
  const timedOut = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError'
  return timedOut ? 'did not finish in time' : 'was cancelled'
}

function bounded(slug: string, deliverable: Json): Json {
  const bytes = Buffer.byteLength(JSON.stringify(deliverable))
  if (bytes <= MAX_DELIVERABLE_BYTES) return deliverable
  throw new AppError(
    'provider_failed',
    `${slug} returned ${bytes} bytes; at most ${MAX_DELIVERABLE_BYTES} are allowed.`,
  )
}

export function textOf(input: JsonInput, field: string): string {
  const value = input[field]
  return typeof value === 'string' ? value : ''
}

export function wrongField(field: string, message: string, cause?: unknown): AppError {
  return new AppError('input_invalid', `${field}: ${message}`, {
    details: [{ path: field, message }],
    ...compact({ cause }),
  })
}

type Wanted = GetOptions & {
  /** Name of the input field that holds the URL. */
  readonly field: string
}

/**
 * Fetches the page of an input field.
 * @throws AppError input_invalid for a refused URL, provider_failed for an unavailable page
 */
export async function fetchPage(ctx: ServiceCtx, input: JsonInput, wanted: Wanted): Promise<WebResponse> {
  const { field, ...options } = wanted
  try {
    return await ctx.web.get(textOf(input, field).trim(), { ...options, signal: ctx.signal })
  } catch (error) {
    if (!(error instanceof WebError) || error.failure === 'aborted') throw error
    if (error.isRefusal) throw wrongField(field, error.message, error)
    throw new AppError('provider_failed', `The page could not be read. ${error.message}`, { cause: error })
  }
}
