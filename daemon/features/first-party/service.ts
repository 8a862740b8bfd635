import { AppError } from '../../../src/core/error.ts'
import { ThreadError } from '../../ports/threads.ts'
import { WebError } from '../../ports/web/error.ts'
import type { PublicWeb } from '../../ports/web/web.ts'

export type Json = string | number | boolean | null | Json[] | { [member: string]: Json }
export type JsonInput = { readonly [field: string]: Json }

export type ServiceCtx = {
  /** Aborted when the time is up or the buyer is gone; pass it on to whatever waits. */
  readonly signal: AbortSignal
  /** Reads what is public on the web; give it the signal. */
  readonly web: PublicWeb
}

/** What a service read for its work, as it is copied to a thread: no functions, and bytes as `Uint8Array`. */
export type ServiceDefinition<Source = undefined> = {
  /** Name of its listing in `fixtures/listings`; the file has it with dashes. */
  readonly slug: string
  /** Longest run; `DEFAULT_TIMEOUT_MS` unless told otherwise. */
  readonly timeoutMs?: number
  /**
   * Reads what the work needs, such as a page of the web. It only waits: what takes the processor's time belongs into
   * `make`.
   * @throws AppError input_invalid for an input that the schema cannot tell is wrong.
   */
  readonly read?: (input: JsonInput, ctx: ServiceCtx) => Promise<Source> | Source
  /**
   * Makes the deliverable from an input that its listing's schema has accepted, on a thread of its own: a stranger
   * chose the input.
   * @throws AppError input_invalid for an input that the schema cannot tell is wrong.
   */
  readonly make: (input: JsonInput, source: Source) => Json | Promise<Json>
  /** Whether making it takes a few milliseconds at most, whatever the input holds: then it stays on this thread. */
  readonly isQuick?: (input: JsonInput) => boolean
}

/** Makes a deliverable elsewhere. @throws ThreadError */
export type MakeElsewhere = (task: {
  readonly slug: string
  readonly input: JsonInput
  readonly source: unknown
  readonly signal: AbortSignal
}) => Promise<Json>

/** What a service works with; what is left out, it does without. */
export type ServiceMeans = { readonly web?: PublicWeb; readonly makeElsewhere?: MakeElsewhere }

/** A first-party service as the daemon calls it: bounded in time and size, failing in one way. */
export type Service = {
  readonly slug: string
  /** @throws AppError provider_failed, unavailable when there is too much to do, or input_invalid where the buyer can mend it. */
  readonly run: (input: JsonInput, signal: AbortSignal, means?: ServiceMeans) => Promise<Json>
  /** The work itself, for the thread that does it; `source` is what the same definition read. */
  readonly make: (input: JsonInput, source: unknown) => Json | Promise<Json>
}

/** An instant answer is given within this time (decisions §10). */
export const DEFAULT_TIMEOUT_MS = 30_000
/** Deliverables are stored and shown whole (decisions §8). */
export const MAX_DELIVERABLE_BYTES = 8 * 1024 * 1024

/** A queue of services is worked off in a few seconds. */
const BUSY_RETRY_S = 5

/** For services that stay off the web. */
const noWeb: PublicWeb = { get: refuse, resolve: refuse }

function refuse(): Promise<never> {
  return Promise.reject(new WebError('connect_failed', 'This service was given no web.'))
}

export function defineService<Source = undefined>(definition: ServiceDefinition<Source>): Service {
  const { slug, read, isQuick } = definition
  const make = (input: JsonInput, source: unknown) => definition.make(input, source as Source) // read by the same definition
  return {
    slug,
    make,
    run: (input, signal, { web = noWeb, makeElsewhere } = {}) =>
      runBounded(definition, signal, async (bounds) => {
        const source = await read?.(input, { signal: bounds, web })
        const isHere = makeElsewhere === undefined || isQuick?.(input) === true
        return isHere ? make(input, source) : makeElsewhere({ slug, input, source, signal: bounds })
      }),
  }
}

type Run = (signal: AbortSignal) => Promise<Json>

async function runBounded(
  { slug, timeoutMs = DEFAULT_TIMEOUT_MS }: Pick<ServiceDefinition, 'slug' | 'timeoutMs'>,
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
    if (error instanceof ThreadError && error.failure === 'busy') {
      throw new AppError('unavailable', `Too much waits for ${slug}; nothing was charged.`, {
        retryAfter: BUSY_RETRY_S,
      })
    }
    throw new AppError('provider_failed', `${slug} ${failure(error, signal)}.`, { cause: error })
  }
}

/** Its own words stay in the log: a stranger learns only that it failed, and whether time was the reason. */
function failure(error: unknown, signal: AbortSignal): string {
  if (error instanceof ThreadError && error.failure === 'timeout') return 'did not finish in time'
  if (!signal.aborted) return 'failed'
  const timedOut = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError'
  return timedOut ? 'did not finish in time' : 'was cancelled'
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

function bounded(slug: string, deliverable: Json): Json {
  const bytes = Buffer.byteLength(JSON.stringify(deliverable))
  if (bytes <= MAX_DELIVERABLE_BYTES) return deliverable
  throw new AppError(
    'provider_failed',
    `${slug} made a result of ${bytes} bytes; ${MAX_DELIVERABLE_BYTES} are allowed.`,
  )
}
